CREATE INDEX cinema_reservations_at_console ON cinema_reservations (created_at) WHERE caller = 'console'
