-- The names of a product in other languages, as a JSON object.
ALTER TABLE merchant_products ADD COLUMN names TEXT;

-- The number of the change that last replaced the synonyms.
ALTER TABLE merchant_catalogue ADD COLUMN synonyms_changed BIGINT NOT NULL DEFAULT 0;

-- Words with one meaning share a group.
CREATE TABLE merchant_synonyms (
    group_number BIGINT NOT NULL,
    position BIGINT NOT NULL,
    word TEXT NOT NULL,
    PRIMARY KEY (group_number, position)
)
