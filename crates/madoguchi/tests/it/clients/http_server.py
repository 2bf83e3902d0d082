"""An HTTP server that tells each request on stdout as a line of JSON, and answers as
its arguments say, in turn:

STATUS          this status; `429:4` with `Retry-After: 4`, `302:URL` with `Location: URL`
hold            never
cut             hangs up instead
gate            201 once a line comes on stdin

The first arguments may be `--tls CERT KEY`.
"""

import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
MANNERS = sys.argv[1:]
TLS = None
if MANNERS[0] == "--tls":
    TLS = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    TLS.load_cert_chain(MANNERS[1], MANNERS[2])
    MANNERS = MANNERS[3:]


def say(**what):
    with LOCK:
        print(json.dumps(what), flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = 0

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        with LOCK:
            manner = MANNERS[min(Handler.seen, len(MANNERS) - 1)]
            Handler.seen += 1
        headers = {name.lower(): value for name, value in self.headers.items()}
        say(
            method=self.command,
            path=self.path,
            headers=headers,
            body=body,
            manner=manner,
            at=time.monotonic(),
        )
        if manner == "hold":
            threading.Event().wait()
        if manner == "cut":
            self.close_connection = True
            return
        if manner == "gate":
            sys.stdin.readline()
        status, _, more = ("201" if manner == "gate" else manner).partition(":")
        self.send_response(int(status))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        if more:
            self.send_header("location" if status.startswith("3") else "retry-after", more)
        self.end_headers()
        self.wfile.write(b"{}")
        self.wfile.flush()
        if manner == "gate":
            say(answered=True)

    do_POST = do_PUT = do_GET = do_DELETE = do_PROPFIND = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def finish_request(self, request, client_address):
        """In the thread of the connection, so that a handshake holds nobody up."""
        if TLS is None:
            super().finish_request(request, client_address)
            return
        try:
            encrypted = TLS.wrap_socket(request, server_side=True)
        except OSError:
            say(handshake="refused")
            return
        with encrypted:
            super().finish_request(encrypted, client_address)

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
say(port=server.server_port)
server.serve_forever()
