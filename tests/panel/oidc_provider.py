"""A small OpenID Connect provider on the loopback address: discovery, keys, tokens, who it is."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "draftboard", "the secret of the client"
KEY_ID = "key-1"


def new_key() -> rsa.RSAPrivateKey:
    """A key to sign with."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass(kw_only=True)
class Provider:
    """What it says of whoever logs in; ``signs_with`` is the key that it publishes, unless changed."""

    issuer: str = ""
    claims: dict[str, object] = field(default_factory=dict)
    published: rsa.RSAPrivateKey = field(default_factory=new_key)
    signs_with: rsa.RSAPrivateKey | None = None
    changes: dict[str, object] = field(default_factory=dict)
    asked: list[dict[str, list[str]]] = field(default_factory=list)

    def answer(self, path: str) -> dict[str, object]:
        """The document at a path; the token is signed anew each time."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/keys":
            numbers = self.published.public_key().public_numbers()
            key = {"kty": "RSA", "kid": KEY_ID, "alg": "RS256", "use": "sig"}
            return {"keys": [key | {"n": _number(numbers.n), "e": _number(numbers.e)}]}
        if path == "/userinfo":
            return self.claims
        now = int(time.time())
        token = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 60,
            **self.claims,
            **self.changes,
        }
        signed = jwt.encode(
            token,
            self.signs_with or self.published,
            algorithm="RS256",
            headers={"kid": KEY_ID},
        )
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": signed}


def _number(value: int) -> str:
    raw = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@contextmanager
def running_provider() -> Iterator[Provider]:
    """One that listens on a free port until the end."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(provider.answer(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            provider.asked.append(parse_qs(self.rfile.read(length).decode()))
            self._say(provider.answer(self.path))

        def _say(self, document: dict[str, object]) -> None:
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_told: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield provider
        server.shutdown()
        thread.join()
