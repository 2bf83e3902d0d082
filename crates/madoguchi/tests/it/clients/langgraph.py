"""The adapter that LangGraph agents use. It speaks the handshake era and opens a
session for every call. Argument: the address of the shop's own port."""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient

base = sys.argv[1]


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


def answer(content):
    """The text of the first block, which is JSON."""
    text = content if isinstance(content, str) else content[0]["text"]
    return json.loads(text)


async def shop_at(url):
    client = MultiServerMCPClient({"merchant": {"transport": "streamable_http", "url": url}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    assert {"search_products", "check_inventory", "build_cart_mandates"} <= set(tools), tools
    found = answer(
        await tools["search_products"].ainvoke(
            {"keywords": ["むぎぼー", "カレンダー"], "limit": 10}
        )
    )
    equal(found["products"][0]["id"], 1)
    stock = answer(await tools["check_inventory"].ainvoke({"product_ids": [1, 2, 3]}))
    equal(stock, {"inventory": {"1": 50, "2": 30, "3": 0}})
    built = answer(
        await tools["build_cart_mandates"].ainvoke(
            {
                "cart_plan": {"name": "plan", "items": [{"product_id": 1, "quantity": 2}]},
                "products": found["products"],
                "shipping_address": {"recipient": "山田太郎", "country": "JP"},
            }
        )
    )
    equal(built["cart_mandate"]["contents"]["metadata"]["subtotal"], 3960.0)


async def main():
    for path in ("/mcp", "/"):
        await shop_at(base + path)


asyncio.run(main())
