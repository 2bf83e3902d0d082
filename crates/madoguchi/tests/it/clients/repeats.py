"""Compares our times of repetition with those that dateutil finds.

Reads a list of {words, rule, start, zone, until, times} on stdin. dateutil finds
the civil times; zoneinfo says when those are, the first of a repeated hour, and
an hour later in a skipped one.
"""

import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

differing = 0
cases = json.load(sys.stdin)
for case in cases:
    start = datetime.fromisoformat(case["start"])
    until = datetime.fromisoformat(case["until"])
    zone = ZoneInfo(case["zone"])
    if "HOURLY" in case["rule"]:
        # Hours are real ones: counted where no clock ever changes.
        began = start.replace(tzinfo=zone).astimezone(timezone.utc).replace(tzinfo=None)
        ends = until.replace(tzinfo=zone).astimezone(timezone.utc).replace(tzinfo=None)
        found = rrulestr(case["rule"], dtstart=began).between(began, ends, inc=True)
        instants = [one.replace(tzinfo=timezone.utc) for one in found]
    else:
        rule = rrulestr(case["rule"], dtstart=start, ignoretz=True)
        found = rule.between(start - timedelta(seconds=1), until, inc=True)
        instants = [one.replace(tzinfo=zone).astimezone(timezone.utc) for one in found]
    expected = sorted({one.strftime("%Y-%m-%dT%H:%M:%SZ") for one in instants})
    if expected != case["times"]:
        differing += 1
        theirs = [one for one in expected if one not in case["times"]][:5]
        ours = [one for one in case["times"] if one not in expected][:5]
        print(case["words"], case["rule"], case["zone"], case["start"], "theirs", theirs, "ours", ours)
print(len(cases), "compared,", differing, "differ")
sys.exit(1 if differing or not cases else 0)
