CREATE TABLE merchant_catalogue (
    only_row BIGINT PRIMARY KEY,
    id TEXT NOT NULL,
    changes BIGINT NOT NULL
);

CREATE TABLE merchant_products (
    id BIGINT PRIMARY KEY,
    sku TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    price_yen BIGINT NOT NULL,
    stock BIGINT NOT NULL,
    category TEXT,
    brand TEXT,
    image_url TEXT,
    refund_period_days BIGINT NOT NULL,
    keywords TEXT NOT NULL,
    is_demo BIGINT NOT NULL,
    change_number BIGINT NOT NULL
);

CREATE INDEX merchant_products_by_sku ON merchant_products (sku);

CREATE INDEX merchant_products_by_price ON merchant_products (price_yen, id);

CREATE INDEX merchant_products_by_change ON merchant_products (change_number);

CREATE TABLE merchant_removed_products (
    id BIGINT PRIMARY KEY,
    change_number BIGINT NOT NULL
);

CREATE INDEX merchant_removed_by_change ON merchant_removed_products (change_number);

CREATE TABLE merchant_carts (
    id TEXT PRIMARY KEY,
    cart TEXT NOT NULL,
    format TEXT NOT NULL,
    is_reserved BIGINT NOT NULL,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX merchant_carts_by_expiry ON merchant_carts (expires_at);

CREATE TABLE merchant_reservations (
    product_id BIGINT NOT NULL,
    cart_id TEXT NOT NULL,
    quantity BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (product_id, cart_id)
);

CREATE INDEX merchant_reservations_by_expiry ON merchant_reservations (expires_at);

CREATE TABLE merchant_stock_changes (
    id TEXT PRIMARY KEY,
    product_id BIGINT NOT NULL,
    stock_before BIGINT NOT NULL,
    stock_after BIGINT NOT NULL,
    reason TEXT,
    caller TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE INDEX merchant_stock_changes_by_product ON merchant_stock_changes (product_id, changed_at);

CREATE TABLE merchant_imports (
    digest TEXT PRIMARY KEY,
    rows_done BIGINT NOT NULL,
    imported BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    is_complete BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE merchant_sync (
    target TEXT PRIMARY KEY,
    position BIGINT NOT NULL
)
