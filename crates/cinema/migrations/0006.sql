CREATE TABLE cinema_caller_locks (
    caller TEXT PRIMARY KEY
)
