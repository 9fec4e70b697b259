"""Files that exist in memory only, for programs and libraries that take keys by path (Linux 3.17)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory_file(content: str) -> Iterator[str]:
    """The path of an anonymous file that only this account can read, and that ends with the block."""
    handle = os.memfd_create("draftboard", os.MFD_CLOEXEC)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, content.encode())
        yield f"/proc/{os.getpid()}/fd/{handle}"
    finally:
        os.close(handle)
