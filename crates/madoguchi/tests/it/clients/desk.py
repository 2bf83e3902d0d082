"""What the scripts share: how to reach the desk, and how answers are judged."""

import json
import os
import sys
from datetime import datetime, timedelta, timezone

from mcp import Client, StdioServerParameters

TOKYO = timezone(timedelta(hours=9))


def client(counter, **options):
    """A client as the command line says: `URL MODE`, or `stdio MODE`."""
    target, mode = sys.argv[1:3]
    if target == "stdio":
        target = StdioServerParameters(
            command=os.environ["MADOGUCHI_BIN"],
            args=["stdio", counter, "--fixture"],
            env={
                "MADOGUCHI_DATA": os.environ["MADOGUCHI_DATA"],
                "MADOGUCHI_APPROVAL__HOLD_SECONDS": "0",
                "LOG_LEVEL": "error",
            },
        )
    else:
        target = f"{target}/mcp/{counter}"
    return Client(target, mode=mode, read_timeout_seconds=30, **options)


def is_modern():
    return sys.argv[2] != "legacy"


def day(offset):
    """A day of the cinema's, counted from its today."""
    return (datetime.now(TOKYO) + timedelta(days=offset)).strftime("%Y-%m-%d")


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


def ok(result):
    """The structured content of a good answer, which its text repeats."""
    assert not result.is_error, result
    equal(json.loads(result.content[0].text), result.structured_content)
    return result.structured_content


def refused(result, code, message=None):
    """The details of an error with that code."""
    assert result.is_error, result
    error = result.structured_content["error"]
    equal(error["code"], code)
    if message is not None:
        assert error["message"].startswith(message), error
    text = result.content[0].text
    assert text.startswith(f"{code}: {error['message']}"), text
    return error.get("details", {})


def has(found, fields):
    """Each field is there with its type; more fields may be."""
    for name, kind in fields.items():
        assert name in found, f"{name} is missing in {found}"
        value = found[name]
        good = isinstance(value, kind) and not isinstance(value, bool)
        assert good, f"{name} is {value!r}, not {kind}"
