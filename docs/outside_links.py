"""A preprocessor of mdBook: links to files outside of docs/ become names of files.

The site has only the pages of docs/. In the repository those links work as they are.
"""

import json
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def rewritten(folder, text):
    def named(link):
        label, path = link.group(1), link.group(2)
        target = (folder / path).resolve()
        if target.is_relative_to(DOCS):
            return link.group(0)
        file = target.relative_to(DOCS.parent).as_posix()
        return f"`{file}`" if label.strip("`") == file else f"{label} (`{file}`)"

    return LINK.sub(named, text)


def walk(source, items):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter is None:
            continue
        if chapter["path"]:
            folder = (source / chapter["path"]).parent
            chapter["content"] = rewritten(folder, chapter["content"])
        walk(source, chapter["sub_items"])


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
context, book = json.load(sys.stdin)
source = pathlib.Path(context["root"]) / context["config"]["book"]["src"]
# The list of chapters was renamed in mdBook 0.5.
walk(source, book.get("items") or book.get("sections"))
json.dump(book, sys.stdout)
