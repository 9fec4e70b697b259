"""The look at model directories as it runs in a container, here on this machine's own files."""

import json
import os
from pathlib import Path

import pytest

from deployments.planning.model_directory import (
    Cut,
    DirectoryState,
    FoundDirectory,
    Judgement,
    Listing,
    judge,
    read_listing,
    reading_of,
)
from deployments.planning.sizing.read_weights import weight_sizes_of
from deployments.services import directory_script
from deployments.services.directory_script import Look
from tests.model_files import DEEPSEEK, INDEX, model, shard, two_shards

SECOND = "model-00002-of-00002.safetensors"


def look(root: Path, *only: str, seconds: float = 20, source: str = "") -> Listing:
    told = Look(str(root), source or str(root), seconds).all(list(only))
    return read_listing(json.loads(json.dumps(told)))


def single(root: Path) -> FoundDirectory:
    (one,) = look(root).directories
    return one


def judged(root: Path) -> Judgement:
    found = single(root)
    return judge(found, f"/models/{found.name}")


def test_a_complete_model_is_read_with_every_tensor(tmp_path: Path) -> None:
    two_shards(tmp_path, "tiny")
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "empty").mkdir()
    listing = look(tmp_path)
    assert (listing.entries, listing.others, listing.cut) == (3, 2, None)
    (found,) = listing.directories
    assert judge(found, "/models/tiny") == Judgement(state=DirectoryState.COMPLETE)
    assert found.index is not None
    assert len(found.index.sha256) == 64
    assert found.tensors is not None
    assert sum(found.tensors.values()) == 2000
    files = (tmp_path / "tiny").glob("*.safetensors")
    assert found.weight_bytes == sum(one.stat().st_size for one in files)


def test_the_reading_has_exact_bytes_and_knows_of_mtp_tensors(tmp_path: Path) -> None:
    tensors = {
        "model.embed_tokens.weight": 100,
        "model.layers.0.mlp.experts.0.up_proj.weight": 1000,
        "model.layers.0.mlp.experts.1.up_proj.weight": 1000,
        "model.layers.0.mlp.shared_experts.up_proj.weight": 50,
        "model.layers.2.embed_tokens.weight": 100,
        "model.layers.2.eh_proj.weight": 30,
        "model.layers.2.mlp.experts.0.up_proj.weight": 500,
    }
    model(tmp_path, "deep", {"model.safetensors": tensors}, config=DEEPSEEK)
    found = single(tmp_path)
    reading = reading_of(found, "files on gpu-01, 2026-11-30")
    assert reading is not None
    assert reading.size_bytes == 2780
    assert reading.holds_mtp is True
    assert reading.source == "files on gpu-01, 2026-11-30"
    assert reading.question("size_bytes") is None
    assert found.tensors is not None
    sizes = weight_sizes_of(found.tensors, reading.layers)
    assert (sizes.total, sizes.experts, sizes.mtp) == (2780, 2000, 630)
    assert (sizes.mtp_experts, sizes.mtp_embeddings) == (500, 100)


@pytest.mark.parametrize(
    ("damage", "state", "said"),
    [
        (lambda it: (it / SECOND).unlink(), "incomplete", f"{SECOND} is missing in"),
        (lambda it: os.truncate(it / SECOND, 900), "incomplete", "it has 900 of 1"),
        (lambda it: os.truncate(it / SECOND, 20), "incomplete", "it has 20 of"),
        (lambda it: os.truncate(it / SECOND, 0), "incomplete", "it has 0 of 8 bytes"),
        (lambda it: (it / SECOND).write_bytes(shard({"a": 1}) + b"x"), "incomplete", "is damaged"),
        (lambda it: (it / SECOND).write_bytes(bytes(64)), "incomplete", "its header cannot"),
        (lambda it: (it / SECOND).write_bytes(b"\xff" * 64), "incomplete", "its header cannot"),
        (lambda it: (it / INDEX).write_text("{"), "incomplete", "cannot be read as what"),
        (lambda it: (it / "config.json").unlink(), "incomplete", "config.json is missing"),
        (
            lambda it: (it / SECOND).write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
            "incomplete",
            "a pointer of Git LFS",
        ),
    ],
)  # fmt: skip
def test_damage_is_found_and_named(
    tmp_path: Path, damage: object, state: str, said: str
) -> None:
    folder = two_shards(tmp_path, "tiny")
    assert callable(damage)
    damage(folder)
    found = judged(tmp_path)
    assert found.state == state
    assert said in found.problem
    assert "/models/tiny" in found.problem
    assert found.fix


