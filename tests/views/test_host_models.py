"""The model directories of a host: shown, asked for again, imported into the catalog, planned with."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from deployments.models import (
    Cluster,
    Host,
    ModelDirectory,
    ModelListing,
    TargetModel,
    Team,
)
from deployments.planning.documents import to_document
from deployments.planning.model_config.reading import read_model
from deployments.planning.snapshot import WeightSizes
from deployments.planning.text import text
from deployments.selectors.planning_inputs import host_snapshots
from deployments.services.model_requests import LIST_MODELS
from tests.factories import HostFactory
from tests.host_rows import ModelDirectoryFactory, ModelListingFactory
from tests.planning.model_config.configs import DEEPSEEK, EAGLE3, index
from tests.views.pages import HTMX, parsed, queries_for, text_of

IMPORT = "/catalog/import/"
SOURCE = "files on gpu-01, 2026-11-30"
WEIGHTS = index("model.layers.61.eh_proj.weight", size=688_586_727_753)


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A host with a model root."""
    made: Host = HostFactory.create(
        cluster=cluster, name="gpu-01", model_root="/data/models", platform="nvidia"
    )
    return made


def lies(
    host: Host, name: str, config: Any = DEEPSEEK, **values: Any
) -> ModelDirectory:
    """A directory that was read."""
    reading = read_model(config, WEIGHTS, source=SOURCE)
    given: dict[str, Any] = {
        "has_config": True,
        "architecture": "DeepseekV3ForCausalLM",
        "reading": to_document(reading),
        "file_count": 163,
        "weight_bytes": 688_586_727_753,
        "index_digest": "ab" * 32,
        **values,
    }
    row: ModelDirectory = ModelDirectoryFactory.create(
        host=host, path=f"/data/models/{name}", **given
    )
    return row


def section(client: Client, host: Host) -> str:
    return text_of(client.get(f"/fleet/hosts/{host.pk}/"), "#models")


def test_a_host_that_nobody_read_says_so_and_offers_it_to_operators(
    as_alice: Client, as_bob: Client, host: Host
) -> None:
    assert "Not read yet" in section(as_alice, host)
    assert "Read the model directories" in section(as_alice, host)
    assert "Read the model directories" not in section(as_bob, host)


