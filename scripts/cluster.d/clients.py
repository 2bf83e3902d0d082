"""The clients: they book and cancel, set reminders, send messages that a person must approve, and
talk in a room. Each retries with the same key until it is told something definite."""

import http.client
import json
import random
import threading
import time

from history import OK, REFUSED, UNKNOWN

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
# How long one request may take, and how long a client goes on asking.
PATIENCE, PERSEVERANCE = 40, 240
# Refusals that say nothing about the request itself, so that a client asks again.
PASSING = {"UNAVAILABLE", "STORAGE_ERROR", "TIMEOUT", "CANCELLED", "INTERNAL_ERROR"}


class Nothing(Exception):
    """No answer, or none that a client could believe."""


def call(port, counter, tool, arguments, key=None, timeout=PATIENCE):
    """The result of a tool call."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "content-type": "application/json", "accept": "application/json, text/event-stream",
        "mcp-protocol-version": REVISION, "mcp-method": "tools/call", "mcp-name": tool,
        "connection": "close",
    }  # fmt: skip
    if key:
        headers["authorization"] = f"Bearer {key}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        text = json.dumps(body, ensure_ascii=False).encode()
        connection.request("POST", f"/mcp/{counter}", text, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise Nothing(f"HTTP {answer.status}: {text[:200]}")
        if answer.getheader("content-type", "").startswith("text/event-stream"):
            data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
            text = data[-1]
        message = json.loads(text)
    except (OSError, http.client.HTTPException, ValueError, IndexError) as error:
        raise Nothing(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()
    if "result" not in message:
        raise Nothing(f"{message.get('error')}")
    return message["result"]


def code_of(result):
    content = result.get("structuredContent", {})
    error = content.get("error")
    return content.get("code") or (error.get("code") if isinstance(error, dict) else None)


class Client(threading.Thread):
    """One of them. `say` writes what is strange to the log."""

    def __init__(self, name, port, history, seed, say, key=None):
        super().__init__(name=name, daemon=True)
        self.port, self.history, self.key, self.say = port, history, key, say
        self.dice = random.Random(f"{seed}/{name}")
        self.closing = threading.Event()
        self.count = 0
        self.strange = {}

    def run(self):
        while not self.closing.is_set():
            self.act()
            self.closing.wait(self.dice.uniform(0.05, 0.4))

    def new_key(self):
        self.count += 1
        return f"{self.name}-{self.count}"

    def waits_for(self, _code):
        """Whether this refusal means that the same request should come again."""
        return False

    def ask(self, kind, counter, tool, arguments, key, key_field="idempotency_key"):
        """Asks until the answer is definite, and notes it."""
        arguments = {**arguments, key_field: key}
        invoked, requests = time.time(), 0
        outcome, code, answer, calls = UNKNOWN, None, None, []
        while time.time() < invoked + PERSEVERANCE:
            requests += 1
            try:
                result = call(self.port, counter, tool, arguments, self.key)
            except Nothing as problem:
                self.note(kind, str(problem).splitlines()[0])
                time.sleep(0.2)
                continue
            if result.get("isError"):
                code = code_of(result)
                if code in PASSING or self.waits_for(code):
                    if code in PASSING:
                        self.note(kind, code, result)
                    time.sleep(0.2)
                    continue
                outcome, answer = REFUSED, result.get("structuredContent")
            else:
                outcome, code, answer = OK, None, result["structuredContent"]
                calls.append(result.get("_meta", {}).get("madoguchi/call"))
            break
        self.history.add(
            client=self.name, kind=kind, key=key, arguments=arguments, invoked=invoked,
            answered=time.time(), outcome=outcome, code=code, answer=answer, calls=calls,
            requests=requests,
        )  # fmt: skip
        if outcome == OK and self.dice.random() < 0.1:
            self.again(kind, counter, tool, arguments, answer)
        return outcome, answer

    def again(self, kind, counter, tool, arguments, first):
        """The same request once more must be answered alike. Whether it could be asked is chance."""
        try:
            result = call(self.port, counter, tool, arguments, self.key)
        except Nothing:
            return
        if result.get("isError") and code_of(result) in PASSING:
            return
        second = result.get("structuredContent")
        self.history.add(
            client=self.name, kind="again", key=arguments, arguments={"kind": kind},
            invoked=time.time(), answered=time.time(), outcome=OK, code=None,
            answer={"first": first, "second": second}, calls=[], requests=1,
        )  # fmt: skip

    def note(self, kind, what, result=None):
        text = json.dumps(result.get("structuredContent"), ensure_ascii=False) if result else what
        what = what[:60]
        if what not in self.strange:
            self.say(f"{self.name} {kind}: {text[:300]}")
        self.strange[what] = self.strange.get(what, 0) + 1


class Customer(Client):
    """Books one or two seats, and sometimes cancels."""

    def __init__(self, *arguments, shows, **options):
        super().__init__(*arguments, **options)
        self.shows, self.booked = shows, []

    def act(self):
        if self.booked and self.dice.random() < 0.45:
            id = self.booked.pop(self.dice.randrange(len(self.booked)))
            arguments = {"reservation_id": id}
            self.ask("cancel", "cinema", "cancel_reservation", arguments, self.new_key())
            return
        show = self.dice.choice(self.shows)
        row, number = self.dice.choice("CDEF"), self.dice.randrange(1, 8)
        seats = [f"{row}{number}", f"{row}{number + 1}"][: self.dice.choice((1, 2))]
        arguments = {"schedule_id": show, "seat_ids": seats}
        outcome, answer = self.ask("reserve", "cinema", "reserve_seats", arguments, self.new_key())
        if outcome == OK:
            self.booked.append(answer["reservation"]["reservation_id"])


class Forgetful(Client):
    """Sets reminders that are due within seconds."""

    def act(self):
        key = self.new_key()
        due = time.time() + self.dice.uniform(1, 15)
        text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))
        arguments = {"time": text, "note": f"reminder {key}"}
        self.ask("remind", "innervoice", "reminder_create", arguments, key)
        self.closing.wait(self.dice.uniform(0.5, 2))


class Writer(Client):
    """Sends messages. Each waits for a person."""

    def waits_for(self, code):
        return code in ("APPROVAL_REQUIRED", "APPROVAL_USED")

    def act(self):
        key = self.new_key()
        arguments = {"to": "guest@example.com", "text": f"message {key}"}
        self.ask("send", "innervoice", "message_send", arguments, key)
        self.closing.wait(self.dice.uniform(0.5, 2))


class Talker(Client):
    """Says numbered sentences in a room, one after the other."""

    def act(self):
        key = self.new_key()
        arguments = {"agentName": self.name, "roomName": "lobby", "message": f"sentence {key}"}
        self.ask("say", "rooms", "send_message", arguments, key, "clientMessageId")
        self.closing.wait(self.dice.uniform(0.3, 1))


class Approver(threading.Thread):
    """The person who approves, and denies one message in ten."""

    def __init__(self, desks, say):
        super().__init__(name="approver", daemon=True)
        self.desks, self.say = desks, say
        self.closing = threading.Event()
        self.said = ""

    def run(self):
        while not self.closing.is_set():
            self.decide()
            self.closing.wait(2)

    def decide(self):
        try:
            listed = self.desks.json("approvals", "list")
            for one in listed:
                if one["status"] != "pending":
                    continue
                text = one["arguments"]["text"]
                # The same message is always decided alike, whatever became of the answer.
                if random.Random(text).random() < 0.1:
                    self.desks.command("approvals", "deny", one["id"], "--reason", "not now")
                else:
                    self.desks.command("approvals", "approve", one["id"])
        except Exception as error:  # Without a database nobody can decide.
            said = str(error).splitlines()[0][:160]
            if said != self.said:
                self.say(f"approver: {said}")
            self.said = said
