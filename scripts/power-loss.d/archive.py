"""A worker that writes copies of the data: backups, restored backups, and exports."""

import json
import time

from workloads import Worker, finish


class Archivist(Worker):
    """Makes backups, restores them into directories of their own, and exports the cinema."""

    def act(self, desk):
        time.sleep(0.3)
        backups = [one.arguments["file"] for one in self.entries if one.kind == "backup" and one.done]
        kind = self.dice.choice(("backup", "restore", "export") if backups else ("backup", "export"))
        name = self.new(kind).replace(" ", "-")
        home = desk.disk / "home"
        if kind == "backup":
            asked, arguments, data = {"file": f"{name}.tar"}, ("backup", str(home / f"{name}.tar")), None
        elif kind == "export":
            layout = self.dice.choice(("json", "csv"))
            place = home / (f"{name}.json" if layout == "json" else name)
            asked, data = {"place": place.name}, None
            arguments = ("export", "cinema", str(place), "--format", layout)
        else:
            asked, arguments, data = {"place": name}, ("restore", str(home / backups[-1])), home / name
        return self.ask(kind, asked, lambda: finish(desk, *arguments, data=data))

    def check(self, desk, entries):
        """The last of each kind: it is the one whose syncs were made last."""
        wrong = []
        home = desk.disk / "home"
        last = {one.kind: one for one in entries if one.sure and not one.refused}
        if one := last.get("backup"):
            wrong += self.works(desk, f"the backup {one.arguments['file']}", home / "none",
                                "restore", "--verify", str(home / one.arguments["file"]))  # fmt: skip
        if one := last.get("restore"):
            data = home / one.arguments["place"]
            if not (data / "madoguchi.db").exists():
                wrong.append(f"the restored {data.name} has no database")
            else:
                wrong += self.works(desk, f"the restored {data.name}", data, "audit", "verify")
                wrong += self.works(desk, f"the restored {data.name}", data, "keys", "list")
        if one := last.get("export"):
            wrong += exported(home / one.arguments["place"])
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
