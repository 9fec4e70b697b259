"""``manage.py import_model``: what the import page does with a directory of a host, in one line."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from deployments.models import Cluster, Host, TargetModel, User
from deployments.planning.documents import to_document
from deployments.planning.model_config.reading import read_model
from deployments.services.catalog import load_shipped_catalog
from tests.factories import HostFactory
from tests.host_rows import ModelDirectoryFactory
from tests.planning.model_config.configs import DEEPSEEK, EAGLE3, index

WEIGHTS = index("model.layers.61.eh_proj.weight", size=688_586_727_753)
PLACE = "/data/models/My-DeepSeek"
HEAD = "/data/models/My-Head"


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A host of alice's team with a target and a drafter that a worker has read."""
    host: Host = HostFactory.create(cluster=cluster, name="gpu-1", platform="nvidia")
    for path, reading in (
        (PLACE, read_model(DEEPSEEK, WEIGHTS)),
        (HEAD, read_model(EAGLE3)),
    ):
        ModelDirectoryFactory.create(host=host, path=path, reading=to_document(reading))
    return host


def _run(*words: str, person: str = "alice", host: str = "gpu-1", **more: Any) -> str:
    out = StringIO()
    call_command("import_model", *words, host=host, person=person, stdout=out, **more)
    return out.getvalue()


def test_a_directory_becomes_an_entry_of_the_team(host: Host, alice: User) -> None:
    said = _run(
        f"{PLACE}/", "--key", "own/deepseek", "--answer", "parameters=671000000000"
    )
    assert said == "own/deepseek is in the catalog of Serving platform.\n"
    row = TargetModel.objects.get(team=host.cluster.team, key="own/deepseek")
    assert row.document["sources"]["parameters"] == "stated at the import"
    checkpoint = row.checkpoints.get()
    assert (checkpoint.holds_mtp, checkpoint.size_bytes) == (True, 688_586_727_753)
    assert row.document["checkpoints"][0]["directory"] == "My-DeepSeek"


def test_what_nothing_tells_is_named_not_guessed(host: Host, alice: User) -> None:
    answer = json.loads(_run(PLACE, "--json"))
    assert answer["model"] == "My-DeepSeek"
    assert [one["name"] for one in answer["asked"]] == ["parameters"]


def test_a_drafter_is_bound_to_the_model_that_it_drafts_for(
    host: Host, alice: User
) -> None:
    load_shipped_catalog()
    key = "meta-llama/Llama-3.1-8B-Instruct"
    _run(HEAD, "--drafts-for", key, "--method", "eagle3")
    row = TargetModel.objects.get(team=host.cluster.team, key=key)
    assert row.document["drafters"][0]["directory"] == "My-Head"
    with pytest.raises(CommandError, match="It does not fit DeepSeek"):
        _run(HEAD, "--drafts-for", "deepseek-ai/DeepSeek-V3.1", "--method", "eagle3")


@pytest.mark.usefixtures("alice", "bob", "charlie")
@pytest.mark.parametrize(
    ("words", "more", "told"),
    [
        ([PLACE], {"person": "nobody"}, "There is no active person nobody"),
        ([PLACE], {"person": "charlie"}, "There is no host gpu-1"),
        ([PLACE], {"person": "bob"}, "Operator"),
        ([PLACE], {"host": "gpu-2"}, "There is no host gpu-2"),
        ([PLACE, "--key", "a b"], {}, "organisation/model"),
        ([PLACE, "--platforms", "tpu"], {}, "platforms: "),
        ([PLACE, "--answer", "layers=2"], {}, "with one of: parameters"),
        ([PLACE, "--answer", "parameters=many"], {}, "not a whole number"),
        ([HEAD], {}, "name the model that it drafts for"),
        ([HEAD, "--drafts-for", "a/b"], {}, "The catalog has no model a/b"),
    ],
)
def test_what_cannot_be_kept_is_one_sentence(
    host: Host, words: list[str], more: dict[str, Any], told: str
) -> None:
    with pytest.raises(CommandError, match=told) as refused:
        _run(*words, **more)
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)
    assert not TargetModel.objects.filter(team=host.cluster.team).exists()
