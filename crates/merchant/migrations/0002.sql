ALTER TABLE merchant_carts ADD COLUMN cancelled_at BIGINT;

CREATE INDEX merchant_carts_reserving ON merchant_carts (caller, expires_at)
    WHERE is_reserved = 1 AND cancelled_at IS NULL;

CREATE INDEX merchant_reservations_by_cart ON merchant_reservations (cart_id);

-- One row for each caller that ever reserved something, to lock.
CREATE TABLE merchant_callers (
    caller TEXT PRIMARY KEY
)
