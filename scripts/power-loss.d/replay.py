"""Repeats the calls of a trace on the model of the disk."""

import os

from disk import Edit, File, Folder, Missing, Open, Unknown

THREAD = b"CLONE_FILES"
# How many calls ahead one may end that was running already.
AHEAD = 5000


class Process:
    def __init__(self, folder):
        self.files, self.folder = {}, folder


class Replay:
    """`folder` is where the first process starts."""

    def __init__(self, disk, calls, folder):
        self.disk, self.calls, self.folder = disk, calls, str(folder)
        self.parents = {}
        for call in self.calls:
            if call.name in ("clone", "clone3", "fork", "vfork"):
                self.parents[call.result] = (call.tid, THREAD in call.arguments)
        self.processes = {}
        self.next, self.early = 0, set()
        # The calls that changed or synced something on the disk.
        self.touched = []
        self.current = None

    def until(self, line):
        """Repeats all calls that ended up to this line of the log. Returns the disk."""
        while self.next < len(self.calls) and self.calls[self.next].at() <= line:
            call = self.calls[self.next]
            self.next += 1
            if id(call) not in self.early:
                self.repeat(call)
        return self.disk

    def repeat(self, call):
        """A call takes effect before it returns. If one needs a name that is not there yet, calls
        that were running then come first."""
        handler = HANDLERS.get(call.name)
        if handler is None:
            raise Unknown(f"{call.name}({call.arguments[:80]!r})")
        running = None
        while True:
            self.current = call
            try:
                return handler(self, call)
            except Missing:
                if running is None:
                    ahead = self.calls[self.next : self.next + AHEAD]
                    running = (
                        one for one in ahead
                        if one.begins < call.ends and one.name in NAMING and id(one) not in self.early
                    )  # fmt: skip
                if (other := next(running, None)) is None:
                    raise
            self.early.add(id(other))
            self.current = other
            HANDLERS[other.name](self, other)

    def all(self):
        return self.until(float("inf"))

    def touch(self):
        if not self.touched or self.touched[-1] is not self.current:
            self.touched.append(self.current)

    def process(self, tid):
        """A thread shares its creator's; another process begins with nothing of the disk."""
        if tid not in self.processes:
            creator, shares = self.parents.get(tid, (None, False))
            if creator is None:
                self.processes[tid] = Process(self.folder)
            elif shares:
                self.processes[tid] = self.process(creator)
            else:
                self.processes[tid] = Process(self.process(creator).folder)
        return self.processes[tid]

    def opened(self, call, descriptor):
        return self.process(call.tid).files.get(int(descriptor))

    def address(self, call, folder, path):
        """The absolute path, None if it is not on the disk."""
        path = os.fsdecode(path)
        if path.startswith("/"):
            return path
        if folder == b"AT_FDCWD":
            return os.path.join(self.process(call.tid).folder, path)
        base = self.opened(call, folder)
        if base is None:
            return None
        found = self.path_of(base.node)
        if found is None:
            raise Unknown(f"relative to a folder that is gone: {path}")
        return os.path.join(found, path)

    def path_of(self, node):
        def search(folder, path):
            for name, below in folder.now.items():
                if below is node:
                    return f"{path}/{name}"
                if isinstance(below, Folder) and (found := search(below, f"{path}/{name}")):
                    return found
            return None

        return self.disk.path if node is self.disk.root else search(self.disk.root, self.disk.path)

    def edit(self, address, node):
        folder, name = self.disk.find(address)
        return Edit(folder, name, node)

    def names(self, call, *edits):
        self.touch()
        self.disk.rename(call.ends, *edits)

    def on_disk(self, address):
        return address is not None and self.disk.find(address) is not None


def open_(replay, call):
    if call.name == "openat":
        folder, path, flags, *mode = call.pieces()
    elif call.name == "open":
        folder, (path, flags, *mode) = b"AT_FDCWD", call.pieces()
    else:
        raise Unknown(call.name)
    address = replay.address(call, folder, call.strings()[0])
    files = replay.process(call.tid).files
    files.pop(call.result, None)
    if not replay.on_disk(address):
        return
    if b"O_TMPFILE" in flags or b"SYNC" in flags:
        raise Unknown(f"open with {flags!r}")
    node = replay.disk.node(address)
    if node is None:
        if b"O_CREAT" not in flags:
            raise Missing(f"opened and not known: {address}")
        node = File(mode=int(mode[0], 8) & ~0o022)
        replay.names(call, replay.edit(address, node))
    elif b"O_TRUNC" in flags and node.now:
        replay.touch()
        node.do(call.ends, 0, None)
    files[call.result] = Open(node, b"O_APPEND" in flags)


def close(replay, call):
    replay.process(call.tid).files.pop(int(call.arguments), None)


def duplicate(replay, call):
    pieces = call.pieces()
    if call.name == "fcntl" and not pieces[1].startswith(b"F_DUPFD"):
        return
    files = replay.process(call.tid).files
    files.pop(call.result, None)
    if open_file := files.get(int(pieces[0])):
        files[call.result] = open_file


def execute(replay, call):
    # Rust and SQLite open all files so that they are closed here.
    replay.process(call.tid).files.clear()


def fetch(replay, call):
    if open_file := replay.opened(call, call.arguments.split(b",", 1)[0]):
        open_file.at += call.result


def seek(replay, call):
    if open_file := replay.opened(call, call.pieces()[0]):
        open_file.at = call.result


