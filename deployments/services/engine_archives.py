"""The Python files of an engine out of a wheel or source archive, as text, nothing unpacked to disk."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from deployments.planning.engines.reading.reader import is_wanted
from deployments.services.errors import UseCaseError

LARGEST_FILE_BYTES = 4 * 1024 * 1024
LARGEST_TOTAL_BYTES = 256 * 1024 * 1024


class EngineArchiveError(UseCaseError):
    """The file is no wheel or source archive of an engine; the message says why."""

    code = "engine_archive"


def archive_files(path: Path) -> dict[str, str]:
    """Read the files that a profile needs, by path from the top of the package.

    Raises:
        EngineArchiveError: it cannot be read, is no archive, or holds none of the files.
    """
    try:
        files = dict(_limited(_members(path)))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise EngineArchiveError(
            _(
                "%(path)s is no whole wheel and no whole .tar.gz archive. Download it again."
            )
            % {"path": path}
        ) from error
    except OSError as error:
        raise EngineArchiveError(
            _("%(path)s cannot be read: %(reason)s.")
            % {"path": path, "reason": error.strerror or error}
        ) from error
    if not any(name.endswith(".py") for name in files):
        raise EngineArchiveError(
            _(
                "%(path)s holds no files of vllm or vllm-ascend. Give their wheel or source archive."
            )
            % {"path": path}
        )
    return files


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as wheel:
            for member in wheel.infolist():
                if is_wanted(member.filename) and _fits(member.file_size):
                    yield member.filename, wheel.read(member)
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            # Source archives have one folder at the top.
            name = entry.name.removeprefix("./").partition("/")[2]
            if entry.isfile() and is_wanted(name) and _fits(entry.size):
                content = archive.extractfile(entry)
                if content is not None:
                    yield name, content.read()


def _fits(size_bytes: int) -> bool:
    return size_bytes <= LARGEST_FILE_BYTES


def _limited(members: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, str]]:
    total = 0
    for name, content in members:
        total += len(content)
        if total > LARGEST_TOTAL_BYTES:
            raise EngineArchiveError(
                _(
                    "The archive holds more than 256 MB of Python files; that is no engine."
                )
            )
        yield name, content.decode("utf-8", errors="replace")
