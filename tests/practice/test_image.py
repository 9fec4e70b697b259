"""The root file system: complete, small, and the same on every machine where it matters."""

import sys
import tarfile
from pathlib import Path

import pytest

from practice import image
from practice.elf import ElfError, interpreter, shared_libraries
from practice.engine.arguments import VERSION

LARGEST_BYTES = 90 * 1024 * 1024


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("image") / "rootfs.tar"
    image.write_root_filesystem(path)
    return path


@pytest.fixture(scope="module")
def entries(packed: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(packed) as archive:
        return {entry.name: entry for entry in archive}


def test_image_is_small(packed: Path) -> None:
    assert packed.stat().st_size < LARGEST_BYTES


def test_every_parent_comes_before_its_content(packed: Path) -> None:
    seen: set[str] = set()
    with tarfile.open(packed) as archive:
        for entry in archive:
            parent = entry.name.rpartition("/")[0]
            assert not parent or parent in seen
            assert entry.name not in seen
            assert (entry.uid, entry.gid) == (0, 0)
            seen.add(entry.name)


def test_every_link_leads_to_a_packed_file(
    entries: dict[str, tarfile.TarInfo],
) -> None:
    for entry in entries.values():
        if entry.issym():
            folder = entry.name.rpartition("/")[0]
            target = entry.linkname.lstrip("/")
            whole = target if entry.linkname.startswith("/") else f"{folder}/{target}"
            assert whole in entries, entry.name


def test_everything_can_be_read_by_any_user(
    entries: dict[str, tarfile.TarInfo],
) -> None:
    assert all(entry.issym() or entry.mode & 0o004 for entry in entries.values())
    assert entries["opt/practice/vllm"].mode & 0o111
    assert entries["tmp"].mode == 0o1777


def test_program_starts_with_the_packed_interpreter(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        file = archive.extractfile("opt/practice/vllm")
        assert file is not None
        shebang = file.readline().decode()
    assert shebang == "#!/opt/python/bin/python3 -IS\n"


def test_loader_and_libraries_of_the_interpreter_are_packed(
    entries: dict[str, tarfile.TarInfo],
) -> None:
    program = Path(sys.executable).resolve()
    loader = interpreter(program)
    names = {name.rpartition("/")[2] for name in entries}
    assert loader is None or loader.lstrip("/") in entries
    assert set(shared_libraries([program])) <= names


def test_what_ends_a_thread_is_packed_beside_the_c_library(
    entries: dict[str, tarfile.TarInfo],
) -> None:
    """Without it a stopping engine is aborted whenever a thread of it still waits."""
    (c_library,) = (name for name in entries if name.endswith("/libc.so.6"))
    assert f"{c_library.rpartition('/')[0]}/libgcc_s.so.1" in entries


def test_engine_is_packed_with_its_data(entries: dict[str, tarfile.TarInfo]) -> None:
    folder = Path(image.__file__).parent
    wanted = {
        f"opt/practice/{path.relative_to(folder).as_posix()}"
        for path in (folder / "engine").rglob("*")
        if path.suffix in (".py", ".txt")
    }
    assert wanted <= set(entries)


def test_import_changes_and_reference_name_the_version() -> None:
    assert image.PRACTICE_IMAGE.endswith(f":{VERSION}")
    assert "LABEL draftboard.practice=true" in image.IMPORT_CHANGES
    assert 'ENTRYPOINT ["vllm", "serve"]' in image.IMPORT_CHANGES


def test_unwritable_path_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(image.PackingError, match="cannot be packed on this machine"):
        image.write_root_filesystem(tmp_path / "missing" / "rootfs.tar")


def test_a_script_is_no_program(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(ElfError, match="not a 64-bit ELF"):
        interpreter(script)
