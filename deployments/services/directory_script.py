"""Looks at model directories from inside a container: its text runs there, with Python alone.

Needs Python 3.9 and nothing else. What lies in the directories is somebody else's: names and
contents are told, links are never followed out of what was mounted, and all that is read or told
has a limit. The answer is one JSON document between two marks, packed, with its checksum.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import stat
import struct
import sys
import time
import zlib
from pathlib import Path
from typing import Any

MOST_ENTRIES = 20_000
MOST_TOLD = 500
MOST_FILES = 2000
MOST_TENSORS = 20_000
MOST_LINKS = 8
LONGEST_NAME = 255
LARGEST_CONFIG = 1 << 20
LARGEST_HEADER = 32 << 20
LARGEST_TOLD = 32 << 20
LARGEST_TENSOR = 1 << 50
MOST_MEMORY = 2 << 30
LINE = 8000
LENGTH_BYTES = 8
CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
INDEX_END = ".index.json"
TENSORS_END = ".safetensors"
WEIGHTS = re.compile(r"\.(safetensors|bin|pt|pth|gguf)$")
NUMBERED = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.safetensors$")
EXPERT = re.compile(r"(^|\.)experts\.\d+\.")
POINTER = b"version https://git-lfs"
SHAPE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError)
"""What reading a document of an unknown shape may raise."""

Told = dict[str, Any]


class LateError(Exception):
    """The time that the looking may take is over."""


class OddError(Exception):
    """Something is not what it should be; the argument is a code."""


class Look:
    """One look at a mounted root, which the host calls ``source``, for some seconds."""

    def __init__(self, root: str, source: str, seconds: float) -> None:
        self.root = Path(root).resolve()
        self.source = source
        self.until = time.monotonic() + seconds

    def all(self, only: list[str]) -> Told:
        """The models one or two levels below the root, or the named directories alone."""
        told: Told = {"entries": 0, "others": 0, "cut": "", "problem": ""}
        found: list[Told] = []
        told["directories"] = found
        try:
            names = only or _names(self.root)
        except OSError:
            return {**told, "problem": "unreadable"}
        told["entries"] = len(names)
        if len(names) > MOST_ENTRIES:
            told["cut"] = "entries"
        with contextlib.suppress(LateError):
            told["cut"] = self._walk(names[:MOST_ENTRIES], found, told) or told["cut"]
            return told
        told["cut"] = "time"
        return told

    def _walk(self, names: list[str], found: list[Told], told: Told) -> str:
        """Fill ``found``; says what cut it short."""
        size = 0
        for name in names:
            inner = [name]
            one = self._directory(name)
            if one is None:
                told["others"] += 1
                inner = self._inside(name)
            for each in inner:
                one = one if each == name else self._directory(each)
                if one is None or (one["config"] is None and each != name):
                    continue
                size += len(json.dumps(one))
                if len(found) >= MOST_TOLD or size > LARGEST_TOLD:
                    return "directories"
                found.append(one)
        return ""

    def _inside(self, name: str) -> list[str]:
        """Directories of a directory that is no model itself, such as an organisation's."""
        try:
            return [f"{name}/{one}" for one in _names(self._place(self.root / name))]
        except (OSError, OddError):
            return []

    def _directory(self, name: str) -> Told | None:
        """What one directory shows; ``None`` where nothing says that it is a model."""
        self._in_time()
        shown, odd = written(name)
        told: Told = {"name": shown, "odd": odd, "problem": "", "config": None}
        told |= {"config_problem": "", "index": None, "files": [], "tensors": None}
        try:
            folder = self._place(self.root / name)
            if not folder.is_dir():
                return None
            names = _names(folder)
        except OddError as error:
            return {**told, "problem": str(error)}
        except FileNotFoundError:
            return {**told, "problem": "missing"}
        except OSError:
            return {**told, "problem": "unreadable"}
        weights = [one for one in names if WEIGHTS.search(one)]
        if CONFIG not in names and not weights:
            return None
        told["config"], told["config_problem"] = _config(folder)
        told["index"] = _index(folder, names)
        self._weights(folder, loaded(weights, told["index"]), told)
        return told

    def _weights(self, folder: Path, names: list[str], told: Told) -> None:
        tensors: dict[str, int] = {}
        files = [self._judged(folder, one, tensors) for one in names[:MOST_FILES]]
        told["files"] = files
        whole = len(names) <= MOST_FILES and len(tensors) <= MOST_TENSORS
        if tensors and whole and not any(one[3] for one in files):
            told["tensors"] = {written(one)[0]: size for one, size in tensors.items()}

    def _judged(self, folder: Path, name: str, tensors: dict[str, int]) -> list[Any]:
        """[name, size, size that its header implies, code of what is wrong]."""
        self._in_time()
        shown, odd = written(name)
        try:
            if odd or "/" in name:
                return [shown, None, None, "odd_name"]
            size, wanted = _sizes(plain_file(folder, name), name, tensors)
        except OddError as error:
            return [shown, None, None, str(error)]
        except FileNotFoundError:
            return [shown, None, None, "missing"]
        except OSError:
            return [shown, None, None, "unreadable"]
        return [shown, size, wanted, ""]

    def _place(self, path: Path) -> Path:
        """Where a directory really lies. The engine follows links of the host, so they are mapped."""
        for _ in range(MOST_LINKS):
            if not path.is_symlink():
                break
            target = str(path.readlink())
            if target.startswith(f"{self.source}/"):
                target = f"{self.root}{target[len(self.source) :]}"
            path = path.parent / target
        real = path.resolve()
        if self.root != real and self.root not in real.parents:
            raise OddError("link_out")
        real.stat()
        return real

    def _in_time(self) -> None:
        if time.monotonic() > self.until:
            raise LateError


