"""Checks links.

check_links.py inside FOLDER   every link between the files of a site leads to a file
check_links.py outside         every link of our Markdown files to another site is answered
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

# Addresses that only serve as examples, or only work here.
EXAMPLES = re.compile(r"//(127\.0\.0\.1|localhost|[\w.]*example\.(com|org))")
CODE = re.compile(r"^ *(`{3,}).*?^ *\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def inside(site):
    broken = []
    for page in site.rglob("*.html"):
        if page.name in ("print.html", "toc.html", "404.html"):
            continue
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
            path = urllib.parse.unquote(link.split("#")[0].split("?")[0])
            if path and ":" not in path and not (page.parent / path).exists():
                broken.append(f"{page.relative_to(site)}: {link}")
    return broken


def answer(address):
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (links)"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status < 400, response.status
    except urllib.error.HTTPError as error:
        # Those who let no program in are there.
        return error.code in (401, 403, 429), error.code
    except OSError as error:
        return False, error


def outside():
    files = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True)
    found = {}
    for file in files.stdout.split():
        text = CODE.sub("", pathlib.Path(file).read_text())
        for address in re.findall(r"\]\((https?://[^)\s]+)\)|<(https?://[^>\s]+)>", text):
            address = "".join(address)
            if not EXAMPLES.search(address):
                found.setdefault(address, file)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(answer, found))
    for address, (_, what) in zip(found, answers):
        print(f"{what}  {address}")
    return [f"{file}: {address}" for (address, file), (ok, _) in zip(found.items(), answers) if not ok]


match sys.argv[1:]:
    case ["inside", folder]:
        broken = inside(pathlib.Path(folder))
    case ["outside"]:
        broken = outside()
    case _:
        sys.exit(__doc__)
if broken:
    sys.exit("broken links:\n" + "\n".join(broken))
