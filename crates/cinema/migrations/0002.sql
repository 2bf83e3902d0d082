ALTER TABLE cinema_films ADD COLUMN reading TEXT NOT NULL DEFAULT '';

ALTER TABLE cinema_films ADD COLUMN english_title TEXT NOT NULL DEFAULT '';

ALTER TABLE cinema_films ADD COLUMN english_description TEXT NOT NULL DEFAULT ''
