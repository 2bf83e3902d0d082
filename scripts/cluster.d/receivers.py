"""Where mails and reminders arrive: a mail server and a webhook that note everything they take."""

import email
import email.policy
import json
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Mails(socketserver.StreamRequestHandler):
    """The part of SMTP that one client needs (RFC 5321)."""

    timeout = 60

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        try:
            self.converse()
        except OSError:
            pass  # The desk was killed.

    def converse(self):
        self.say("220 cluster")
        while line := self.rfile.readline().decode("utf-8", "replace").strip():
            word = line.split(" ", 1)[0].split(":", 1)[0].upper()
            if word == "EHLO":
                self.say("250-cluster\r\n250-8BITMIME\r\n250 SMTPUTF8")
            elif word == "DATA":
                self.say("354 go on")
                self.take()
                self.say("250 taken")
            elif word == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")

    def take(self):
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b"..") else line)
        if line == b"":
            raise ConnectionResetError
        message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
        self.server.note(id=str(message["message-id"]), text=message.get_content().strip())


class Hooks(BaseHTTPRequestHandler):
    timeout = 60

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.note(id=self.headers["webhook-id"], text=body["note"])
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Noting:
    daemon_threads = True
    allow_reuse_address = True

    def note(self, **what):
        with self.lock:
            self.noted.append({**what, "at": time.time()})

    def begin(self):
        self.noted, self.lock = [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    @property
    def port(self):
        return self.server_address[1]


class MailServer(Noting, socketserver.ThreadingTCPServer):
    pass


class HookServer(Noting, ThreadingHTTPServer):
    pass


def mail_server():
    return MailServer(("127.0.0.1", 0), Mails).begin()


def hook_server():
    return HookServer(("127.0.0.1", 0), Hooks).begin()
