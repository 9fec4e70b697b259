"""config.json and index of a model on a host, through a real Docker Engine; nothing runs there."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from deployments.docker_api.client import open_engine
from deployments.docker_api.containers import list_containers
from deployments.models import Host, TargetModel, TeamRole
from deployments.services.model_directories import (
    ModelDirectoryError,
    read_model_directory,
)
from tests.factories import HostFactory, member

pytestmark = pytest.mark.docker
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A model directory that the engine of the tests sees under the same path."""
    folder = tmp_path / "models"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "config.json").write_text(json.dumps(CONFIG))
    return folder


@pytest.fixture
def host(
    db: None, docker_host: str, practice_image_id: str, models: Path
) -> Iterator[Host]:
    """The engine of the tests as a host; what the reading made is gone afterwards."""
    yield HostFactory.create(
        name="here", docker_address=docker_host, model_root=str(models)
    )
    with open_engine(docker_host) as engine:
        assert list_containers(engine, label="draftboard.purpose=model-config") == ()


def test_files_are_read_and_the_container_is_gone(host: Host, models: Path) -> None:
    index = {"weight_map": {"model.embed_tokens.weight": "model.safetensors"}}
    found = read_model_directory(host, f"{models}/tiny/")
    assert json.loads(found.config) == CONFIG
    assert found.index is None
    (models / "tiny" / "model.safetensors.index.json").write_text(json.dumps(index))
    again = read_model_directory(host, f"{models}/tiny")
    assert again.index is not None
    assert json.loads(again.index) == index


def test_the_command_writes_what_the_catalog_takes(
    host: Host, models: Path, tmp_path: Path
) -> None:
    out = StringIO()
    target = tmp_path / "out"
    call_command(
        "read_model_directory",
        f"{models}/tiny",
        host=host.name,
        output=str(target),
        stdout=out,
    )
    assert "LlamaForCausalLM" in out.getvalue()
    assert json.loads((target / "config.json").read_text()) == CONFIG
    with pytest.raises(CommandError, match="There is no host elsewhere"):
        call_command("read_model_directory", f"{models}/tiny", host="elsewhere")


def test_a_directory_that_no_worker_has_read_is_imported(
    host: Host, models: Path
) -> None:
    member(host.cluster.team, "otto", TeamRole.OPERATOR)
    call_command(
        "import_model",
        f"{models}/tiny",
        host=host.name,
        person="otto",
        key="own/tiny",
        stdout=StringIO(),
    )
    row = TargetModel.objects.get(team=host.cluster.team, key="own/tiny")
    assert row.document["hidden_size"] == 64


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nothing", "has no directory"),
        ("empty", "holds no config.json"),
        ("linked", "is no plain file"),
        ("folder", "is no plain file"),
        ("large", "is no plain file"),
        ("../outside", "is outside the model directories"),
    ],
)
def test_what_is_no_model_says_why(
    host: Host, models: Path, place: str, told: str
) -> None:
    for name in ("empty", "linked", "folder", "large"):
        (models / name).mkdir()
    (models / "linked" / "config.json").symlink_to("/etc/passwd")
    (models / "folder" / "config.json").mkdir()
    (models / "large" / "config.json").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(ModelDirectoryError, match=told):
        read_model_directory(host, f"{models}/{place}")


def test_outside_of_what_plans_may_mount_nothing_is_read(host: Host) -> None:
    with pytest.raises(ModelDirectoryError, match="is outside the model directories"):
        read_model_directory(host, "/usr/share")
