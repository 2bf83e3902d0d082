CREATE TABLE desk_audit (
    segment TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    call_id TEXT,
    caller TEXT,
    record TEXT NOT NULL,
    beside TEXT,
    PRIMARY KEY (segment, seq)
);

CREATE INDEX desk_audit_by_time ON desk_audit (at_ms);

CREATE INDEX desk_audit_by_call ON desk_audit (call_id);
