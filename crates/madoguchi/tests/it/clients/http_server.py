"""An HTTP server that tells each request on stdout as a line of JSON, and
answers as its arguments say, in turn: a status, or `hold` for never, or `gate`
for 201 once a line comes on stdin.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()


def say(**what):
    with LOCK:
        print(json.dumps(what), flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    manners = sys.argv[1:]
    seen = 0

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        with LOCK:
            manner = self.manners[min(Handler.seen, len(self.manners) - 1)]
            Handler.seen += 1
        headers = {name.lower(): value for name, value in self.headers.items()}
        say(method=self.command, path=self.path, headers=headers, body=body, manner=manner)
        if manner == "hold":
            threading.Event().wait()
        if manner == "gate":
            sys.stdin.readline()
        self.send_response(201 if manner == "gate" else int(manner))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
        self.wfile.flush()
        if manner == "gate":
            say(answered=True)

    do_POST = do_PUT = do_GET = answer

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
say(port=server.server_port)
server.serve_forever()
