"""Runs the program on a terminal, and prints what it showed.

The one argument is a JSON object:
  arguments    of the program
  types        what a person types: pairs of a text to wait for, and the keys
  until        a text after which the program is interrupted; absent: it ends by itself
"""

import fcntl
import json
import os
import pty
import signal
import struct
import sys
import termios

plan = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    program = os.environ["MADOGUCHI_BIN"]
    os.execv(program, [program, *plan["arguments"]])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))


def read():
    """The next piece, or nothing when the terminal was closed."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


shown, typed_at = b"", 0
types = [(prompt.encode(), keys.encode()) for prompt, keys in plan.get("types", [])]
until = plan.get("until", "").encode()
while piece := read():
    shown += piece
    if types and types[0][0] in shown[typed_at:]:
        typed_at = len(shown)
        os.write(terminal, types.pop(0)[1])
    if until and until in shown:
        until = b""
        os.kill(pid, signal.SIGINT)
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status))
