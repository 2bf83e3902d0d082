CREATE TABLE guestbook_entries (
    name TEXT NOT NULL,
    greeting TEXT NOT NULL,
    signed_at BIGINT NOT NULL
);
