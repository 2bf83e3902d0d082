"""A server that speaks as ntfy does, for one token: what is published to a topic
can be read back from `/TOPIC/json?poll=1`, one message a line.

Written from ntfy's documentation: fields come as headers under several names, in
UTF-8 or as RFC 2047 words; the body is the message, unless it has more than 4096
bytes or is no UTF-8, which makes it an attachment, and those are switched off.
The arguments are the token and then what is done with each message in turn:
`take` or the status it is refused with.
"""

import email.header
import json
import re
import secrets
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOPIC = re.compile(r"/([-_A-Za-z0-9]{1,64})")
LIMIT = 4096
TOKEN, *MANNERS = sys.argv[1:]
LOCK = threading.Lock()
KEPT = {}
SEEN = 0


def decoded(value):
    """Headers arrive as bytes, which Python reads as Latin-1."""
    value = value.encode("latin-1").decode("utf-8")
    parts = email.header.decode_header(value)
    return "".join(
        part.decode(charset or "utf-8") if isinstance(part, bytes) else part
        for part, charset in parts
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def param(self, *names):
        for name in names:
            value = self.headers.get(name)
            if value is not None:
                return decoded(value).strip()
        return ""

    def answer(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, why):
        self.answer(status, json.dumps({"code": code, "http": status, "error": why}) + "\n")

    def publish(self):
        global SEEN
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        topic = TOPIC.fullmatch(self.path)
        if topic is None:
            return self.refuse(404, 40401, "page not found")
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.refuse(403, 40301, "forbidden")
        with LOCK:
            manner = MANNERS[min(SEEN, len(MANNERS) - 1)]
            SEEN += 1
        if manner != "take":
            return self.refuse(int(manner), int(manner) * 100 + 1, "not now")
        if len(body) > LIMIT:
            return self.refuse(400, 40014, "invalid request: attachments not allowed")
        message = {
            "id": secrets.token_urlsafe(9),
            "time": int(time.time()),
            "expires": int(time.time()) + 43200,
            "event": "message",
            "topic": topic[1],
            "message": body.decode("utf-8").strip() or "triggered",
        }
        title = self.param("x-title", "title", "t")
        tags = self.param("x-tags", "tags", "tag", "ta")
        click = self.param("x-click", "click")
        priority = self.param("x-priority", "priority", "prio", "p")
        if title:
            message["title"] = title
        if tags:
            message["tags"] = [tag.strip() for tag in tags.split(",")]
        if click:
            message["click"] = click
        if priority:
            message["priority"] = int(priority)
        with LOCK:
            KEPT.setdefault(topic[1], []).append(message)
        self.answer(200, json.dumps(message) + "\n")

    do_POST = do_PUT = publish

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        topic = path.removesuffix("/json").lstrip("/")
        with LOCK:
            lines = [json.dumps(message) + "\n" for message in KEPT.get(topic, [])]
        self.answer(200, "".join(lines))

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
