"""Takes webhooks and tells on stdout whether each is signed with the secret it
was started with, as the Standard Webhooks specification has it. Answers as its
other arguments say, in turn.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET, *STATUSES = sys.argv[1:]
SEEN = 0


def say(**what):
    print(json.dumps(what), flush=True)


def is_signed(headers, body):
    key = base64.b64decode(SECRET.removeprefix("whsec_"), validate=True)
    signed = b".".join(
        [headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body]
    )
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(one, f"v1,{expected}") for one in given)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        global SEEN
        body = self.rfile.read(int(self.headers["content-length"]))
        say(
            signed=is_signed(self.headers, body),
            other=is_signed(self.headers, body + b" "),
            id=self.headers["webhook-id"],
            age=time.time() - int(self.headers["webhook-timestamp"]),
            type=self.headers["content-type"],
            body=json.loads(body),
        )
        status = int(STATUSES[min(SEEN, len(STATUSES) - 1)])
        SEEN += 1
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
say(port=server.server_port)
server.serve_forever()