def plain_file(folder: Path, name: str) -> Path:
    """A plain file of the directory: the engine mounts only that, and a pipe never answers."""
    path = folder / name
    real = path.resolve()
    if path.is_symlink() and (
        path.readlink().is_absolute() or folder not in real.parents
    ):
        raise OddError("link_out")
    if not stat.S_ISREG(real.stat().st_mode):
        raise OddError("no_file")
    return real


def loaded(weights: list[str], index: Told | None) -> list[str]:
    """The files that an engine loads: those of the index, else all, with the missing numbers."""
    named: list[str] = list(index["files"]) if index else []
    if index and named and index["name"] == INDEX:
        return named
    tensors = [one for one in weights if one.endswith(TENSORS_END)]
    if any(not one.startswith("consolidated") for one in tensors):
        tensors = [one for one in tensors if not one.startswith("consolidated")]
    for match in filter(None, map(NUMBERED.match, tensors)):
        first, _number, last = match.groups()
        most = min(int(last), MOST_FILES)
        numbers = range(1, most + 1)
        named += [f"{first}-{number:05d}-of-{last}{TENSORS_END}" for number in numbers]
    return sorted({*tensors, *named}) or weights


def written(name: str) -> tuple[str, bool]:
    """The name as text that can be kept, and whether that differs from the name."""
    try:
        raw = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = name.encode("utf-8", "backslashreplace")
    shown = raw.decode("utf-8", "backslashreplace")
    if not shown.isprintable():
        shown = shown.encode("unicode_escape").decode()
    shown = shown[:LONGEST_NAME]
    return shown, shown != name


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def _content(folder: Path, name: str, most: int) -> bytes:
    with plain_file(folder, name).open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OddError("large")
    return content


def _config(folder: Path) -> tuple[str | None, str]:
    try:
        return _content(folder, CONFIG, LARGEST_CONFIG).decode("utf-8-sig"), ""
    except OddError as error:
        return None, str(error)
    except FileNotFoundError:
        return None, "missing"
    except OSError:
        return None, "unreadable"
    except ValueError:
        return None, "no_text"


def _index(folder: Path, names: list[str]) -> Told | None:
    """The index that names the files, ``None`` without one."""
    found = [one for one in names if one.endswith(INDEX_END)]
    if not found:
        return None
    chosen = INDEX if INDEX in found else found[0]
    told: Told = {"name": written(chosen)[0], "sha256": "", "files": [], "problem": ""}
    told |= {"total_size": None, "total_parameters": None}
    try:
        content = _content(folder, chosen, LARGEST_HEADER)
        told["sha256"] = hashlib.sha256(content).hexdigest()
        document = json.loads(content.decode("utf-8-sig"))
        files = {written(str(one))[0] for one in document["weight_map"].values()}
        told["files"] = sorted(files)[:MOST_FILES]
        about = document.get("metadata")
        for key in ("total_size", "total_parameters"):
            value = about.get(key) if isinstance(about, dict) else None
            if isinstance(value, (int, float)) and 0 < value < LARGEST_TENSOR:
                told[key] = int(value)
    except OddError as error:
        told["problem"] = str(error)
    except OSError:
        told["problem"] = "unreadable"
    except SHAPE:
        told["problem"] = "no_index"
    return told


def _sizes(path: Path, name: str, tensors: dict[str, int]) -> tuple[int, int | None]:
    """Size, and the size that the header implies; adds the bytes of each tensor."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if not name.endswith(TENSORS_END) and file.read(len(POINTER)) != POINTER:
            return size, None
        file.seek(0)
        start = file.read(len(POINTER))
        if start == POINTER:
            raise OddError("pointer")
        if len(start) < LENGTH_BYTES:
            return size, LENGTH_BYTES
        (length,) = struct.unpack("<Q", start[:LENGTH_BYTES])
        if length > LARGEST_HEADER:
            raise OddError("large" if start[LENGTH_BYTES:][:1] == b"{" else "header")
        file.seek(LENGTH_BYTES)
        header = file.read(length)
    if len(header) < length:
        return size, LENGTH_BYTES + length
    return size, LENGTH_BYTES + length + _end(header, tensors)


def _end(header: bytes, tensors: dict[str, int]) -> int:
    """Where the data of the last tensor ends."""
    last = 0
    try:
        for name, one in json.loads(header.decode()).items():
            if name == "__metadata__":
                continue
            begin, end = one["data_offsets"]
            if type(begin) is not int or type(end) is not int:
                raise OddError("header")
            if not 0 <= begin <= end < LARGEST_TENSOR:
                raise OddError("header")
            last = max(last, end)
            same = EXPERT.sub(r"\1experts.0.", name)
            tensors[same] = tensors.get(same, 0) + end - begin
    except SHAPE:
        raise OddError("header") from None
    return last


def main(asked: Told) -> None:
    """Look, and print what was found between the marks."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not in every Python

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    look = Look(asked["root"], asked["source"], asked["seconds"])
    told = json.dumps(look.all(asked["only"])).encode()
    packed = zlib.compress(told, 6)
    text = base64.b64encode(packed).decode()
    sys.stdout.write(f"{asked['begin']} {hashlib.sha256(packed).hexdigest()}\n")
    for start in range(0, len(text), LINE):
        sys.stdout.write(f"{text[start : start + LINE]}\n")
    sys.stdout.write(f"{asked['end']}\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
