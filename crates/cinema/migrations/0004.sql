CREATE TABLE cinema_documents (
    name TEXT NOT NULL,
    is_demo BIGINT NOT NULL,
    body TEXT NOT NULL,
    digest BIGINT NOT NULL,
    PRIMARY KEY (name, is_demo)
);

ALTER TABLE cinema_reservations ADD COLUMN price TEXT NOT NULL DEFAULT ''
