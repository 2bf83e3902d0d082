"""Reads a calendar from stdin with an independent parser; writes its events as JSON."""

import json
import sys
from datetime import timezone

from icalendar import Calendar

calendar = Calendar.from_ical(sys.stdin.buffer.read())
assert not calendar.errors, calendar.errors
zones = {str(zone["TZID"]): zone.to_tz(lookup_tzid=False) for zone in calendar.walk("VTIMEZONE")}
events = []
for event in calendar.walk("VEVENT"):
    assert not event.errors, event.errors
    start, end = event.start, event.end
    zone = event["DTSTART"].params.get("TZID")
    # What the file itself says about the zone, not what this machine knows of it.
    defined = zones[zone].utcoffset(start.replace(tzinfo=None)) if zone else None
    events.append(
        {
            "uid": str(event["UID"]),
            "summary": str(event["SUMMARY"]),
            "description": str(event.get("DESCRIPTION", "")),
            "location": str(event.get("LOCATION", "")),
            "status": str(event["STATUS"]),
            "start": start.isoformat(),
            "end": end.isoformat(),
            "start_utc": start.astimezone(timezone.utc).isoformat(),
            "zone": zone,
            "defined_offset": defined and int(defined.total_seconds()),
        }
    )
json.dump(events, sys.stdout)
