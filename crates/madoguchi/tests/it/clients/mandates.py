"""Checks cart mandates with the published types and other people's cryptography.

Others import `check`. As a script: reads a list of {"mandate", "format",
"public_key"?, "audience"?} from stdin; with the argument `new-key` it prints a
private key to sign with.
"""

import hashlib
import json
import sys
from datetime import datetime
from decimal import Decimal

import jwt
import rfc8785
from ap2.types.mandate import CartMandate
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def check(mandate, format="flat", public_key=None, audience=None):
    """Raises when anything is wrong. With a `public_key` (PEM text or a JWK) the
    mandate must be signed by it for `audience`; without, it must not be signed.
    Gives the claims of the signature back."""
    {"flat": check_flat, "ap2-0.1": check_ap2}[format](mandate)
    authorization = mandate.get("merchant_authorization")
    if public_key is None:
        assert authorization is None, authorization
        return None
    return check_authorization(authorization, mandate["contents"], public_key, audience)


def check_ap2(mandate):
    # Nothing that the types do not know, and nothing left to their defaults.
    read = CartMandate.model_validate(mandate)
    assert read.model_dump(mode="json", exclude_none=True) == mandate, mandate
    contents = read.contents
    assert datetime.fromisoformat(contents.cart_expiry).tzinfo, contents.cart_expiry
    request = contents.payment_request
    assert request.method_data, request
    details = request.details
    check_sum(
        [item.amount.value for item in details.display_items], details.total.amount.value
    )
    for item in [*details.display_items, details.total]:
        assert item.amount.currency == "JPY", item
    waiting = [item for item in details.display_items if item.pending]
    assert len(waiting) == (1 if request.shipping_address is None else 0), waiting


def check_flat(mandate):
    assert mandate["type"] == "CartMandate", mandate
    assert datetime.fromisoformat(mandate["created_at"]).tzinfo, mandate
    contents = mandate["contents"]
    check_sum(
        [item["amount"]["value"] for item in contents["display_items"]],
        contents["total"]["value"],
    )
    metadata = contents["metadata"]
    check_sum([item["total_price_jpy"] for item in metadata["raw_items"]], metadata["subtotal"])
    check_sum(
        [metadata["subtotal"], metadata["shipping_fee"], metadata["tax"]],
        contents["total"]["value"],
    )
    for item in metadata["raw_items"]:
        assert item["quantity"] * item["unit_price_jpy"] == item["total_price_jpy"], item


def check_sum(amounts, total):
    for amount in [*amounts, total]:
        assert isinstance(amount, float) and amount.is_integer(), amount
    assert sum(map(Decimal, amounts)) == Decimal(total), (amounts, total)


def check_authorization(authorization, contents, public_key, audience):
    header = jwt.get_unverified_header(authorization)
    assert header["alg"] == "ES256" and header["typ"] == "JWT" and header["kid"], header
    key = public_key if isinstance(public_key, str) else jwt.PyJWK(public_key).key
    claims = jwt.decode(
        authorization,
        key,
        algorithms=["ES256"],
        audience=audience,
        options={"require": ["iss", "sub", "aud", "iat", "exp", "jti", "cart_hash"]},
    )
    assert claims["iss"] == claims["sub"], claims
    assert 0 < claims["exp"] - claims["iat"] <= 15 * 60, claims
    digest = hashlib.sha256(rfc8785.dumps(contents)).hexdigest()
    assert claims["cart_hash"] == digest, (claims, digest)
    return claims


def new_key():
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["new-key"]:
        print(new_key().decode())
    else:
        for arguments in json.load(sys.stdin):
            check(**arguments)
