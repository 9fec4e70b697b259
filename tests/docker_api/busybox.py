"""The root file system of an image that holds a static busybox and its usual names."""

import io
import shutil
import tarfile
from pathlib import Path

NAMES = ("sh", "sleep", "cat", "echo", "printf", "tail", "dd", "kill")


def busybox_archive() -> io.BytesIO:
    """An uncompressed tar file, to be imported."""
    program = shutil.which("busybox")
    assert program is not None
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(Path(program).resolve(), "bin/busybox")
        for name in NAMES:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
    buffer.seek(0)
    return buffer
