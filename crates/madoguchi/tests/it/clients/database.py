"""Runs the SQL on stdin on the embedded database; or locks it until stdin ends."""

import os
import sqlite3
import sys

rows = sqlite3.connect(os.path.join(os.environ["MADOGUCHI_DATA"], "madoguchi.db"))
if sys.argv[1:] == ["locked"]:
    rows.execute("PRAGMA locking_mode = EXCLUSIVE")
    rows.execute("CREATE TABLE held_by_a_test (x)")
    rows.commit()
    print("locked", flush=True)
    sys.stdin.read()
    rows.execute("DROP TABLE held_by_a_test")
else:
    rows.execute(sys.stdin.read())
rows.commit()