def test_asking_wakes_a_worker_and_the_page_waits(
    as_alice: Client,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(
        "deployments.services.waking.current_app.send_task",
        lambda name, *, args, **_options: sent.append((name, args)),
    )
    address = f"/fleet/hosts/{host.pk}/models/"
    with django_capture_on_commit_callbacks(execute=True):
        answer = as_alice.post(address)
    assert answer["Location"] == f"/fleet/hosts/{host.pk}/#h-models"
    assert sent == [(LIST_MODELS, [str(host.pk)])]
    page = parsed(as_alice.get(f"/fleet/hosts/{host.pk}/"))
    waiting = page.select_one("#models")
    assert waiting is not None
    poll = str(waiting["hx-get"])
    assert as_alice.get(poll, headers=HTMX).status_code == 204
    ModelListing.objects.update(read_at=timezone.now())
    fresh = as_alice.get(poll, headers=HTMX)
    assert "Read again" in text_of(fresh, "#models")
    assert "hx-get" not in fresh.content.decode()
    assert "Read again" in text_of(as_alice.get(address))


def test_what_lies_there_is_shown_with_its_state_and_what_to_mend(
    as_alice: Client, host: Host
) -> None:
    ModelListingFactory.create(
        host=host,
        asked_at=timezone.now() - timedelta(days=3),
        read_at=timezone.now() - timedelta(days=2),
        others=3,
        cut="time",
    )
    lies(host, "deepseek")
    lies(
        host,
        "<b>cut</b>",
        odd=True,
        state="incomplete",
        problem=text("{file} is cut off", file="model-00002.safetensors"),
        fix=text("Copy that file again."),
    )
    said = section(as_alice, host)
    assert "May have changed since" in said
    assert "641 GiB 163 files" in said.replace("\u00a0", " ").replace("\u202f", " ")
    assert "model-00002.safetensors is cut off. Copy that file again." in said
    assert "<b>cut</b>" in said
    assert "No plan can name it" in said
    assert "the storage is slow" in said
    assert "3 entries besides hold no model." in said
    assert queries_for(as_alice, f"/fleet/hosts/{host.pk}/") <= 12


def test_a_failed_look_says_why(as_alice: Client, host: Host) -> None:
    now = timezone.now()
    ModelListingFactory.create(
        host=host,
        asked_at=now - timedelta(seconds=9),
        read_at=now,
        problem=text("It does not answer."),
    )
    said = section(as_alice, host)
    assert "It does not answer." in said
    assert "No model lies" not in said


def test_strangers_see_neither_the_section_nor_the_directory(
    as_charlie: Client, host: Host
) -> None:
    row = lies(host, "deepseek")
    assert as_charlie.get(f"/fleet/hosts/{host.pk}/models/").status_code == 404
    assert as_charlie.post(f"/fleet/hosts/{host.pk}/models/").status_code == 404
    answer = as_charlie.get(IMPORT, {"directory": str(row.pk)})
    assert answer.status_code == 404
    assert "DeepseekV3" not in answer.content.decode()


@pytest.mark.parametrize("key", ["", "no-id", "00000000-0000-0000-0000-000000000000"])
def test_a_directory_that_is_gone_says_what_to_do(as_alice: Client, key: str) -> None:
    answer = as_alice.get(IMPORT, {"directory": key})
    assert answer.status_code == 404
    assert "Read the host again" in text_of(answer)


def test_a_directory_is_imported_with_exact_bytes_and_its_mtp_tensors(
    as_alice: Client, host: Host, team: Team
) -> None:
    row = lies(host, "DeepSeek-V3-local")
    address = f"{IMPORT}?directory={row.pk}"
    answer = as_alice.get(address)
    assert SOURCE in text_of(answer)
    page = parsed(answer)
    assert page.select_one("input[name=size_bytes]") is None
    assert page.select_one("select[name=holds_mtp]") is None
    assert page.select_one("input[name=parameters]") is not None
    key = page.select_one("input[name=key]")
    assert key is not None
    assert key["value"] == "DeepSeek-V3-local"
    checked = page.select("input[name=platforms][checked]")
    assert [one["value"] for one in checked] == ["nvidia"]
    form = page.select_one("section[aria-labelledby=h-entry] form")
    assert form is not None
    hidden = {
        str(one["name"]): str(one.get("value", ""))
        for one in form.select("input[type=hidden]")
    }
    kept = as_alice.post(
        address,
        {
            **hidden,
            "team": str(team.pk),
            "key": "acme/DeepSeek-V3-local",
            "platforms": ["nvidia"],
        },
    )
    assert kept.status_code == 302
    entry = TargetModel.objects.get(key="acme/DeepSeek-V3-local")
    (checkpoint,) = entry.document["checkpoints"]
    assert checkpoint["directory"] == "DeepSeek-V3-local"
    assert checkpoint["size_bytes"] == 688_586_727_753
    assert checkpoint["holds_mtp"] is True
    assert checkpoint["source"] == SOURCE
    assert entry.document["sources"]["layers"] == SOURCE


def test_a_drafter_of_a_host_is_bound_like_an_uploaded_one(
    as_alice: Client, host: Host
) -> None:
    row = lies(host, "llama-eagle3", EAGLE3)
    answer = as_alice.get(IMPORT, {"directory": str(row.pk)})
    assert "Bind it to a target model" in text_of(answer)


def test_plans_take_what_was_read_of_directories_that_they_can_name(host: Host) -> None:
    sizes = {"total": 9, "experts": 0, "mtp": 0, "mtp_experts": 0, "mtp_embeddings": 0}
    row = lies(host, "whole", sizes=sizes)
    lies(host, "odd", sizes=sizes, odd=True)
    lies(host, "unknown")
    lies(host, "cut", state="incomplete", problem=text("It is cut off."))
    (snapshot,) = host_snapshots([host])
    models = {one.path.rpartition("/")[2]: one for one in snapshot.models}
    assert set(models) == {"whole", "unknown", "cut"}
    assert models["whole"].since == f"{row.since:%Y-%m-%d}"
    assert models["whole"].weights == WeightSizes(total=9)
    assert models["unknown"].weights is None
    assert models["cut"].trouble == "It is cut off."
