-- Policies of tools that a person made stricter than the configuration does.
CREATE TABLE desk_policies (
    counter TEXT NOT NULL,
    tool TEXT NOT NULL,
    policy TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    PRIMARY KEY (counter, tool)
);
