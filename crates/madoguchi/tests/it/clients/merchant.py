"""A shop agent with the official client: every tool, its fields, its errors."""

import anyio

from desk import client, equal, ok, refused

SEED = {
    "search_products": ({"keywords", "limit"}, ["keywords"]),
    "check_inventory": ({"product_ids"}, ["product_ids"]),
    "build_cart_mandates": (
        {"cart_plan", "products", "shipping_address"},
        ["cart_plan", "products"],
    ),
}
BEYOND = {"cancel_cart", "get_product", "get_cart_mandate", "update_cart"}
# Listed for the shop's staff only: on stdio, and over HTTP with a key that names it.
STAFF = {"update_inventory"}

ADDRESS = {
    "recipient": "山田太郎",
    "addressLine": ["東京都渋谷区1-2-3"],
    "city": "渋谷区",
    "country": "JP",
    "postalCode": "150-0001",
}


async def definitions(shop):
    tools = {tool.name: tool for tool in (await shop.list_tools()).tools}
    equal(set(tools) - STAFF, set(SEED) | BEYOND)
    for name, (fields, required) in SEED.items():
        schema = tools[name].input_schema
        assert fields <= set(schema["properties"]), name
        equal(schema["required"], required)


async def searches(shop):
    async def search(**arguments):
        return ok(await shop.call_tool("search_products", arguments))

    found = await search(keywords=["かわいい", "グッズ"], limit=10)
    product = next(p for p in found["products"] if p["id"] == 1)
    equal(product["sku"], "MUGIBO-CAL-2025")
    equal((product["price_cents"], product["price_jpy"]), (198000, 1980.0))
    equal(found.get("fallback"), None)
    # Typed otherwise, and mistyped.
    for keywords in (["らんにんぐしゅーず"], ["ﾗﾝﾆﾝｸﾞｼｭｰｽﾞ"], ["ランニングシュズ"]):
        found = await search(keywords=keywords)
        equal({p["id"] for p in found["products"]}, {16, 17})
    fallback = await search(keywords=["存在しない商品"])
    assert fallback["fallback"] and fallback["fallback_reason"]
    seen, cursor = [], None
    while True:
        page = await search(keywords=["むぎぼー"], limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [p["id"] for p in page["products"]]
        cursor = page.get("next_cursor")
        if not cursor:
            break
    equal(sorted(seen), [1, 2, 4, 5, 6, 7, 8, 30])
    refused(await shop.call_tool("search_products", {}), "INVALID_ARGUMENT")
    refused(await shop.call_tool("search_products", {"keywords": [], "limit": 0}), "INVALID_ARGUMENT")
    refused(
        await shop.call_tool("search_products", {"keywords": ["本"], "cursor": "?"}),
        "INVALID_CURSOR",
    )


async def carts(shop):
    def plan(**quantities):
        items = [{"product_id": int(k[1:]), "quantity": n} for k, n in quantities.items()]
        return {"cart_plan": {"items": items}, "products": []}

    async def build(arguments, **more):
        return await shop.call_tool("build_cart_mandates", arguments | more)

    built = ok(await build(plan(p1=2, p5=1), shipping_address=ADDRESS))
    contents = built["cart_mandate"]["contents"]
    equal(contents["total"], {"value": 8206.0, "currency": "JPY"})
    equal(sum(i["amount"]["value"] for i in contents["display_items"]), 8206.0)
    again = ok(await shop.call_tool("get_cart_mandate", {"cart_id": contents["id"]}))
    equal(again["cart_mandate"], built["cart_mandate"])

    # A retry with the same key gets the same cart, and reserves once.
    before = ok(await shop.call_tool("check_inventory", {"product_ids": [4]}))["inventory"]["4"]
    order = {"reserve": True, "idempotency_key": "order-1"}
    first = ok(await build(plan(p4=2), **order))
    second = ok(await build(plan(p4=2), **order))
    equal(first, second)
    after = ok(await shop.call_tool("check_inventory", {"product_ids": [4]}))["inventory"]["4"]
    equal(before - after, 2)

    for arguments, code in (
        (plan(), "EMPTY_CART"),
        (plan(p404=1), "PRODUCT_NOT_FOUND"),
        (plan(p1=0), "INVALID_QUANTITY"),
        (plan(p3=1), "INSUFFICIENT_STOCK"),
        (plan(p1=1) | {"shipping_address": {"city": 7}}, "INVALID_ADDRESS"),
        ({"cart_plan": {"items": [{}]}, "products": []}, "INVALID_PRODUCT_ID"),
        ({"cart_plan": {"items": 1}, "products": []}, "INVALID_CART_PLAN"),
        ({"products": []}, "INVALID_ARGUMENT"),
    ):
        refused(await build(arguments), code)
    refused(await shop.call_tool("get_cart_mandate", {"cart_id": "cart_x"}), "CART_NOT_FOUND")
    refused(await shop.call_tool("get_product", {"product_id": 404}), "PRODUCT_NOT_FOUND")
    equal(ok(await shop.call_tool("get_product", {"sku": "MUGIBO-KEY-01"}))["product"]["id"], 2)


async def main():
    async with client("merchant") as shop:
        await definitions(shop)
        await searches(shop)
        await carts(shop)


anyio.run(main)
