"""The model of the disk, on traces that are written by hand."""

import random
import tempfile
import unittest
from pathlib import Path

import trace
from disk import Disk
from replay import Replay, Unknown


def hexed(text):
    return '"' + "".join(f"\\x{byte:02x}" for byte in text.encode()) + '"'


class TestDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve() / "disk"
        self.root.mkdir()
        (self.root / "old").write_text("old")
        self.log = self.root.parent / "trace"
        self.lines = []

    def path(self, name):
        return hexed(str(self.root / name))

    def say(self, *lines, tid=1):
        for line in lines:
            self.lines.append(f"{tid} {len(self.lines)}.0 {line}")

    def open(self, name, flags, fd):
        self.say(f"openat(AT_FDCWD, {self.path(name)}, {flags}, 0644) = {fd}")

    def write(self, fd, text):
        self.say(f"write({fd}, {hexed(text)}, {len(text)}) = {len(text)}")

    def remains(self, names, data, ignored=(), seed=0):
        self.log.write_text("\n".join(self.lines) + "\n")
        model = Disk(self.root)
        model.ignored = set(ignored)
        Replay(model, trace.read(self.log), self.root).all()
        found = model.remains(random.Random(seed), names, data)
        return {name: None if content is None else content.decode() for name, (_, content) in found.items()}

    def test_what_was_not_synced_may_be_lost(self):
        self.open("old", "O_WRONLY|O_APPEND", 5)
        self.write(5, " and new")
        self.assertEqual(self.remains("none", "none"), {"old": "old"})
        self.assertEqual(self.remains("none", "all"), {"old": "old and new"})
        self.say("fdatasync(5) = 0")
        self.assertEqual(self.remains("none", "none"), {"old": "old and new"})

    def test_a_sync_of_a_file_does_not_save_its_name(self):
        self.open("new", "O_WRONLY|O_CREAT|O_EXCL", 5)
        self.write(5, "x")
        self.say("fsync(5) = 0")
        self.assertEqual(self.remains("none", "all"), {"old": "old"})
        self.assertEqual(self.remains("all", "none"), {"old": "old", "new": "x"})
        self.say(f"openat(AT_FDCWD, {hexed(str(self.root))}, O_RDONLY|O_DIRECTORY) = 6",
                 "fsync(6) = 0")  # fmt: skip
        self.assertEqual(self.remains("none", "none"), {"old": "old", "new": "x"})

    def test_a_renamed_file_without_a_sync_may_be_empty(self):
        self.open("new", "O_WRONLY|O_CREAT", 5)
        self.write(5, "x")
        self.say(f"rename({self.path('new')}, {self.path('old')}) = 0")
        self.assertEqual(self.remains("all", "none"), {"old": ""})
        self.assertEqual(self.remains("all", "zeros", seed=1)["old"] in "\0x", True)
        self.assertEqual(self.remains("none", "all"), {"old": "old"})

    def test_a_write_that_ends_after_a_sync_began_is_not_safe(self):
        self.open("old", "O_WRONLY|O_APPEND", 5)
        self.say("clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 2")
        self.say(f"write(5, {hexed('!')}, 1 <unfinished ...>", tid=2)
        self.say("fdatasync(5 <unfinished ...>")
        self.say("<... write resumed>) = 1", tid=2)
        self.say("<... fdatasync resumed>) = 0")
        self.assertEqual(self.remains("none", "none"), {"old": "old"})
        self.say("fdatasync(5) = 0")
        self.assertEqual(self.remains("none", "none"), {"old": "old!"})

    def test_a_name_can_be_used_before_the_call_that_makes_it_returns(self):
        self.say("clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 2")
        self.say(f"mkdir({self.path('sub')}, 0755 <unfinished ...>", tid=2)
        self.open("sub/file", "O_WRONLY|O_CREAT", 5)
        self.say("<... mkdir resumed>) = 0", tid=2)
        self.assertEqual(self.remains("all", "all"), {"old": "old", "sub": None, "sub/file": ""})

    def test_names_that_are_exchanged_linked_and_removed(self):
        self.open("new", "O_WRONLY|O_CREAT", 5)
        self.write(5, "x")
        self.say(f"renameat2(AT_FDCWD, {self.path('new')}, AT_FDCWD, {self.path('old')}, "
                 "RENAME_EXCHANGE) = 0",
                 f"linkat(AT_FDCWD, {self.path('old')}, AT_FDCWD, {self.path('two')}, 0) = 0",
                 f"unlink({self.path('new')}) = 0")  # fmt: skip
        self.assertEqual(self.remains("all", "all"), {"old": "x", "two": "x"})

    def test_bytes_that_the_kernel_copied_come_from_the_model(self):
        self.open("old", "O_RDONLY", 5)
        self.open("copy", "O_WRONLY|O_CREAT", 6)
        self.say("lseek(5, 1, SEEK_SET) = 1", "copy_file_range(5, NULL, 6, NULL, 9, 0) = 2")
        self.assertEqual(self.remains("all", "all")["copy"], "ld")

    def test_a_sync_that_is_left_out_saves_nothing(self):
        self.open("old", "O_WRONLY|O_APPEND", 5)
        self.write(5, "!")
        self.say(f"write(-1, {hexed('sync site 1a 2b')}, 15) = -1 EBADF (Bad file descriptor)",
                 "fdatasync(5) = 0")  # fmt: skip
        self.assertEqual(self.remains("none", "none"), {"old": "old!"})
        self.assertEqual(self.remains("none", "none", {"1a 2b"}), {"old": "old"})

    def test_the_first_changes_end_at_a_sector(self):
        self.open("old", "O_WRONLY|O_APPEND", 5)
        self.write(5, "x" * 5000)
        lengths = {len(self.remains("none", "first", seed=seed)["old"]) for seed in range(60)}
        self.assertIn(3, lengths)
        self.assertEqual({length % 512 for length in lengths if 3 < length < 5003}, {0})

    def test_a_call_that_is_not_known_is_not_passed_over(self):
        self.open("old", "O_WRONLY", 5)
        self.say("fallocate(5, 0, 0, 100) = 0")
        with self.assertRaises(Unknown):
            self.remains("all", "all")


if __name__ == "__main__":
    unittest.main()
