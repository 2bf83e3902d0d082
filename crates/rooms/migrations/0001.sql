-- One row. Whoever creates or deletes a room or claims a name changes it first, so that
-- limits hold over all desks. `changes` also numbers the rooms.
CREATE TABLE rooms_meta (
    id BIGINT PRIMARY KEY,
    changes BIGINT NOT NULL,
    -- Keys of rooms.json that are not ours.
    other TEXT NOT NULL
);

INSERT INTO rooms_meta (id, changes, other) VALUES (1, 0, '{}');

-- Messages have the numbers from first_number to next_number - 1, without gaps; those
-- before log_number are archived. Whoever sends a message changes this row first.
CREATE TABLE rooms_rooms (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    created_at TEXT NOT NULL,
    -- The key that created it, as JSON.
    creator TEXT,
    first_number BIGINT NOT NULL,
    log_number BIGINT NOT NULL,
    next_number BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    archive_bytes BIGINT NOT NULL,
    next_entry BIGINT NOT NULL,
    -- Keys of rooms.json and presence.json that are not ours.
    other TEXT NOT NULL,
    presence_other TEXT NOT NULL
);

-- `line` is the message as the files have it. `nth`: how many messages its author had sent
-- to the room with it. `client_id` and `reply_to` are empty where there is none.
CREATE TABLE rooms_messages (
    room BIGINT NOT NULL,
    number BIGINT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    nth BIGINT NOT NULL,
    sent_at BIGINT,
    client_id TEXT NOT NULL,
    reply_to TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    folded TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (room, number)
);

CREATE INDEX rooms_messages_id ON rooms_messages (room, id);
CREATE INDEX rooms_messages_agent ON rooms_messages (agent, room, number);
CREATE INDEX rooms_messages_sent ON rooms_messages (room, sent_at);
CREATE INDEX rooms_messages_client ON rooms_messages (room, client_id)
    WHERE client_id <> '';

-- `by_other`: the message is neither the agent's own nor the program's.
CREATE TABLE rooms_mentions (
    room BIGINT NOT NULL,
    agent TEXT NOT NULL,
    number BIGINT NOT NULL,
    by_other BIGINT NOT NULL,
    PRIMARY KEY (room, agent, number)
);

-- Members, and the read positions of those who left. `entered` orders the members. All
-- messages up to read_number are read, all mentions up to mention_number, and those in
-- `delivered`. `version` changes with the position.
CREATE TABLE rooms_members (
    room BIGINT NOT NULL,
    agent TEXT NOT NULL,
    is_member BIGINT NOT NULL,
    entered BIGINT NOT NULL,
    online BIGINT NOT NULL,
    joined_at TEXT NOT NULL,
    profile TEXT,
    profile_bytes BIGINT NOT NULL,
    active_at BIGINT NOT NULL,
    process TEXT NOT NULL,
    waiting_until BIGINT,
    read_number BIGINT NOT NULL,
    mention_number BIGINT NOT NULL,
    delivered TEXT NOT NULL,
    version BIGINT NOT NULL,
    read_at TEXT,
    -- Keys of presence.json and read_status.json that are not ours.
    other TEXT NOT NULL,
    read_other TEXT NOT NULL,
    PRIMARY KEY (room, agent)
);

CREATE INDEX rooms_members_agent ON rooms_members (agent);

-- Names that keys hold, by what people see of them.
CREATE TABLE rooms_names (
    visible TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    key_id TEXT NOT NULL,
    key_name TEXT NOT NULL,
    since TEXT NOT NULL,
    shared_with TEXT NOT NULL
);

CREATE INDEX rooms_names_key ON rooms_names (key_id);

-- Who ever entered a room.
CREATE TABLE rooms_agents (
    agent TEXT PRIMARY KEY,
    first_seen_at TEXT NOT NULL,
    seen BIGINT NOT NULL
);

CREATE INDEX rooms_agents_seen ON rooms_agents (seen);

-- The desks that serve agents, and when each was last alive.
CREATE TABLE rooms_processes (
    id TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
