-- RFC 5545 RRULE; the event's own times are those of the first occurrence.
ALTER TABLE innervoice_events ADD COLUMN rule TEXT;
-- When the last occurrence of a series ends; NULL without an end.
ALTER TABLE innervoice_events ADD COLUMN over_at BIGINT;
ALTER TABLE innervoice_events ADD COLUMN all_day BIGINT NOT NULL DEFAULT 0;

-- Occurrences that were skipped or moved, as JSON: by their original start, null or
-- the new start and end.
ALTER TABLE innervoice_events ADD COLUMN exceptions TEXT;
ALTER TABLE innervoice_reminders ADD COLUMN exceptions TEXT;

-- In katakana, for people who search.
ALTER TABLE innervoice_contacts ADD COLUMN reading TEXT;

CREATE INDEX innervoice_events_repeating ON innervoice_events (starts_at) WHERE rule IS NOT NULL;
CREATE INDEX innervoice_contact_addresses_by_address ON innervoice_contact_addresses (address);
