"""Reads how much is free where a container's root and its mounts lie; runs inside a throw-away container.

Needs any Python 3 and nothing of the panel. The answer stands between two marks, packed.
"""

import base64
import hashlib
import json
import os
import sys
import zlib


def main(begin: str, end: str, paths: list[str]) -> None:
    """Write the bytes that a program without special rights may still write below each path."""
    free = {}
    for path in paths:
        found = os.statvfs(path)
        free[path] = found.f_bavail * found.f_frsize
    data = zlib.compress(json.dumps(free).encode())
    packed = base64.b64encode(data).decode()
    checksum = hashlib.sha256(data).hexdigest()
    sys.stdout.write(f"{begin} {checksum}\n{packed}\n{end}\n")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
