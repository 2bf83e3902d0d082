"""The merchant's three tools with FastMCP and SQLite: `server.py PORT CATALOGUE DATABASE`.

CATALOGUE has a JSON object on each line and is read into a new DATABASE first. Search is
FTS5's trigram index, and LIKE where a keyword is too short for it.
"""

import json
import sqlite3
import sys
import uuid
from datetime import datetime, timezone
from typing import Any

from fastmcp import FastMCP

SHIPPING_FEE = 500
FREE_SHIPPING_THRESHOLD = 5000
DAY = 24 * 60 * 60
FIELDS = "id, sku, name, description, price, stock, category, brand, image_url, refund_period_days"

mcp = FastMCP("merchant", version="1.0.0")


def open_shop(path: str, catalogue: str) -> sqlite3.Connection:
    shop = sqlite3.connect(path, isolation_level=None)
    shop.row_factory = sqlite3.Row
    # As durable as the other side, and no slower than that.
    shop.execute("PRAGMA journal_mode = WAL")
    shop.execute("PRAGMA synchronous = FULL")
    shop.executescript(
        """
        CREATE TABLE products (
            id INTEGER PRIMARY KEY, sku TEXT, name TEXT, description TEXT, price INTEGER,
            stock INTEGER, category TEXT, brand TEXT, image_url TEXT,
            refund_period_days INTEGER, keywords TEXT);
        CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'trigram');
        CREATE TABLE carts (id TEXT PRIMARY KEY, mandate TEXT, created_at TEXT);
        """
    )
    with open(catalogue, encoding="utf-8") as lines:
        products = [json.loads(line) for line in lines]
    shop.execute("BEGIN")
    for p in products:
        keywords = " ".join(p["keywords"])
        shop.execute(
            "INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (p["id"], p["sku"], p["name"], p["description"], p["price_jpy"], p["inventory_count"],
             p["category"], p["brand"], p["image_url"], p["refund_period_days"], keywords),
        )
        text = "\n".join([p["name"], p["description"], p["sku"], p["category"], p["brand"], keywords])
        shop.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (p["id"], text))
    shop.execute("COMMIT")
    return shop


def product(id: int) -> sqlite3.Row | None:
    return shop.execute(f"SELECT {FIELDS} FROM products WHERE id = ?", (id,)).fetchone()


def listed(where: str, values: list[Any], limit: int) -> list[int]:
    rows = shop.execute(
        f"SELECT id FROM products WHERE stock > 0 {where} ORDER BY id LIMIT ?", [*values, limit]
    )
    return [row["id"] for row in rows]


def found(keywords: list[str], where: str, values: list[Any], limit: int) -> list[int]:
    long = [f'"{word.replace(chr(34), chr(34) * 2)}"' for word in keywords if len(word) >= 3]
    short = [f"%{word}%" for word in keywords if len(word) < 3]
    # On the table itself: LIKE and MATCH together on FTS5's crash SQLite 3.40.
    where += " AND products.name LIKE ?" * len(short)
    values = [*values, *short]
    if not long:
        return listed(where, values, limit)
    rows = shop.execute(
        "SELECT id FROM words JOIN products ON id = words.rowid "
        f"WHERE stock > 0 {where} AND words MATCH ? ORDER BY words.rank LIMIT ?",
        [*values, " AND ".join(long), limit],
    )
    return [row["id"] for row in rows]


@mcp.tool(description="データベースから商品を検索")
async def search_products(
    keywords: list[str],
    limit: int = 20,
    category: list[str] | None = None,
    min_price: int | None = None,
    max_price: int | None = None,
) -> dict[str, Any]:
    where, values = "", []
    if category:
        where += f" AND category IN ({', '.join('?' * len(category))})"
        values += category
    if min_price is not None:
        where += " AND price >= ?"
        values.append(min_price)
    if max_price is not None:
        where += " AND price <= ?"
        values.append(max_price)
    words = " ".join(keywords).split()
    ids = found(words, where, values, limit) if words else listed(where, values, limit)
    fallback = not ids
    if fallback:
        ids = listed("", [], limit)
    products = []
    for id in ids:
        row = product(id)
        products.append({
            "id": row["id"],
            "sku": row["sku"],
            "name": row["name"],
            "description": row["description"],
            "price_cents": row["price"] * 100,
            "price_jpy": float(row["price"]),
            "inventory_count": row["stock"],
            "category": row["category"],
            "brand": row["brand"],
            "image_url": row["image_url"],
            "refund_period_days": row["refund_period_days"],
        })
    return {"products": products, "fallback": fallback}


@mcp.tool(description="在庫状況を確認")
async def check_inventory(product_ids: list[int]) -> dict[str, Any]:
    inventory = {}
    for id in product_ids:
        row = product(id)
        inventory[str(id)] = row["stock"] if row else 0
    return {"inventory": inventory}


@mcp.tool(description="AP2準拠のCartMandateを構築（未署名）")
async def build_cart_mandates(
    cart_plan: dict[str, Any],
    products: list[dict[str, Any]],
    shipping_address: dict[str, Any] | None = None,
) -> dict[str, Any]:
    items, raw_items, subtotal = [], [], 0
    for line in cart_plan["items"]:
        row, quantity = product(line["product_id"]), line["quantity"]
        if row is None or not 1 <= quantity <= row["stock"]:
            raise ValueError(f"product {line['product_id']} can't be sold")
        price = row["price"] * quantity
        subtotal += price
        items.append(item(row["name"], price, row["refund_period_days"] * DAY))
        raw_items.append({
            "product_id": row["id"],
            "sku": row["sku"],
            "name": row["name"],
            "quantity": quantity,
            "unit_price_jpy": float(row["price"]),
            "total_price_jpy": float(price),
        })
    shipping = 0 if subtotal >= FREE_SHIPPING_THRESHOLD else SHIPPING_FEE
    tax = (subtotal + shipping) // 10
    if shipping:
        items.append(item("送料", shipping, 0))
    items.append(item("消費税", tax, 0))
    created_at = datetime.now(timezone.utc).isoformat()
    mandate = {
        "type": "CartMandate",
        "contents": {
            "id": f"cart_{uuid.uuid4().hex}",
            "merchant_id": "did:ap2:merchant:mugibo_merchant",
            "display_items": items,
            "total": {"value": float(subtotal + shipping + tax), "currency": "JPY"},
            "metadata": {
                "raw_items": raw_items,
                "shipping_fee": float(shipping),
                "tax": float(tax),
                "subtotal": float(subtotal),
            },
            "shipping_address": shipping_address,
        },
        "created_at": created_at,
    }
    shop.execute(
        "INSERT INTO carts VALUES (?, ?, ?)",
        (mandate["contents"]["id"], json.dumps(mandate, ensure_ascii=False), created_at),
    )
    return {"cart_mandate": mandate}


def item(label: str, amount: int, refund_period: int) -> dict[str, Any]:
    amount = {"value": float(amount), "currency": "JPY"}
    return {"label": label, "amount": amount, "refund_period": refund_period}


shop = open_shop(sys.argv[3], sys.argv[2])
mcp.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    stateless_http=True,
    json_response=True,
    show_banner=False,
    log_level="ERROR",
)
