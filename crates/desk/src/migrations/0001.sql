CREATE TABLE desk_writes (
    call_id TEXT PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    caller TEXT NOT NULL,
    counter TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments_digest TEXT NOT NULL,
    process TEXT NOT NULL,
    changes TEXT NOT NULL
);

CREATE INDEX desk_writes_by_age ON desk_writes (at_ms);

CREATE TABLE desk_replies (
    caller TEXT NOT NULL,
    counter TEXT NOT NULL,
    tool TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    arguments_digest TEXT NOT NULL,
    reply TEXT,
    PRIMARY KEY (caller, counter, tool, idempotency_key)
);

CREATE INDEX desk_replies_by_age ON desk_replies (at_ms);
