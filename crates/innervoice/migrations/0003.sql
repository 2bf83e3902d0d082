-- How often what a reminder says was changed. When it fires, it says the same.
ALTER TABLE innervoice_reminders ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- Whose change was the last; NULL while it is as its caller made it.
ALTER TABLE innervoice_reminders ADD COLUMN changed_by TEXT;
ALTER TABLE innervoice_events ADD COLUMN changed_by TEXT;

-- The copy on the server that somebody else changed, as it was last seen there.
ALTER TABLE innervoice_caldav ADD COLUMN their_etag TEXT;
ALTER TABLE innervoice_caldav ADD COLUMN their_copy TEXT;

-- Of earlier conflicts no copy was kept: the server is told once more, and what
-- it has is written down.
UPDATE innervoice_caldav SET outcome = 'waiting', sequence = -1 WHERE outcome = 'conflict';

-- How much of each a caller has is counted before it gets more.
CREATE INDEX innervoice_events_by_caller ON innervoice_events (caller, ends_at);
CREATE INDEX innervoice_reminders_by_caller ON innervoice_reminders (caller, status);
CREATE INDEX innervoice_outbox_by_caller ON innervoice_outbox (caller, status);

-- What old firings sent goes with them.
CREATE INDEX innervoice_outbox_by_firing ON innervoice_outbox (firing_id);
