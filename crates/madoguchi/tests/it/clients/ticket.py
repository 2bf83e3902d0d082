"""Verifies a ticket as an offline gate would: with the published key and nothing else.
Reads {"ticket", "key"}, prints the ticket's claims."""

import base64
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


given = json.load(sys.stdin)
header, payload, signature = given["ticket"].split(".")
assert json.loads(decode(header)) == {"alg": "EdDSA", "typ": "ticket1"}
assert (given["key"]["kty"], given["key"]["crv"]) == ("OKP", "Ed25519")
key = Ed25519PublicKey.from_public_bytes(decode(given["key"]["x"]))
key.verify(decode(signature), f"{header}.{payload}".encode())
print(json.dumps(json.loads(decode(payload))))
