"""ELF: which loader and which shared libraries a program of this machine needs."""

import pathlib
import re
import struct
import subprocess
from collections.abc import Iterable

PT_INTERP = 3
_RESOLVED = re.compile(r"^\s*(\S+) => (/\S+) \(0x", re.MULTILINE)
_MISSING = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)


class ElfError(RuntimeError):
    """A program whose libraries cannot be found on this machine."""


def interpreter(path: pathlib.Path) -> str | None:
    """Return the loader that a program asks for (``PT_INTERP``), ``None`` when it is static.

    Raises:
        ElfError: the file is no 64-bit little-endian ELF program.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ElfError(f"{path} is not a 64-bit ELF program.")
    offset = struct.unpack_from("<Q", data, 32)[0]
    size, count = struct.unpack_from("<HH", data, 54)
    for index in range(count):
        header = offset + index * size
        kind = struct.unpack_from("<I", data, header)[0]
        if kind == PT_INTERP:
            start = struct.unpack_from("<Q", data, header + 8)[0]
            length = struct.unpack_from("<Q", data, header + 32)[0]
            return data[start : start + length].rstrip(b"\0").decode()
    return None


def shared_libraries(paths: Iterable[pathlib.Path]) -> dict[str, pathlib.Path]:
    """Return soname -> file of every library that these programs and modules need, by ``ldd``.

    Raises:
        ElfError: ``ldd`` is missing, or a library is not found.
    """
    libraries: dict[str, pathlib.Path] = {}
    for path in paths:
        listing = _ldd(path)
        missing = _MISSING.findall(listing)
        if missing:
            raise ElfError(f"{path} needs {missing[0]}, which is not installed.")
        libraries.update(
            (name.rpartition("/")[2], pathlib.Path(file))
            for name, file in _RESOLVED.findall(listing)
        )
    return libraries


def _ldd(path: pathlib.Path) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a program of this machine, no shell
            ["ldd", str(path)],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except OSError as error:
        raise ElfError(
            "The program ldd is needed to pack the practice image."
        ) from error
    return done.stdout
