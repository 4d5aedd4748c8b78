"""Signs the requests that schemathesis generates, as docs/signing.md describes; with RIALTO_ADMIN,
sends the operator's key instead."""

import hashlib
import hmac
import itertools
import os
import time
import tomllib
from urllib.parse import urlsplit

import requests
import schemathesis

with open(os.environ["RIALTO_KEY_FILE"], "rb") as file:
    KEY = tomllib.load(file)
NONCES = itertools.count()


class Signature(requests.auth.AuthBase):
    """Adds the headers of a signed request."""

    def __call__(self, request):
        if "RIALTO_ADMIN" in os.environ:
            request.headers["Authorization"] = "Bearer " + os.environ["RIALTO_ADMIN"]
            return request
        url = urlsplit(request.url)
        path = url.path + (f"?{url.query}" if url.query else "")
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
            request.body = body
        timestamp, nonce = str(time.time_ns() // 1_000), str(next(NONCES))
        digest = hashlib.sha256(body).hexdigest()
        durability = request.headers.get("X-Rialto-Durability", "")
        lines = ["rialto-2", timestamp, nonce, request.method, path, durability, digest]
        text = "".join(f"{line}\n" for line in lines).encode()
        mac = hmac.new(bytes.fromhex(KEY["secret"]), text, hashlib.sha256).hexdigest()
        request.headers["X-Rialto-Key"] = KEY["key"]
        request.headers["X-Rialto-Timestamp"] = timestamp
        request.headers["X-Rialto-Nonce"] = nonce
        request.headers["X-Rialto-Signature"] = f"v2:{mac}"
        if body:
            request.headers["X-Rialto-Body-SHA256"] = digest
        return request


schemathesis.auth.set_from_requests(Signature())


@schemathesis.hook
def map_query(context, query):
    """A sequence that does not come yet is `behind` (503), as it should be: not asked for."""
    return {name: value for name, value in (query or {}).items() if name != "min_seq"}