def put(replay, call, open_file, data, offset=None):
    node = open_file.node
    at = len(node.now) if open_file.append else open_file.at if offset is None else offset
    if offset is None:
        open_file.at = at + len(data)
    if data:
        replay.touch()
        node.do(call.ends, at, bytes(data))


def write(replay, call):
    open_file = replay.opened(call, call.arguments.split(b",", 1)[0])
    if open_file is None:
        return
    data = b"".join(call.strings())[: call.result]
    if len(data) < call.result:
        raise Unknown(f"{call.name} of {call.result} bytes, {len(data)} in the trace")
    offset = None
    if call.name.startswith("p"):
        if call.name == "pwritev2":
            raise Unknown(call.name)
        offset = int(call.arguments.rsplit(b", ", 1)[1], 0)
    put(replay, call, open_file, data, offset)


def truncate(replay, call):
    first, length = call.pieces()
    if call.name == "ftruncate":
        open_file = replay.opened(call, first)
        node = open_file and open_file.node
    else:
        node = replay.disk.node(replay.address(call, b"AT_FDCWD", call.strings()[0]))
    if node is not None:
        replay.touch()
        node.do(call.ends, int(length, 0), None)


def copy(replay, call):
    """The bytes are not in the trace, but the model has them, if they come from the disk."""
    pieces = call.pieces()
    if call.name == "copy_file_range":
        source, source_at, target, target_at = pieces[:4]
    else:
        target, source, source_at = pieces[:3]
        target_at = b"NULL"
    to = replay.opened(call, target)
    if to is None or call.result == 0:
        return
    origin = replay.opened(call, source)
    if origin is None or target_at != b"NULL":
        raise Unknown(f"{call.name} from elsewhere")
    # An offset that is passed is printed as `[before] => [after]`.
    if source_at == b"NULL":
        at = origin.at
        origin.at += call.result
    else:
        at = int(source_at.split(b"]")[0].strip(b"["), 0)
    put(replay, call, to, origin.node.now[at : at + call.result])


def sync(replay, call):
    open_file = replay.opened(call, call.pieces()[0])
    if open_file is not None:
        replay.touch()
        if not call.path:
            call.path = replay.path_of(open_file.node) or "a removed file"
        replay.disk.sync(open_file.node, call.begins, call.site)


def rename(replay, call):
    strings = call.strings()
    if call.name == "rename":
        folders, flags = (b"AT_FDCWD", b"AT_FDCWD"), b""
    else:
        pieces = call.pieces()
        folders, flags = (pieces[0], pieces[2]), pieces[4] if len(pieces) > 4 else b""
    old, new = (replay.address(call, *both) for both in zip(folders, strings))
    if not replay.on_disk(old) and not replay.on_disk(new):
        return
    source, target = replay.disk.node(old), replay.disk.node(new)
    if source is None:
        raise Missing(f"renamed and not known: {old}")
    if b"RENAME_EXCHANGE" in flags:
        replay.names(call, replay.edit(old, target), replay.edit(new, source))
    elif source is not target:
        replay.names(call, replay.edit(old, None), replay.edit(new, source))


def link(replay, call):
    pieces = call.pieces()
    folders = (b"AT_FDCWD",) * 2 if call.name == "link" else (pieces[0], pieces[2])
    old, new = (replay.address(call, *both) for both in zip(folders, call.strings()))
    if replay.on_disk(new):
        replay.names(call, replay.edit(new, replay.disk.node(old)))


def unlink(replay, call):
    pieces = call.pieces()
    folder = pieces[0] if call.name == "unlinkat" else b"AT_FDCWD"
    address = replay.address(call, folder, call.strings()[0])
    if replay.on_disk(address):
        replay.names(call, replay.edit(address, None))


def make_folder(replay, call):
    pieces = call.pieces()
    folder = pieces[0] if call.name == "mkdirat" else b"AT_FDCWD"
    address = replay.address(call, folder, call.strings()[0])
    if replay.on_disk(address):
        replay.names(call, replay.edit(address, Folder(int(pieces[-1], 8) & ~0o022)))


def enter(replay, call):
    replay.process(call.tid).folder = replay.address(call, b"AT_FDCWD", call.strings()[0])


def nothing(_replay, _call):
    pass


def never_on_disk(replay, call):
    if replay.opened(call, call.pieces()[0]):
        raise Unknown(f"{call.name}({call.arguments[:80]!r})")


HANDLERS = {
    **dict.fromkeys(("open", "openat", "openat2", "creat"), open_),
    **dict.fromkeys(("dup", "dup2", "dup3", "fcntl"), duplicate),
    **dict.fromkeys(("write", "writev", "pwrite64", "pwritev", "pwritev2"), write),
    **dict.fromkeys(("ftruncate", "truncate"), truncate),
    **dict.fromkeys(("copy_file_range", "sendfile"), copy),
    **dict.fromkeys(("fsync", "fdatasync"), sync),
    **dict.fromkeys(("rename", "renameat", "renameat2"), rename),
    **dict.fromkeys(("link", "linkat"), link),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), unlink),
    **dict.fromkeys(("mkdir", "mkdirat"), make_folder),
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), nothing),
    **dict.fromkeys(("fallocate", "splice", "sync_file_range"), never_on_disk),
    **dict.fromkeys(("read", "readv"), fetch),
    "close": close, "execve": execute, "lseek": seek, "chdir": enter,
    "msync": nothing,
}  # fmt: skip
NAMING = {
    name for name, handler in HANDLERS.items() if handler in (open_, rename, link, make_folder)
}  # fmt: skip
