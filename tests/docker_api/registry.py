"""A registry with one tiny image, on loopback, that can be told to refuse, stall or be slow."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
LAYER_TYPE = "application/vnd.docker.image.rootfs.diff.tar.gzip"


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@dataclass
class Registry:
    """``refuse`` answers that status to everything; ``stall`` keeps the layer back.

    With ``halve`` it keeps the second half of it back, and ``half`` tells that the first was sent.
    """

    salt: str
    refuse: int = 0
    stall: threading.Event | None = None
    halve: bool = False
    half: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    blobs: dict[str, bytes] = field(default_factory=dict)
    manifest: bytes = b""

    def __post_init__(self) -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            entry = tarfile.TarInfo("file")
            entry.size = len(self.salt)
            archive.addfile(entry, io.BytesIO(self.salt.encode()))
        plain = buffer.getvalue()
        layer = gzip.compress(plain, mtime=0)
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": [sha256(plain)]},
                "history": [{"created_by": "test"}],
            }
        ).encode()
        self.blobs = {sha256(layer): layer, sha256(config): config}
        self.manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST_TYPE,
                "config": {
                    "mediaType": CONFIG_TYPE,
                    "size": len(config),
                    "digest": sha256(config),
                },
                "layers": [
                    {
                        "mediaType": LAYER_TYPE,
                        "size": len(layer),
                        "digest": sha256(layer),
                    }
                ],
            }
        ).encode()

    @property
    def digest(self) -> str:
        """The repository digest of the image."""
        return sha256(self.manifest)

    @property
    def reference(self) -> str:
        """The image's name as the engine of this machine pulls it."""
        return f"127.0.0.1:{self.port}/acme/image:1"

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body for a path."""
        last = path.rpartition("/")[2]
        if self.refuse:
            words = {401: "unauthorized", 429: "toomanyrequests"}
            error = {"errors": [{"code": words.get(self.refuse, "UNKNOWN").upper()}]}
            return self.refuse, "application/json", json.dumps(error).encode()
        if path == "/v2/":
            return 200, "application/json", b"{}"
        if "/manifests/" in path and last in {"1", self.digest}:
            return 200, MANIFEST_TYPE, self.manifest
        if last in self.blobs:
            if self.stall is not None and not self.halve:
                self.stall.wait(30)
            is_layer = self.blobs[last].startswith(b"\x1f\x8b")
            return 200, LAYER_TYPE if is_layer else CONFIG_TYPE, self.blobs[last]
        missing = {
            "errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]
        }
        return 404, "application/json", json.dumps(missing).encode()

    def parts(self, kind: str, body: bytes) -> Iterator[bytes]:
        """What is written one after the other; nothing is left over after the last."""
        if not self.halve or kind != LAYER_TYPE:
            yield body
            return
        yield body[: len(body) // 2]
        self.half.set()
        if self.stall is not None:
            self.stall.wait(30)
        yield body[len(body) // 2 :]


@contextmanager
def serving(registry: Registry) -> Iterator[Registry]:
    """Serve the registry while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = registry.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if kind == MANIFEST_TYPE:
                self.send_header("Docker-Content-Digest", registry.digest)
            self.end_headers()
            if self.command != "GET":
                return
            for part in registry.parts(kind, body):
                self.wfile.write(part)

        do_HEAD = do_GET  # noqa: N815 - name of the base class

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        if registry.stall is not None:
            registry.stall.set()
        server.shutdown()
        server.server_close()
        thread.join()
