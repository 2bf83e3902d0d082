"""TCP links that can be cut, held and delayed.

Whoever should be separable from a server connects to the port of a link, and the link to the
server. One thread carries all links.
"""

import asyncio
import os
import socket
import struct
import threading

CHUNK = 64 * 1024
QUIET = ("open", 0.0)


def reset(writer):
    """Ends a connection as a host does that knows nothing of it."""
    try:
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    except OSError:
        pass  # It is closed already.
    writer.transport.abort()


class Link:
    """One port in front of another.

    `open`     bytes pass, after `delay` seconds
    `refuse`   connections are reset, and new ones refused at once
    `hold`     nothing passes in either direction, and nobody is told: packets that get lost
    `mute`     what the client says passes, what the server answers is held
    """

    def __init__(self, name, port, target):
        self.name, self.port, self.target = name, port, target
        self.mode, self.delay = QUIET
        self.writers = set()
        self.changed = None
        self.loop = None

    async def serve(self, loop):
        self.loop = loop
        self.changed = asyncio.Event()
        return await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    async def accept(self, reader, writer):
        if self.mode == "refuse":
            reset(writer)
            return
        self.writers.add(writer)
        other = None
        try:
            await self.until_passable(("open", "mute"))
            to_server, other = await asyncio.open_connection("127.0.0.1", self.target)
            self.writers.add(other)
            await asyncio.gather(
                self.copy(reader, other, ("open", "mute")),
                self.copy(to_server, writer, ("open",)),
            )
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for one in (writer, other):
                if one is not None:
                    self.writers.discard(one)
                    one.transport.abort()

    async def until_passable(self, modes):
        while self.mode not in modes:
            if self.mode == "refuse":
                raise ConnectionResetError
            await self.changed.wait()

    async def copy(self, reader, writer, modes):
        while data := await reader.read(CHUNK):
            if self.delay:
                await asyncio.sleep(self.delay)
            await self.until_passable(modes)
            writer.write(data)
            await writer.drain()
        # One side has ended, and so does the other, once it can be told.
        await self.until_passable(modes)
        raise ConnectionResetError

    def change(self, mode, delay):
        self.mode, self.delay = mode, delay
        self.changed.set()
        self.changed = asyncio.Event()
        if mode == "refuse":
            for writer in list(self.writers):
                reset(writer)

    def set(self, mode, delay=0.0):
        """From any thread. Returns once it holds."""
        future = asyncio.run_coroutine_threadsafe(self.changing(mode, delay), self.loop)
        future.result(10)

    async def changing(self, mode, delay):
        self.change(mode, delay)

    def heal(self, cut=False):
        """Lets bytes pass again. With `cut`, the connections that were held end first, as when
        their peers have given up."""
        if cut:
            self.set("refuse")
        self.set(*QUIET)


class Links:
    """All links of a cluster."""

    def __init__(self):
        self.by_name = {}
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        # A network would not wait for the programs of this machine.
        if os.geteuid() == 0:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -5)
        self.loop.run_forever()

    def add(self, name, port, target):
        link = Link(name, port, target)
        asyncio.run_coroutine_threadsafe(link.serve(self.loop), self.loop).result(10)
        self.by_name[name] = link
        return link

    def __getitem__(self, name):
        return self.by_name[name]

    def heal(self):
        for link in self.by_name.values():
            link.heal()
