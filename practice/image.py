"""Image: the root file system of the practice image, packed from this machine's own Python."""

import os
import pathlib
import shutil
import sys
import sysconfig
import tarfile
from collections.abc import Iterator

from practice.archive import RootArchive
from practice.elf import ElfError, interpreter, shared_libraries

PRACTICE_IMAGE = "draftboard/practice-vllm:0.32.0"
IMPORT_CHANGES = (
    "ENV PATH=/usr/local/bin:/opt/python/bin:/usr/bin:/bin",
    'ENTRYPOINT ["vllm", "serve"]',
    "CMD []",
    "EXPOSE 8000",
    "LABEL draftboard.practice=true",
    "LABEL org.opencontainers.image.version=0.32.0",
)
PYTHON = "/opt/python"
OPENED_BY_NAME = (
    "libnss_files.so.2",
    "libnss_dns.so.2",
    "libresolv.so.2",
    "libgcc_s.so.1",
)
SHEBANG = f"#!{PYTHON}/bin/python3 -IS\n"
SOURCE = pathlib.Path(__file__).parent
DROPPED_PACKAGES = frozenset(
    [
        "test",
        "tests",
        "idlelib",
        "tkinter",
        "turtledemo",
        "ensurepip",
        "lib2to3",
        "pydoc_data",
        "distutils",
        "venv",
        "site-packages",
        "dist-packages",
        "unittest",
        "curses",
        "dbm",
        "sqlite3",
        "wsgiref",
        "xmlrpc",
        "asyncio",
        "multiprocessing",
    ]
)
DROPPED_MODULES = [
    "_ctypes_test",
    "_curses",
    "_dbm",
    "_gdbm",
    "_hashlib",
    "_lzma",
    "_sqlite3",
    "_ssl",
    "_test",
    "_tkinter",
    "_xx",
    "_codecs_",
    "nis",
    "ossaudiodev",
    "readline",
    "xx",
]
BUSYBOX_LINKS = [
    "sh",
    "cat",
    "ls",
    "sleep",
    "ps",
    "wget",
    "env",
    "kill",
    "tail",
    "head",
    "grep",
    "id",
    "true",
    "false",
    "nc",
    "df",
    "free",
    "mount",
    "rm",
    "mkdir",
    "touch",
    "dd",
    "top",
    "date",
    "hostname",
    "uname",
    "echo",
    "test",
]
BASH = '#!/bin/busybox sh\nexec /bin/busybox sh "$@"\n'
ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
GROUP = "root:x:0:\nnogroup:x:65534:\n"


class PackingError(RuntimeError):
    """This machine's Python cannot be packed; says what is missing."""


def write_root_filesystem(path: pathlib.Path | str) -> None:
    """Write the root file system as an uncompressed tar file, about 30 to 60 MB in a second.

    Import it with ``IMPORT_CHANGES`` and the reference ``PRACTICE_IMAGE``.

    Raises:
        PackingError: the interpreter, its standard library or a shared library is not found.
    """
    try:
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
            _RootFileSystem(RootArchive(archive)).write()
    except (ElfError, OSError) as error:
        raise PackingError(
            f"The practice image cannot be packed on this machine: {error}"
        ) from error


class _RootFileSystem:
    """Fills the archive."""

    def __init__(self, archive: RootArchive) -> None:
        self._archive = archive

    def write(self) -> None:
        for name in (
            "root",
            "tmp",
            "var",
            "etc",
            "proc",
            "sys",
            "dev",
            "run",
            "models",
        ):
            self._archive.directory(name)
        self._archive.text("etc/passwd", ACCOUNTS)
        self._archive.text("etc/group", GROUP)
        self._archive.text("etc/nsswitch.conf", "hosts: files dns\n")
        self._python()
        self._engine()
        self._busybox()

    def _python(self) -> None:
        program = pathlib.Path(os.path.realpath(sys.executable))
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self._archive.file(program, f"{PYTHON}/bin/{version}", executable=True)
        self._archive.link(f"{PYTHON}/bin/python3", version)
        self._archive.link("usr/bin/python3", f"{PYTHON}/bin/{version}")
        library = pathlib.Path(sysconfig.get_path("stdlib"))
        target = f"{PYTHON}/{sys.platlibdir}/{version}"
        modules = [program]
        for source in _standard_library(library):
            inside = source.relative_to(library).as_posix()
            self._archive.file(source, f"{target}/{inside}")
            if source.suffix == ".so":
                modules.append(source)
        self._archive.directory(f"{target}/lib-dynload")
        self._libraries(program, modules)

    def _libraries(self, program: pathlib.Path, modules: list[pathlib.Path]) -> None:
        """Copy the loader and put every library beside the C library, where the loader looks."""
        loader = interpreter(program)
        if loader is None:
            return
        self._archive.file(
            pathlib.Path(os.path.realpath(loader)), loader, executable=True
        )
        libraries = shared_libraries(modules)
        beside = next(
            (
                file.parent
                for name, file in libraries.items()
                if name.startswith(("libc.so", "libc.musl"))
            ),
            pathlib.Path(loader).parent,
        )
        for name, file in libraries.items():
            self._archive.file(file.resolve(), f"{beside}/{name}", executable=True)
        # What the C library opens by name when it looks a name up or ends a thread.
        for name in OPENED_BY_NAME:
            if (beside / name).exists() and name not in libraries:
                self._archive.file((beside / name).resolve(), f"{beside}/{name}")

    def _engine(self) -> None:
        for name in ("vllm", "vllm-router", "curl"):
            text = (SOURCE / name).read_text()
            _, _, body = text.partition("\n")
            self._archive.text(f"opt/practice/{name}", SHEBANG + body, executable=True)
            self._archive.link(f"usr/local/bin/{name}", f"/opt/practice/{name}")
        self._archive.file(SOURCE / "__init__.py", "opt/practice/__init__.py")
        for source in sorted((SOURCE / "engine").rglob("*")):
            if source.suffix in (".py", ".txt"):
                inside = source.relative_to(SOURCE).as_posix()
                self._archive.file(source, f"opt/practice/{inside}")

    def _busybox(self) -> None:
        program = shutil.which("busybox")
        if program is None or interpreter(pathlib.Path(program)) is not None:
            return
        self._archive.file(
            pathlib.Path(os.path.realpath(program)), "bin/busybox", executable=True
        )
        for name in BUSYBOX_LINKS:
            self._archive.link(f"bin/{name}", "/bin/busybox")
        self._archive.link("usr/bin/env", "/bin/busybox")
        self._archive.text("bin/bash", BASH, executable=True)


def _standard_library(library: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files worth packing, compiled ones too: they make the start twice as fast."""
    if not (library / "os.py").is_file():
        raise PackingError(
            f"The practice image needs Python's standard library, but {library} has none."
        )
    for folder, names, files in os.walk(library):
        names[:] = sorted(
            name
            for name in names
            if name not in DROPPED_PACKAGES and not name.startswith("config-")
        )
        for name in sorted(files):
            if _is_packed(name):
                yield pathlib.Path(folder) / name


def _is_packed(name: str) -> bool:
    if name.endswith(".so"):
        return not name.startswith(tuple(DROPPED_MODULES))
    if name.endswith(".pyc"):
        return ".opt-" not in name
    return name.endswith(".py")
