"""Read on in a log file inside a container, by the engine's archive call: nothing runs in it.

The engine can only answer the file from its start, so its size and time of change are asked for
first and a file that has not changed costs nothing. An archive has no file numbers: a file is taken
to be the same while it begins with the same bytes and the bytes read last are still before the
place where reading goes on. Otherwise it was truncated or another took its place; what was left
unread is then looked for in ``path.1``, and is missing where that is no continuation either.
"""

import base64
import binascii
import json
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import IO

from requests import Response

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.planning.text import text

HEAD_BYTES = 1024
TAIL_BYTES = 256
CONTEXT_BYTES = 16 * 1024
MOST_BYTES = 16 * 1024 * 1024
LARGEST_FILE = 4 * 1024 * 1024 * 1024
PIECE = 1024 * 1024
ROTATED_SUFFIX = ".1"
_NOT_REGULAR = 0x8F280000
"""The bits of Go's file mode that make something else of a file: directory, link, device, pipe."""
_STAT = "X-Docker-Container-Path-Stat"


class NoLogFileError(DockerApiError):
    """There is something at the path, but no plain file that is read."""

    code = "no_log_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCursor:
    """How far a file was read: bytes, and SHA-256 of its first bytes and of those read last."""

    offset: int = 0
    head_hash: str = ""
    tail_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What the engine says of a file; ``modified_ns`` since 1970."""

    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIncrement:
    """Whole lines since the cursor, as bytes; ``before`` was read earlier, for what it explains.

    ``rotated`` says that the file is another one than before, ``lost`` that lines between the two
    may never have been read. ``more`` says that another read would find more.
    """

    data: bytes
    before: bytes
    cursor: FileCursor
    rotated: bool = False
    lost: bool = False
    more: bool = False


def stat_file(engine: Engine, container_id: str, path: str) -> FileStat | None:
    """Look at a file of a container that need not run; ``None`` without one.

    Raises:
        NoLogFileError: it is no plain file, or larger than ``LARGEST_FILE``.
        DockerApiError: the engine does not answer or answers another error.
    """
    act = text("look at {path}", path=path)
    with translated(engine.host, act):
        answer = engine.api.head(
            engine.url(f"/containers/{container_id}/archive"),
            params={"path": path},
            timeout=engine.api.timeout,
        )
    if answer.status_code == HTTPStatus.NOT_FOUND:
        return None
    if answer.status_code >= HTTPStatus.BAD_REQUEST:
        raise from_answer(engine.host, act, answer.status_code, "")
    stat = _stat(answer.headers.get(_STAT, ""))
    if stat is None or stat.size > LARGEST_FILE:
        raise _no_log_file(engine, path)
    return stat


def _stat(header: str) -> FileStat | None:
    try:
        found = json.loads(base64.b64decode(header, validate=True))
        size, mode, modified = found["size"], found["mode"], found["mtime"]
    except (binascii.Error, ValueError, KeyError, TypeError):
        return None
    if not isinstance(size, int) or not isinstance(mode, int) or mode & _NOT_REGULAR:
        return None
    return FileStat(size=size, modified_ns=_nanoseconds(str(modified)))


def _nanoseconds(stamp: str) -> int:
    found = timestamp_ns(stamp)
    if found is not None:
        return found
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) * 10**9


def read_on(
    engine: Engine,
    container_id: str,
    path: str,
    cursor: FileCursor,
    *,
    final: bool = False,
) -> FileIncrement | None:
    """Read whole lines from the cursor on, at most 16 MB; ``None`` where there is no such file.

    After a rotation the rest of the old file comes first, with a cursor that makes the next read
    begin the new one; ``final`` takes a last line without newline.

    Raises:
        NoLogFileError: it is no plain file, or larger than ``LARGEST_FILE``.
        DockerApiError: the engine does not answer or answers another error.
    """
    found = _read(engine, container_id, path, cursor, final=final)
    if found is None or not found.rotated:
        return found
    rest = _read(engine, container_id, path + ROTATED_SUFFIX, cursor, final=True)
    if rest is None or rest.rotated:
        return FileIncrement(
            data=found.data,
            before=b"",
            cursor=found.cursor,
            rotated=True,
            lost=True,
            more=found.more,
        )
    if rest.more:
        return rest
    return FileIncrement(
        data=rest.data,
        before=rest.before,
        cursor=FileCursor(),
        rotated=True,
        more=True,
    )


def _read(
    engine: Engine, container_id: str, path: str, cursor: FileCursor, *, final: bool
) -> FileIncrement | None:
    act = text("read {path}", path=path)
    with (
        translated(engine.host, act),
        engine.api.get(
            engine.url(f"/containers/{container_id}/archive"),
            params={"path": path},
            # Else the engine compresses what is thrown away for the most part.
            headers={"Accept-Encoding": "identity"},
            stream=True,
            timeout=engine.api.timeout,
        ) as answer,
    ):
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            content = next(answer.iter_content(PIECE), b"")
            raise from_answer(engine.host, act, answer.status_code, message_of(content))
        try:
            return _unpacked(engine, answer, path, cursor, final=final)
        except tarfile.TarError as error:
            # It shrank while the engine packed it: the next look sees another file.
            raise _no_log_file(engine, path) from error


def _unpacked(
    engine: Engine, answer: Response, path: str, cursor: FileCursor, *, final: bool
) -> FileIncrement:
    with tarfile.open(fileobj=answer.raw, mode="r|", bufsize=PIECE) as archive:
        member = archive.next()
        file = archive.extractfile(member) if member and member.isreg() else None
        if member is None or file is None or member.size > LARGEST_FILE:
            raise _no_log_file(engine, path)
        return increment_of_file(file, member.size, cursor, final=final)


def increment_of_file(
    file: IO[bytes], size: int, cursor: FileCursor, *, final: bool = False
) -> FileIncrement:
    """Read on in an open file of ``size`` bytes, or from its start where it is another one."""
    offset = cursor.offset
    before = b""
    head = b""
    same = offset <= size
    if same and offset:
        head, before = _up_to(file, offset)
        same = (
            _hash(head) == cursor.head_hash
            and _hash(before[-TAIL_BYTES:]) == cursor.tail_hash
        )
    if not same:
        # Only what was read of it is known, so it is read again from the start on the next look.
        return FileIncrement(
            data=b"", before=b"", cursor=FileCursor(), rotated=True, more=size > 0
        )
    data = file.read(min(MOST_BYTES, size - offset))
    more = offset + len(data) < size
    cut = data.rfind(b"\n") + 1
    if not more and final:
        cut = len(data)
    if more and not cut:
        cut = len(data)
    data = data[:cut]
    read = offset + cut
    head = (head + data)[:HEAD_BYTES]
    return FileIncrement(
        data=data,
        before=before,
        cursor=FileCursor(
            offset=read,
            head_hash=_hash(head),
            tail_hash=_hash((before + data)[-TAIL_BYTES:]),
        )
        if read
        else cursor,
        more=more,
    )


def _up_to(file: IO[bytes], offset: int) -> tuple[bytes, bytes]:
    """The first bytes and the last before the offset; the rest goes by."""
    head = file.read(min(HEAD_BYTES, offset))
    last, left = head, offset - len(head)
    while left > 0:
        piece = file.read(min(PIECE, left))
        if not piece:
            break
        last = (last + piece)[-CONTEXT_BYTES:] if len(piece) < CONTEXT_BYTES else piece
        left -= len(piece)
    return head, last[-CONTEXT_BYTES:]


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest() if data else ""


def _no_log_file(engine: Engine, path: str) -> NoLogFileError:
    return NoLogFileError(
        text(
            "{path} on {host} is no plain file that a log could be read from.",
            path=path,
            host=engine.host,
        )
    )