def test_without_an_index_the_numbers_in_names_tell_what_is_missing(
    tmp_path: Path,
) -> None:
    folder = two_shards(tmp_path, "tiny")
    (folder / INDEX).unlink()
    assert judged(tmp_path).state is DirectoryState.COMPLETE
    (folder / "model-00001-of-00002.safetensors").unlink()
    assert "model-00001-of-00002.safetensors is missing" in judged(tmp_path).problem


def test_a_pipe_and_links_are_told_and_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "config.json").write_text('{"secret": 1}')
    root = tmp_path / "models"
    folder = two_shards(root, "tiny")
    (folder / SECOND).unlink()
    os.mkfifo(folder / SECOND)
    (root / "away").symlink_to(secret)
    (root / "inner").symlink_to("tiny")
    (root / "mapped").symlink_to("/data/models/tiny")
    (root / "gone").symlink_to("nowhere")
    listing = look(root, source="/data/models")
    found = {one.name: judge(one, f"/m/{one.name}") for one in listing.directories}
    assert "is a link that leads out" in found["away"].problem
    assert "secret" not in str(listing)
    assert "is no plain file" in found["tiny"].problem
    assert found["inner"].problem == found["tiny"].problem.replace("tiny", "inner")
    assert found["mapped"].problem == found["tiny"].problem.replace("tiny", "mapped")
    assert "is not there" in found["gone"].problem
    (folder / SECOND).unlink()
    (folder / SECOND).symlink_to(secret / "config.json")
    assert (
        "leads out of the directory" in judge(look(root).directories[-1], "/m").problem
    )


def test_hostile_names_and_contents_stay_text(tmp_path: Path) -> None:
    bad = tmp_path / os.fsdecode(b"bad-\xff-name")
    bad.mkdir()
    (bad / "config.json").write_text("{}")
    folder = two_shards(tmp_path, "line\nbreak<script>")
    index = {"weight_map": {"a": "../../etc/passwd", "b": "x\u0000y", "c": "\ud800"}}
    (folder / INDEX).write_text(json.dumps(index))
    deep = model(tmp_path, "deep")
    (deep / "config.json").write_text("[" * 100_000)
    (deep / "model.safetensors").write_bytes(
        len(b"[" * 100_000).to_bytes(8, "little") + b"[" * 100_000
    )
    found = {one.name: one for one in look(tmp_path).directories}
    assert found["bad-\\xff-name"].odd
    assert found["line\\nbreak<script>"].odd
    files = {name: code for name, _s, _w, code in found["line\\nbreak<script>"].files}
    assert files["../../etc/passwd"] == "odd_name"
    assert files["x\\x00y"] == "missing"
    assert reading_of(found["deep"], "x") is None
    assert found["deep"].files[0][3] == "header"


def test_organisations_hold_models_one_level_below(tmp_path: Path) -> None:
    two_shards(tmp_path, "Qwen/Qwen3-8B")
    (found,) = look(tmp_path).directories
    assert found.name == "Qwen/Qwen3-8B"


def test_ten_thousand_entries_are_looked_at_and_the_answer_is_bounded(
    tmp_path: Path,
) -> None:
    for number in range(10_000):
        (tmp_path / f"d{number:05d}").mkdir()
    two_shards(tmp_path, "zz")
    listing = look(tmp_path)
    assert (listing.entries, listing.others, listing.cut) == (10_001, 10_000, None)
    assert [one.name for one in listing.directories] == ["zz"]
    assert look(tmp_path, seconds=-1).cut is Cut.TIME


def test_more_models_than_are_told_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_script, "MOST_TOLD", 2)
    for name in "abc":
        model(tmp_path, name)
    listing = look(tmp_path)
    assert [one.name for one in listing.directories] == ["a", "b"]
    assert listing.cut is Cut.DIRECTORIES
