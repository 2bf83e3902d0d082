"""Where in the source the syncs of a trace were called."""

import re
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("sites.c")
HELPER = "crates/kit/src/durable.rs"
SYNC = re.compile(r"\.sync_(data|all)\(\)|PRAGMA synchronous|durable::\w+\(")
OWN = re.compile(r"(crates/\S+?\.rs):(\d+)")


def build(folder):
    """The library that tells the trace."""
    library = Path(folder) / "sites.so"
    subprocess.run(
        ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE],
        check=True,
    )  # fmt: skip
    return library


class Sites:
    """Names the sites of one program: `file.rs:line`, or what another library syncs."""

    def __init__(self, program):
        self.program, self.lines = program, {}

    def learn(self, stacks):
        """Looks up all addresses at once, since reading the program takes seconds."""
        wanted = sorted({at for stack in stacks for at in stack.split()} - set(self.lines))
        if not wanted:
            return
        # The addresses are those after the calls.
        before = [hex(int(at, 16) - 1) for at in wanted if int(at, 16) < 1 << 40]
        wanted = [at for at in wanted if int(at, 16) < 1 << 40]
        command = ["addr2line", "-a", "-i", "-e", self.program, *before]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        blocks = re.split(r"^0x[0-9a-f]+$", told, flags=re.M)[1:]
        self.lines.update(zip(wanted, blocks))

    def name(self, stack):
        """The first place of our own on the stack; another library's own name before that."""
        for at in stack.split():
            said = self.lines.get(at, "")
            if "sqlite3.c" in said:
                return "SQLite"
            if "/tantivy" in said:
                return "tantivy"
            if (found := OWN.search(said)) and found[1] != HELPER:
                return f"{found[1]}:{found[2]}"
        return "unknown"


    def label(self, calls, disk):
        """Replaces the stacks of the syncs by names: the line and the kind of file."""
        self.learn({call.site for call in calls if call.path})
        for call in calls:
            if call.path:
                call.site = f"{self.name(call.site)} {kind(call.path, disk)}"


def kind(path, disk):
    """The path on the disk, without what differs from run to run."""
    parts = path.removeprefix(str(disk)).strip("/").split("/")
    parts = [re.sub(r"(\.new-|\.tmp)\w+$", r"\1*", part) for part in parts]
    return "/".join(re.sub(r"^(\.?)[^.]*\d[^.]*", r"\1*", part) for part in parts)


def in_source(root):
    """Every sync call in the program's own source."""
    found = []
    for path in sorted(Path(root).glob("crates/*/src/**/*.rs")):
        text = path.read_text().split("#[cfg(test)]")[0]
        if "testing" in path.parts or path.name == "testing.rs" or path.match(HELPER):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if SYNC.search(line) and not line.lstrip().startswith(("//", "use ")):
                found.append(f"{path.relative_to(root)}:{number}")
    return found
