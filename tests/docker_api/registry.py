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


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@dataclass
class Registry:
    """``refuse`` answers that status to everything; ``stall`` keeps the layer back."""

    salt: str
    refuse: int = 0
    stall: threading.Event | None = None
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
                    "mediaType": "application/vnd.docker.container.image.v1+json",
                    "size": len(config),
                    "digest": sha256(config),
                },
                "layers": [
                    {
                        "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
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
            if self.stall is not None:
                self.stall.wait(30)
            return 200, "application/octet-stream", self.blobs[last]
        missing = {
            "errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]
        }
        return 404, "application/json", json.dumps(missing).encode()


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
            if self.command == "GET":
                self.wfile.write(body)

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
