"""A mail server that treats each message as its arguments say, in turn.

accept  takes it
later   answers 451
never   answers 550
drop    takes the data and hangs up without an answer
slow    takes the data and answers after five seconds
mute    never says that the data may come
half    takes the first line of the data and no more
hold    takes the data and never answers
gate    takes the data and answers once a line comes on stdin

Each message is told on stdout as a line of JSON.
"""

import asyncio
import email
import email.policy
import json
import sys

from aiosmtpd.controller import UnthreadedController
from aiosmtpd.smtp import SMTP


def say(**what):
    print(json.dumps(what), flush=True)


async def forever():
    await asyncio.Event().wait()


class Handler:
    def __init__(self, manners):
        self.manners = manners
        self.seen = 0

    def manner(self):
        return self.manners[min(self.seen, len(self.manners) - 1)]

    async def handle_DATA(self, server, session, envelope):
        manner = self.manner()
        self.seen += 1
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        say(
            end=manner,
            id=message["message-id"],
            to=envelope.rcpt_tos,
            sender=envelope.mail_from,
            header_to=str(message["to"]),
            subject=str(message["subject"]),
            date=str(message["date"]),
            text=message.get_content(),
        )
        if manner == "later":
            return "451 4.3.0 come back later"
        if manner == "never":
            return "550 5.7.1 not wanted here"
        if manner == "drop":
            server.transport.abort()
            return "250 nobody hears this"
        if manner == "slow":
            await asyncio.sleep(5)
        if manner == "hold":
            await forever()
        if manner == "gate":
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        return "250 taken"


class Server(SMTP):
    async def smtp_DATA(self, arg):
        manner = self.event_handler.manner()
        if manner in ("mute", "half"):
            self.event_handler.seen += 1
            line = ""
            if manner == "half":
                await self.push("354 go on")
                line = (await self._reader.readline()).decode()
            say(begun=manner, line=line)
            await forever()
        await super().smtp_DATA(arg)
        if manner == "gate":
            say(answered=True)


class Controller(UnthreadedController):
    def factory(self):
        return Server(self.handler, **self.SMTP_kwargs)


async def main():
    handler = Handler(sys.argv[1:])
    controller = Controller(
        handler, hostname="127.0.0.1", port=0, loop=asyncio.get_running_loop()
    )
    server = await controller._create_server()
    say(port=server.sockets[0].getsockname()[1])
    await forever()


asyncio.run(main())
