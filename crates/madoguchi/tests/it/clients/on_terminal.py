"""Runs a command of the program on a terminal, gives an answer whenever it asks, and
prints what it showed. An answer of Ctrl-D ends the input."""

import os
import pty
import sys

line, *answers = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    program = os.environ["MADOGUCHI_BIN"]
    # Without the clients of this machine.
    os.environ["PATH"] = "/nowhere"
    os.execv(program, [program, *line.split(" ")])

shown = b""
asked = 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    # A question ends with a space and waits on its line.
    if answers and shown.endswith((b": ", b"] ")) and len(shown) > asked:
        asked = len(shown)
        answer = answers.pop(0)
        os.write(terminal, answer.encode() + (b"" if answer == "\x04" else b"\n"))
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
