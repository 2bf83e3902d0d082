-- What a CalDAV server knows of each event. An event whose sequence is beyond
-- the one here has yet to be told.
CREATE TABLE innervoice_caldav (
    event_id TEXT PRIMARY KEY REFERENCES innervoice_events (id),
    -- The sequence that was settled; -1 while none was.
    sequence BIGINT NOT NULL,
    -- Of the server's copy, as we left it.
    etag TEXT,
    -- waiting, done, or conflict: somebody changed the server's copy
    outcome TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Only while waiting.
    next_attempt_at BIGINT,
    last_error TEXT
);
