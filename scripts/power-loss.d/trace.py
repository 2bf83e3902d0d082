"""Reads what strace wrote: the system calls of all processes, in the order in which they ended."""

import re
from dataclasses import dataclass

# All calls that change files or names, open or share descriptors, or make processes. Calls that
# the model does not know are among them, so that their use is noticed.
CALLS = (
    "open openat openat2 creat close dup dup2 dup3 fcntl lseek read readv "
    "write pwrite64 writev pwritev pwritev2 ftruncate truncate fallocate "
    "copy_file_range sendfile splice fsync fdatasync sync syncfs sync_file_range msync "
    "rename renameat renameat2 link linkat symlink symlinkat unlink unlinkat rmdir mkdir mkdirat "
    "chdir fchdir clone clone3 fork vfork execve io_uring_setup"
).split()

# Longer than any write of the program.
LONGEST = 1 << 26


def command(log):
    """strace, for a command that follows. Only the calls above stop the program."""
    return [
        "strace", "-f", "--seccomp-bpf", "-qq", "-ttt", "-xx", "-s", str(LONGEST),
        "-e", "signal=none", "-e", "trace=" + ",".join(CALLS), "-o", str(log),
    ]  # fmt: skip


@dataclass(slots=True)
class Call:
    tid: int
    name: str
    arguments: bytes
    result: int
    # The lines of its begin and its end in the log, and the time of its end.
    begins: int
    ends: int
    time: float
    # Of a sync: where in the source it was called, and what was synced.
    site: str = ""
    path: str = ""

    def at(self):
        """The line at which it takes effect."""
        return self.begins if self.name == "close" else self.ends

    def strings(self):
        """All strings among the arguments."""
        return [text(found) for found in STRING.findall(self.arguments)]

    def pieces(self):
        """The arguments, of a call without structures."""
        return self.arguments.split(b", ")


STRING = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"')
RESUMED = re.compile(rb"<\.\.\. (\w+) resumed>")
UNFINISHED = b" <unfinished ...>"
MARK = b"sync site "


def text(escaped):
    return bytes.fromhex(escaped.decode().replace("\\x", ""))


def read(log):
    """The calls that succeeded, in the order in which they took effect: a descriptor is free as
    soon as `close` begins, everything else is done when the call ends."""
    calls = list(read_lines(log))
    calls.sort(key=Call.at)
    return calls


def read_lines(log):
    """The times are those of the lines, so that a call's effect is never later than its time."""
    open_calls, sites = {}, {}
    with open(log, "rb") as lines:
        for number, line in enumerate(lines):
            tid, time, rest = line.split(None, 2)
            tid, time, rest = int(tid), float(time), rest.rstrip(b"\n")
            begins = number
            if rest.endswith(UNFINISHED):
                open_calls[tid] = (number, rest[: -len(UNFINISHED)])
                continue
            if resumed := RESUMED.match(rest):
                begins, begun = open_calls.pop(tid)
                rest = begun + rest[resumed.end() :]
            at = rest.rfind(b" = ")
            bracket = rest.find(b"(")
            if at < 0 or bracket < 0:
                continue
            name = rest[:bracket].decode()
            arguments = rest[bracket + 1 : at].rstrip()[:-1]
            result = rest[at + 3 :].split(None, 1)[0]
            if name == "write" and arguments.startswith(b"-1, "):
                said = STRING.search(arguments)
                if said and (mark := text(said[1])).startswith(MARK):
                    sites[tid] = mark[len(MARK) :].decode()
                continue
            if result.startswith((b"-", b"?")):
                continue
            call = Call(tid, name, arguments, int(result, 0), begins, number, time)
            if name in ("fsync", "fdatasync"):
                call.site = sites.pop(tid, "")
            yield call
