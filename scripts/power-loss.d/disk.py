"""A disk without power: what a directory may hold after a crash, computed from the calls that were
made. POSIX promises no more than this:

- What was written to a file is safe once a sync of that file, begun afterwards, has returned.
- A name (created, renamed, removed) is safe once a sync of its directory has returned. A sync of
  the file does not make its name safe.
- Of everything else any part may be there or not, in blocks of a disk.
"""

import os
import stat
from collections import namedtuple
from pathlib import Path

SECTOR, PAGE = 512, 4096
# A file that is written through memory: the index of SQLite's log, which is made anew after a
# crash, whatever it holds.
MAPPED = ("-shm",)
# How many requests a caller made in the last minute. They are not synced, and whoever's count is
# damaged is refused for a minute; here nobody waits for that.
COUNTS = (".ring",)

Edit = namedtuple("Edit", "folder name node")


class Unknown(Exception):
    """A call that the model does not know: the model has to learn it."""


class Missing(Unknown):
    """A name that should be there. The call that makes it may not have returned yet."""


class File:
    def __init__(self, content=b"", mode=0o644):
        self.now, self.safe, self.mode = bytearray(content), bytearray(content), mode
        # What is not safe: (end of the call, offset, bytes), or with None the new length.
        self.pending = []

    def do(self, ends, offset, data):
        change(self.now, offset, data)
        self.pending.append((ends, offset, data))

    def sync(self, begins):
        """Calls that were still running when the sync began may be missing."""
        rest = []
        for one in self.pending:
            if one[0] < begins:
                change(self.safe, one[1], one[2])
            else:
                rest.append(one)
        self.pending = rest


class Folder:
    def __init__(self, mode=0o755):
        self.now, self.safe, self.mode = {}, {}, mode


class Open:
    """An open file; copies of a descriptor share it."""

    def __init__(self, node, append):
        self.node, self.append, self.at = node, append, 0


def change(content, offset, data):
    if data is None:
        if offset < len(content):
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if offset > len(content):
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk:
    """A directory, everything in it safe at first. `path` is its address, for the calls."""

    def __init__(self, path, load=True):
        self.path = os.path.realpath(path)
        self.root = Folder()
        self.pending = []
        self.ignored = set()
        if load:
            self.load(self.root, Path(self.path))

    def load(self, folder, path):
        for entry in os.scandir(path):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                node = Folder(stat.S_IMODE(mode))
                self.load(node, entry.path)
            else:
                node = File(Path(entry.path).read_bytes(), stat.S_IMODE(mode))
            folder.now[entry.name] = folder.safe[entry.name] = node

    def find(self, path):
        """The folder and the name of an absolute path; None if it is elsewhere."""
        path = os.path.normpath(path)
        if path == self.path:
            return None, ""
        if not path.startswith(self.path + "/"):
            return None
        *above, name = path[len(self.path) + 1 :].split("/")
        folder = self.root
        for part in above:
            folder = folder.now.get(part)
            if not isinstance(folder, Folder):
                raise Missing(f"no folder: {path}")
        return folder, name

    def node(self, path):
        found = self.find(path)
        if found is None:
            return None
        folder, name = found
        return self.root if folder is None else folder.now.get(name)

    def rename(self, ends, *edits):
        """Changes names, all of them or none."""
        for one in edits:
            if one.node is None:
                one.folder.now.pop(one.name, None)
            else:
                one.folder.now[one.name] = one.node
        self.pending.append((ends, edits))

    def sync(self, node, begins, site=""):
        if site in self.ignored:
            return
        if isinstance(node, File):
            node.sync(begins)
            return
        rest = []
        for ends, edits in self.pending:
            if ends < begins and any(one.folder is node for one in edits):
                settle(edits)
            else:
                rest.append((ends, edits))
        self.pending = rest

    # --- after a crash

    def remains(self, dice, names, data):
        """What may be found after a crash now: paths, with (mode, bytes), or (mode, None) for a
        folder. `names` and `data` say what happens to that which is not safe: none, all, first
        (the first changes, in order), some (any of them); for data also zeros (the length is
        right and some blocks are empty)."""
        edits = choose(dice, self.pending, names)
        safe = {}
        for one in (one for _, each in edits for one in each):
            entries = safe.setdefault(id(one.folder), dict(one.folder.safe))
            if one.node is None:
                entries.pop(one.name, None)
            else:
                entries[one.name] = one.node
        found, contents = {}, {}

        def walk(folder, path):
            for name, node in safe.get(id(folder), folder.safe).items():
                below = f"{path}/{name}" if path else name
                if isinstance(node, Folder):
                    found[below] = (node.mode, None)
                    walk(node, below)
                    continue
                if id(node) not in contents:
                    contents[id(node)] = remaining(dice, node, data)
                content = contents[id(node)]
                if name.endswith(MAPPED):
                    content = dice.randbytes(len(node.now))
                elif name.endswith(COUNTS):
                    content = bytes(node.now)
                found[below] = (node.mode, content)

        walk(self.root, "")
        return found

    def differences(self):
        """Where the model and the real directory differ: nowhere, if the model is right."""
        real = Disk(self.path)
        wrong = []

        def compare(mine, theirs, path):
            for name in sorted({*mine.now, *theirs.now}):
                one, other = mine.now.get(name), theirs.now.get(name)
                below = f"{path}/{name}"
                if type(one) is not type(other):
                    wrong.append(f"{below}: {one and 'only in the model' or 'not in the model'}")
                elif isinstance(one, Folder):
                    compare(one, other, below)
                elif one.now != other.now and not name.endswith(MAPPED):
                    wrong.append(f"{below}: {len(one.now)} bytes, really {len(other.now)}")

        compare(self.root, real.root, "")
        return wrong


def settle(edits):
    for one in edits:
        if one.node is None:
            one.folder.safe.pop(one.name, None)
        else:
            one.folder.safe[one.name] = one.node


def choose(dice, pending, how):
    if how == "none" or not pending:
        return []
    if how == "all":
        return pending
    if how == "first":
        return pending[: dice.randrange(len(pending) + 1)]
    return [one for one in pending if dice.random() < 0.5]


def remaining(dice, file, how):
    if not file.pending or how == "none":
        return bytes(file.safe)
    if how == "all":
        return bytes(file.now)
    content = bytearray(file.safe)
    if how == "first":
        count = dice.randrange(len(file.pending) + 1)
        for _, offset, data in file.pending[:count]:
            change(content, offset, data)
        if count < len(file.pending):
            _, offset, data = file.pending[count]
            if data:
                # Up to the end of a sector, counted from the begin of the file.
                end = (offset + dice.randrange(len(data))) // SECTOR * SECTOR
                change(content, offset, data[: max(end - offset, 0)])
        return bytes(content)
    if how == "zeros":
        content.extend(bytes(max(len(file.now) - len(content), 0)))
    for _, offset, data in file.pending:
        if data is None:
            if dice.random() < 0.5:
                change(content, offset, None)
            continue
        unit, at = dice.choice((SECTOR, PAGE, PAGE)), 0
        while at < len(data):
            end = min(len(data), (offset + at) // unit * unit + unit - offset)
            if dice.random() < 0.5:
                change(content, offset + at, data[at:end])
            at = end
    return bytes(content)


def write(found, path):
    """Makes the directory."""
    path = Path(path)
    path.mkdir(parents=True)
    for name, (mode, content) in found.items():
        if content is None:
            (path / name).mkdir()
        else:
            (path / name).write_bytes(content)
        os.chmod(path / name, mode)
