CREATE TABLE cinema_films (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    title_folded TEXT NOT NULL,
    genre TEXT NOT NULL,
    duration_minutes BIGINT NOT NULL,
    rating DOUBLE PRECISION NOT NULL,
    age_class TEXT NOT NULL,
    popularity BIGINT NOT NULL,
    description TEXT NOT NULL,
    release_date TEXT NOT NULL,
    is_demo BIGINT NOT NULL
);

CREATE TABLE cinema_theaters (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    seat_count BIGINT NOT NULL,
    layout_digest BIGINT NOT NULL,
    is_demo BIGINT NOT NULL
);

CREATE TABLE cinema_seats (
    theater_id TEXT NOT NULL REFERENCES cinema_theaters (id),
    seat_row TEXT NOT NULL,
    seat_number BIGINT NOT NULL,
    seat_type TEXT NOT NULL,
    PRIMARY KEY (theater_id, seat_row, seat_number)
);

CREATE TABLE cinema_shows (
    id TEXT PRIMARY KEY,
    film_id TEXT NOT NULL REFERENCES cinema_films (id),
    theater_id TEXT NOT NULL REFERENCES cinema_theaters (id),
    show_date TEXT NOT NULL,
    start_minute BIGINT NOT NULL,
    end_minute BIGINT NOT NULL,
    starts_at BIGINT NOT NULL,
    is_demo BIGINT NOT NULL
);

CREATE INDEX cinema_shows_by_film ON cinema_shows (film_id, show_date);

CREATE INDEX cinema_shows_by_date ON cinema_shows (show_date);

CREATE INDEX cinema_shows_by_start ON cinema_shows (starts_at, id);

CREATE INDEX cinema_shows_of_demo ON cinema_shows (show_date) WHERE is_demo = 1;

CREATE TABLE cinema_reservations (
    id TEXT PRIMARY KEY,
    show_id TEXT NOT NULL REFERENCES cinema_shows (id),
    seats TEXT NOT NULL,
    status TEXT NOT NULL,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    is_demo BIGINT NOT NULL
);

CREATE INDEX cinema_reservations_by_show ON cinema_reservations (show_id);

CREATE INDEX cinema_reservations_expiring ON cinema_reservations (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE cinema_taken_seats (
    show_id TEXT NOT NULL,
    seat_row TEXT NOT NULL,
    seat_number BIGINT NOT NULL,
    reservation_id TEXT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (show_id, seat_row, seat_number)
)
