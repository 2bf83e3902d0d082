CREATE TABLE desk_secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE desk_versions (
    name TEXT PRIMARY KEY,
    version BIGINT NOT NULL
);

CREATE TABLE desk_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    previous_hash TEXT,
    previous_until BIGINT,
    counters TEXT NOT NULL,
    tools TEXT NOT NULL,
    read_only BIGINT NOT NULL,
    trust_client_prompts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);

CREATE TABLE desk_slots (
    caller TEXT NOT NULL,
    counter TEXT NOT NULL,
    slot BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (caller, counter, slot)
);

CREATE TABLE desk_approvals (
    id TEXT PRIMARY KEY,
    counter TEXT NOT NULL,
    tool TEXT NOT NULL,
    caller TEXT NOT NULL,
    caller_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    digest TEXT NOT NULL,
    card TEXT NOT NULL,
    recipient TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT,
    reason TEXT,
    used_at BIGINT,
    delivered_at BIGINT
);

CREATE INDEX desk_approvals_by_call ON desk_approvals (digest, caller, created_at);

CREATE INDEX desk_approvals_by_age ON desk_approvals (created_at);

CREATE TABLE desk_redemptions (
    approval TEXT PRIMARY KEY,
    call_id TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    reply TEXT
);

CREATE INDEX desk_redemptions_by_age ON desk_redemptions (at_ms);

CREATE TABLE desk_grants (
    id TEXT PRIMARY KEY,
    counter TEXT NOT NULL,
    tool TEXT NOT NULL,
    caller TEXT NOT NULL,
    caller_name TEXT NOT NULL,
    recipient TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    granted_by TEXT NOT NULL,
    revoked_at BIGINT
);

CREATE INDEX desk_grants_by_call ON desk_grants (caller, counter, tool);

CREATE TABLE desk_links (
    hash TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
