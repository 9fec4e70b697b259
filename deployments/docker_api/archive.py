"""Small files out of a container and into one, by the engine's archive call: nothing has to run."""

import io
import tarfile
from http import HTTPStatus

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.planning.text import text

_PIECE = 64 * 1024
_FRAME = 64 * 1024
"""What a tar of one file has besides it: headers, long names, padding."""


class UnreadableFileError(DockerApiError):
    """There is something at the path, but no plain file of a size that is read."""

    code = "unreadable_file"


def read_file(
    engine: Engine, container_id: str, path: str, *, largest_bytes: int
) -> bytes | None:
    """Return the file at an absolute path of a container that need not run, ``None`` without one.

    Links are not followed: one could lead out of what was mounted.

    Raises:
        UnreadableFileError: it is a directory, a link or larger than ``largest_bytes``.
        DockerApiError: the engine does not answer or answers another error.
    """
    act = text("read {path}", path=path)
    with (
        translated(engine.host, act),
        engine.api.get(
            engine.url(f"/containers/{container_id}/archive"),
            params={"path": path},
            stream=True,
            timeout=engine.api.timeout,
        ) as answer,
    ):
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            content = next(answer.iter_content(_PIECE), b"")
            raise from_answer(engine.host, act, answer.status_code, message_of(content))
        packed = bytearray()
        for piece in answer.iter_content(_PIECE):
            packed += piece
            if len(packed) > largest_bytes + _FRAME:
                break
    return _unpacked(engine, bytes(packed), path, largest_bytes)


def _unpacked(engine: Engine, packed: bytes, path: str, largest_bytes: int) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            member = archive.next()
            if member is None or not member.isreg() or member.size > largest_bytes:
                raise _unreadable(engine, path, largest_bytes)
            file = archive.extractfile(member)
            content = b"" if file is None else file.read()
    except tarfile.TarError as error:
        raise _unreadable(engine, path, largest_bytes) from error
    if len(content) != member.size:
        raise _unreadable(engine, path, largest_bytes)
    return content


def _unreadable(engine: Engine, path: str, largest_bytes: int) -> UnreadableFileError:
    return UnreadableFileError(
        text(
            "{path} on {host} is no plain file of at most {most} bytes.",
            path=path,
            host=engine.host,
            most=largest_bytes,
        )
    )


def put_file(engine: Engine, container_id: str, path: str, content: bytes) -> None:
    """Write a small file into a container that is made but not started; everybody may read it.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    folder, _slash, name = path.rpartition("/")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(content), 0o444
        archive.addfile(member, io.BytesIO(content))
    act = text("write {path}", path=path)
    with translated(engine.host, act):
        answer = engine.api.put(
            engine.url(f"/containers/{container_id}/archive"),
            params={"path": folder or "/"},
            data=packed.getvalue(),
            timeout=engine.api.timeout,
        )
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise from_answer(
                engine.host, act, answer.status_code, message_of(answer.content)
            )
