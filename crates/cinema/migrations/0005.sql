ALTER TABLE cinema_reservations ADD COLUMN admitted_at BIGINT;

CREATE TABLE cinema_ticket_keys (
    id BIGINT PRIMARY KEY,
    secret TEXT NOT NULL,
    created_at BIGINT NOT NULL
)
