"""What every client asked and was told, with times."""

import json
import threading
import time

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"


class History:
    """One entry for each thing a client wanted, from its first request to the answer it believed.

    {"client", "kind", "key", "arguments", "invoked", "answered", "outcome", "code", "answer",
     "calls", "requests"}: `outcome` is ok, refused (with its code) or unknown; `calls` are the ids
    of the calls that were answered well, as the audit trail names them; `requests` counts retries.
    """

    def __init__(self, file=None):
        self.entries, self.lock = [], threading.Lock()
        self.file = open(file, "w", buffering=1) if file else None
        self.last_booking = 0.0

    def add(self, **entry):
        with self.lock:
            self.entries.append(entry)
            if entry["kind"] == "reserve" and entry["outcome"] == OK:
                self.last_booking = time.time()
            if self.file:
                self.file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def kinds(self):
        """How often each kind of request had which outcome."""
        counts = {}
        with self.lock:
            for entry in self.entries:
                name = (entry["kind"], entry.get("code") or entry["outcome"])
                counts[name] = counts.get(name, 0) + 1
        return counts
