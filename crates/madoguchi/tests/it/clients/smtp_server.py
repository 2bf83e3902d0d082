"""A mail server as providers run them: TLS, logins, and refusals at every step.

    smtp_server.py [--tls starttls|smtps CERT KEY] [--login USER PASSWORD] [--greet CODE]…

Each connection is greeted with the next CODE; when they are used up, with 220. What
happens to a message is in the name of its recipient: `rcpt-450.data-451.accept@example.com`
is refused at RCPT, the next time at DATA, and then taken. `cut` takes the data and
hangs up. What happens is told on stdout, a line of JSON for each step.
"""

import argparse
import asyncio
import email
import email.policy
import json
import ssl
import warnings

from aiosmtpd.controller import UnthreadedController
from aiosmtpd.smtp import SMTP, AuthResult

warnings.simplefilter("ignore")


def say(**what):
    print(json.dumps(what), flush=True)


def is_encrypted(server):
    return server.transport.get_extra_info("sslcontext") is not None


class Handler:
    def __init__(self, login, greetings):
        self.login = login
        self.greetings = greetings
        self.attempts = {}

    def authenticate(self, server, session, envelope, mechanism, data):
        given = [data.login.decode(), data.password.decode()]
        say(login=given[0], ok=given == self.login, encrypted=is_encrypted(server))
        # The server answers a wrong one.
        return AuthResult(success=given == self.login, handled=False, auth_data=given[0])

    def manner(self, address):
        manners = address.split("@")[0].split(".")
        return manners[min(self.attempts.get(address, 0), len(manners) - 1)]

    def refusal(self, address, step):
        manner = self.manner(address)
        if not manner.startswith(f"{step}-"):
            return None
        self.attempts[address] = self.attempts.get(address, 0) + 1
        say(refused=manner, to=address)
        return f"{manner.split('-')[1]} not like this"

    async def handle_RCPT(self, server, session, envelope, address, options):
        refusal = self.refusal(address, "rcpt")
        if refusal is None:
            envelope.rcpt_tos.append(address)
        return refusal or "250 go on"

    async def handle_DATA(self, server, session, envelope):
        [address] = envelope.rcpt_tos
        refusal = self.refusal(address, "data")
        if refusal is not None:
            return refusal
        manner = self.manner(address)
        self.attempts[address] = self.attempts.get(address, 0) + 1
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        say(
            taken=manner,
            to=address,
            id=message["message-id"],
            text=message.get_content(),
            encrypted=is_encrypted(server),
            by=session.auth_data,
        )
        if manner == "cut":
            server.transport.abort()
        return "250 taken"


class Server(SMTP):
    async def _handle_client(self):
        handler = self.event_handler
        code = handler.greetings.pop(0) if handler.greetings else "220"
        say(greeted=code)
        if code != "220":
            await self.push(f"{code} not now")
            self.transport.close()
            return
        await super()._handle_client()


class Controller(UnthreadedController):
    def factory(self):
        return Server(self.handler, **self.SMTP_kwargs)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", nargs=3, default=[None, None, None])
    parser.add_argument("--login", nargs=2)
    parser.add_argument("--greet", action="append", default=[])
    arguments = parser.parse_args()
    handler = Handler(arguments.login, arguments.greet)
    kind, cert, key = arguments.tls
    options = {}
    if kind:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert, key)
        if kind == "starttls":
            options.update(tls_context=context, require_starttls=True)
        else:
            options.update(ssl_context=context)
    if arguments.login:
        # Behind `smtps` the server does not notice that it is encrypted.
        options.update(
            authenticator=handler.authenticate,
            auth_required=True,
            auth_require_tls=kind == "starttls",
        )
    controller = Controller(
        handler, hostname="127.0.0.1", port=0, loop=asyncio.get_running_loop(), **options
    )
    server = await controller._create_server()
    say(port=server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(main())
