"""Takes traces and metrics as an OpenTelemetry collector does, reads them with the
official messages, and tells on stdout what it got. A field that the messages do not
have is an error. Its arguments are the statuses with which it answers, in turn.
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import MessageToDict, Parse
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

STATUSES = sys.argv[1:] or ["200"]
KINDS = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}
IDS = ("traceId", "spanId", "parentSpanId")
SEEN = 0


def say(**what):
    print(json.dumps(what), flush=True)


def check_known(message):
    """Every field of the message, at any depth, is one that it has."""
    assert not len(UnknownFieldSet(message)), message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if hasattr(value, "__len__") else [value]:
                check_known(one)


def with_ids(value, change):
    """The JSON of OTLP has hexadecimal ids, that of protobuf base64."""
    if isinstance(value, list):
        return [with_ids(one, change) for one in value]
    if isinstance(value, dict):
        return {
            key: change(one) if key in IDS else with_ids(one, change)
            for key, one in value.items()
        }
    return value


def to_base64(text):
    return base64.b64encode(bytes.fromhex(text)).decode()


def to_hex(text):
    return base64.b64decode(text).hex()


def read(kind, content_type, body):
    if content_type == "application/json":
        return Parse(json.dumps(with_ids(json.loads(body), to_base64)), kind())
    assert content_type == "application/x-protobuf", content_type
    message = kind.FromString(body)
    check_known(message)
    return message


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        global SEEN
        body = self.rfile.read(int(self.headers["content-length"]))
        status = int(STATUSES[min(SEEN, len(STATUSES) - 1)])
        SEEN += 1
        try:
            message = read(KINDS[self.path], self.headers["content-type"], body)
            say(
                path=self.path,
                status=status,
                type=self.headers["content-type"],
                key=self.headers["x-api-key"],
                message=with_ids(MessageToDict(message), to_hex),
            )
        except Exception as error:
            say(path=self.path, broken=repr(error))
            status = 400
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
say(port=server.server_port)
server.serve_forever()
