ALTER TABLE cinema_reservations ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

ALTER TABLE cinema_reservations ADD COLUMN held_since BIGINT;

ALTER TABLE cinema_reservations ADD COLUMN changed_at BIGINT;

ALTER TABLE cinema_shows ADD COLUMN waiting BIGINT NOT NULL DEFAULT 0;

CREATE TABLE cinema_waiting (
    id TEXT PRIMARY KEY,
    show_id TEXT NOT NULL REFERENCES cinema_shows (id),
    party_size BIGINT NOT NULL,
    wishes TEXT NOT NULL,
    status TEXT NOT NULL,
    caller TEXT NOT NULL,
    joined_at BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    hold_id TEXT
);

CREATE INDEX cinema_waiting_by_show ON cinema_waiting (show_id, turn) WHERE status = 'waiting';

CREATE INDEX cinema_waiting_by_hold ON cinema_waiting (hold_id) WHERE hold_id IS NOT NULL;

CREATE INDEX cinema_shows_with_waiting ON cinema_shows (starts_at) WHERE waiting > 0
