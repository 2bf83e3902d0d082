-- The file that a key in an address is for: such a key opens nothing else.
ALTER TABLE desk_keys ADD COLUMN file TEXT;
