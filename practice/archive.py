"""RootArchive: writes the root file system of an image into a tar file, each name once."""

import io
import pathlib
import tarfile
from typing import BinaryIO

EVERYBODY_WRITES = frozenset({"tmp"})


class RootArchive:
    """Adds files with plain owners and modes; each directory once, before its content."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._known: set[str] = set()

    def directory(self, name: str) -> None:
        """Add a directory and its parents, unless they are there."""
        name = name.strip("/")
        if not name or name in self._known:
            return
        self.directory(name.rpartition("/")[0])
        self._known.add(name)
        entry = tarfile.TarInfo(name)
        entry.type = tarfile.DIRTYPE
        entry.mode = 0o1777 if name in EVERYBODY_WRITES else 0o755
        self._archive.addfile(entry)

    def file(
        self, source: pathlib.Path, target: str, *, executable: bool = False
    ) -> None:
        """Add the content of a file of this machine with its time."""
        name = self._entry(target)
        if name is None:
            return
        about = source.stat()
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime = about.st_size, int(about.st_mtime)
        entry.mode = 0o755 if executable else 0o644
        with source.open("rb") as content:
            self._archive.addfile(entry, content)

    def text(self, target: str, text: str, *, executable: bool = False) -> None:
        """Add a file of these words."""
        name = self._entry(target)
        if name is None:
            return
        entry = tarfile.TarInfo(name)
        data = text.encode()
        entry.size = len(data)
        entry.mode = 0o755 if executable else 0o644
        self._archive.addfile(entry, io.BytesIO(data))

    def link(self, target: str, to: str) -> None:
        """Add a symbolic link."""
        name = self._entry(target)
        if name is None:
            return
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = tarfile.SYMTYPE, to
        self._archive.addfile(entry)

    def member(self, entry: tarfile.TarInfo, content: BinaryIO | None) -> None:
        """Add an entry of another archive under the name that it has now."""
        if entry.isdir():
            self.directory(entry.name)
            return
        name = self._entry(entry.name)
        if name is not None:
            entry.name = name
            self._archive.addfile(entry, content)

    def has(self, target: str) -> bool:
        """Whether the name is there."""
        return target.strip("/") in self._known

    def _entry(self, target: str) -> str | None:
        """Make the parents of ``target``; ``None`` when it is there already."""
        name = target.strip("/")
        if name in self._known:
            return None
        self.directory(name.rpartition("/")[0])
        self._known.add(name)
        return name
