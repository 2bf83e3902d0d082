-- The oldest request of a caller is found without reading all of them.
CREATE INDEX desk_slots_by_time ON desk_slots (caller, counter, at_ms);
