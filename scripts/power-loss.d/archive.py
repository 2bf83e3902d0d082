"""A worker that writes copies of the data: backups, restored backups, and exports."""

import json
import time

from talk import ROOM
from workloads import Worker, finish


class Archivist(Worker):
    """Makes backups, restores them into directories of their own, and exports the cinema. All of
    it is where nobody else syncs a name."""

    def act(self, desk):
        time.sleep(0.3)
        made = [one for one in self.entries if one.kind == "backup" and one.done and not one.refused]
        backups = [one.arguments["file"] for one in made]
        kind = self.dice.choice(("backup", "restore", "export") if backups else ("backup", "export"))
        name = self.new(kind).replace(" ", "-")
        copies = desk.disk / "copies"
        if kind == "backup":
            asked, arguments, data = {"file": f"{name}.tar"}, ("backup", str(copies / f"{name}.tar")), None
        elif kind == "export":
            layout = self.dice.choice(("json", "csv"))
            place = copies / (f"{name}.json" if layout == "json" else name)
            asked, data = {"place": place.name}, None
            arguments = ("export", "cinema", str(place), "--format", layout)
        else:
            asked, arguments, data = {"place": name}, ("restore", str(copies / backups[-1])), copies / name
        return self.ask(kind, asked, lambda: finish(desk, *arguments, data=data))

    def check(self, desk, entries):
        """The last of each kind: it is the one whose syncs were made last."""
        wrong = []
        copies = desk.disk / "copies"
        last = {one.kind: one for one in entries if one.sure and not one.refused}
        if one := last.get("backup"):
            wrong += self.works(desk, f"the backup {one.arguments['file']}", copies / "none",
                                "restore", "--verify", str(copies / one.arguments["file"]))  # fmt: skip
        if one := last.get("restore"):
            data = copies / one.arguments["place"]
            if not (data / "madoguchi.db").exists():
                wrong.append(f"the restored {data.name} has no database")
            else:
                wrong += self.works(desk, f"the restored {data.name}", data, "audit", "verify")
                wrong += self.works(desk, f"the restored {data.name}", data, "keys", "list")
                if not (data / "rooms" / "rooms" / ROOM / "messages.jsonl").exists():
                    wrong.append(f"the restored {data.name} has no {ROOM}")
        if one := last.get("export"):
            wrong += exported(copies / one.arguments["place"])
        return wrong

    def works(self, desk, what, data, *arguments):
        code, out, err = desk.run(*arguments, data=data)
        return [] if code == 0 else [f"{what}: {(err or out).strip()[:200]}"]


def exported(place):
    """What is wrong with an export: a file of JSON, or a directory of tables."""
    if place.suffix == ".json":
        try:
            json.loads(place.read_text())
            return []
        except (OSError, ValueError) as problem:
            return [f"the export {place.name}: {problem}"]
    tables = sorted(place.glob("*.csv")) if place.is_dir() else []
    empty = [table.name for table in tables if not table.read_text().endswith("\n")]
    if not tables or empty:
        return [f"the export {place.name} has the tables {[one.name for one in tables]}, empty {empty}"]
    return []
