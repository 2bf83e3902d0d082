"""The command line of scripts/instructions."""

import argparse
import shutil
import sys
from pathlib import Path

from growth import growth
from guard import ROOT, guard


def main():
    parser = argparse.ArgumentParser(prog="scripts/instructions")
    parser.add_argument("--program", default=str(ROOT / "target" / "debug" / "madoguchi"))
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--growth", metavar="FOLDER")
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is missing: apt-get install valgrind")
    return growth(options) if options.growth else guard(options)


if __name__ == "__main__":
    sys.exit(main())
