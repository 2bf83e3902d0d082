CREATE TABLE innervoice_events (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    location TEXT NOT NULL,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    -- IANA name: the zone the start is meant in.
    zone TEXT NOT NULL,
    -- RFC 5545 SEQUENCE: how often it was changed.
    sequence BIGINT NOT NULL,
    cancelled_at BIGINT,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX innervoice_events_by_start ON innervoice_events (starts_at);

CREATE TABLE innervoice_contacts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Every spelling a contact goes by, folded.
CREATE TABLE innervoice_contact_names (
    contact_id TEXT NOT NULL REFERENCES innervoice_contacts (id),
    folded TEXT NOT NULL,
    PRIMARY KEY (contact_id, folded)
);

CREATE INDEX innervoice_contact_names_by_name ON innervoice_contact_names (folded);

CREATE TABLE innervoice_contact_addresses (
    contact_id TEXT NOT NULL REFERENCES innervoice_contacts (id),
    -- email or sms
    platform TEXT NOT NULL,
    address TEXT NOT NULL,
    -- The first of a platform is the one that is used.
    position BIGINT NOT NULL,
    PRIMARY KEY (contact_id, platform, address)
);

CREATE TABLE innervoice_reminders (
    id TEXT PRIMARY KEY,
    note TEXT NOT NULL,
    -- The first time, in the civil time of its zone; what a rule counts from.
    starts_local TEXT NOT NULL,
    starts_at BIGINT NOT NULL,
    zone TEXT NOT NULL,
    -- RFC 5545 RRULE
    rule TEXT,
    -- active, done or cancelled
    status TEXT NOT NULL,
    -- Only while active.
    next_fire_at BIGINT,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX innervoice_reminders_due ON innervoice_reminders (next_fire_at);

-- A reminder fires once for each time it is due, whoever notices.
CREATE TABLE innervoice_firings (
    id TEXT PRIMARY KEY,
    reminder_id TEXT NOT NULL REFERENCES innervoice_reminders (id),
    note TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    fired_at BIGINT NOT NULL,
    -- on_time, late, or missed: too old to bother anybody with
    outcome TEXT NOT NULL,
    -- Earlier times of the same reminder that this one stands for as well.
    coalesced BIGINT NOT NULL,
    UNIQUE (reminder_id, due_at)
);

CREATE INDEX innervoice_firings_by_time ON innervoice_firings (fired_at);

-- What goes out: messages, and what reminders send.
CREATE TABLE innervoice_outbox (
    id TEXT PRIMARY KEY,
    -- message or reminder
    origin TEXT NOT NULL,
    -- The firing behind what a reminder sends.
    firing_id TEXT,
    -- email, sms, ntfy or webhook
    channel TEXT NOT NULL,
    contact_id TEXT,
    recipient_name TEXT,
    address TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    -- queued, sending, sent, failed, unknown or cancelled
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    undo_until BIGINT NOT NULL,
    -- Only while queued.
    next_attempt_at BIGINT,
    -- Only while sending: until when whoever sends it answers for it.
    claimed_until BIGINT,
    claimed_by TEXT,
    last_error TEXT,
    sent_at BIGINT,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX innervoice_outbox_due ON innervoice_outbox (next_attempt_at);
CREATE INDEX innervoice_outbox_claims ON innervoice_outbox (claimed_until);
CREATE INDEX innervoice_outbox_by_time ON innervoice_outbox (origin, created_at);

CREATE TABLE innervoice_attempts (
    outbox_id TEXT NOT NULL REFERENCES innervoice_outbox (id),
    number BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- sent, retry, failed or unknown
    outcome TEXT,
    detail TEXT,
    PRIMARY KEY (outbox_id, number)
);
