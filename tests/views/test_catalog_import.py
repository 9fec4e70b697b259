"""Import a model: read, ask, keep; drafters only where they fit; entries as YAML."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from deployments.models import TargetModel, Team
from deployments.services.catalog import load_shipped_catalog
from tests.planning.model_config.configs import DEEPSEEK, EAGLE3, LLAMA, index
from tests.views.pages import parsed, queries_for, text_of

URL = "/catalog/import/"
WEIGHTS = index("model.layers.61.eh_proj.weight", size=688_586_727_753)


def file(name: str, document: dict[str, Any]) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, json.dumps(document).encode())


def read(client: Client, config: dict[str, Any], weights: Any = None) -> dict[str, Any]:
    """Give the files; the hidden values of the form that comes back."""
    files = {"config": file("config.json", config)}
    if weights is not None:
        files["index"] = file("model.safetensors.index.json", weights)
    answer = client.post(URL, files)
    assert answer.status_code == 200
    page = parsed(answer)
    form = page.select_one("section[aria-labelledby=h-entry] form")
    assert form is not None
    return {
        str(one["name"]): one.get("value", "")
        for one in form.select("input[type=hidden]")
        if one["name"] != "csrfmiddlewaretoken"
    }


def kept(client: Client, hidden: dict[str, Any], team: Team, **values: Any) -> Any:
    """Keep the entry under a name."""
    given = {"team": str(team.pk), "platforms": ["nvidia"], **values}
    return client.post(URL, {**hidden, **given})


def test_what_was_read_is_shown_with_its_key_and_what_is_missing_with_why(
    as_alice: Client,
) -> None:
    answer = as_alice.post(URL, {"pasted": json.dumps(DEEPSEEK)})

    said = text_of(answer)
    assert "num_nextn_predict_layers" in said
    assert "Only the index of the weights shows" in said
    page = parsed(answer)
    assert page.select_one("select[name=holds_mtp]") is not None
    assert page.select_one("input[name=layers]") is None


def test_a_target_becomes_an_entry_that_the_wizard_plans(
    as_alice: Client, team: Team
) -> None:
    hidden = read(as_alice, DEEPSEEK, WEIGHTS)

    answer = kept(
        as_alice, hidden, team, key="own/deepseek", parameters=671_000_000_000
    )

    row = TargetModel.objects.get(team=team, key="own/deepseek")
    assert answer.status_code == 302
    assert answer.headers["Location"] == reverse("catalog-model", args=[row.pk])
    document = row.document
    assert document["mtp_layers"] == 1
    assert document["sources"]["parameters"] == "stated at the import"
    checkpoint = row.checkpoints.get()
    assert (checkpoint.holds_mtp, checkpoint.size_bytes) == (True, 688_586_727_753)
    wizard = as_alice.get(
        "/plan/?step=review&model=own/deepseek&place=platform&platform=nvidia"
    )
    assert "own/deepseek" in text_of(wizard)
    assert "MTP" in text_of(wizard)


def test_a_second_checkpoint_joins_the_model(as_alice: Client, team: Team) -> None:
    load_shipped_catalog()
    key = "deepseek-ai/DeepSeek-V3.1"
    hidden = read(as_alice, DEEPSEEK, WEIGHTS)

    answer = kept(as_alice, hidden, team, key=key, checkpoint="mine", directory="mine")

    assert answer.status_code == 302
    own = TargetModel.objects.get(team=team, key=key)
    shipped = TargetModel.objects.get(team=None, key=key)
    assert own.checkpoints.count() == shipped.checkpoints.count() + 1


def test_files_of_another_model_are_refused(as_alice: Client, team: Team) -> None:
    load_shipped_catalog()
    hidden = read(as_alice, LLAMA)

    answer = kept(as_alice, hidden, team, key="deepseek-ai/DeepSeek-V3.1")

    assert answer.status_code == 409
    assert "hidden_size is 4096, the catalog says 7168" in text_of(answer)


def test_a_drafter_is_offered_only_models_that_it_fits(
    as_alice: Client, team: Team
) -> None:
    assert (
        kept(as_alice, read(as_alice, LLAMA), team, key="own/llama").status_code == 302
    )
    assert (
        kept(as_alice, read(as_alice, DEEPSEEK), team, key="own/deepseek").status_code
        == 302
    )
    llama = TargetModel.objects.get(key="own/llama")
    deepseek = TargetModel.objects.get(key="own/deepseek")
    hidden = read(as_alice, EAGLE3)
    given = {"key": "labs/head", "method": "eagle3", "num_speculative_tokens": 3}

    wrong = kept(as_alice, hidden, team, target=str(deepseek.pk), **given)
    right = kept(as_alice, hidden, team, target=str(llama.pk), **given)

    assert wrong.status_code == 422
    assert right.status_code == 302
    drafter = llama.drafters.get()
    assert (drafter.repository, drafter.method) == ("labs/head", "eagle3")


def test_a_small_model_can_be_bound_as_a_draft_model(
    as_alice: Client, team: Team
) -> None:
    kept(as_alice, read(as_alice, LLAMA), team, key="own/llama")
    hidden = read(as_alice, {**LLAMA, "num_hidden_layers": 16, "hidden_size": 2048})

    page = parsed(as_alice.post(URL, {**hidden, "switch": "1", "use": "draft"}))
    target = TargetModel.objects.get(key="own/llama")
    answer = kept(
        as_alice,
        {**hidden, "use": "draft"},
        team,
        key="own/llama-small",
        method="draft_model",
        target=str(target.pk),
    )

    assert page.select_one("select[name=target]") is not None
    assert answer.status_code == 302
    assert target.drafters.get().method == "draft_model"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "Give config.json once"),
        ({"pasted": "{"}, "line 1 is not JSON"),
        ({"pasted": "[]"}, "no JSON object"),
        ({"pasted": "{" * 90}, "deeper than"),
        ({"reading": "forged"}, "too old or was changed"),
    ],
)
def test_unreadable_files_give_one_sentence(
    values: dict[str, str], said: str, as_alice: Client
) -> None:
    answer = as_alice.post(URL, values)

    assert answer.status_code == 422
    assert said in text_of(answer)


def test_a_stranger_keeps_nothing_in_the_team(
    as_alice: Client, as_bob: Client, team: Team
) -> None:
    hidden = read(as_alice, LLAMA)

    answer = kept(as_bob, hidden, team, key="own/llama")

    assert answer.status_code in {403, 422}
    assert not TargetModel.objects.filter(key="own/llama").exists()


def test_an_entry_is_edited_taken_out_as_yaml_and_brought_in_again(
    as_alice: Client, team: Team
) -> None:
    kept(as_alice, read(as_alice, LLAMA), team, key="own/llama")
    row = TargetModel.objects.get(key="own/llama")
    edit = reverse("catalog-model-edit", args=[row.pk])
    text = as_alice.get(reverse("catalog-model-yaml", args=[row.pk])).content.decode()

    changed = text.replace("family: llama", "family: Herd")
    assert as_alice.post(edit, {"text": changed}).status_code == 302
    row.refresh_from_db()
    assert row.family == "Herd"
    bad = as_alice.post(edit, {"text": "key: own/llama"})
    assert bad.status_code == 409
    assert "cannot be read" in text_of(bad)
    renamed = as_alice.post(edit, {"text": changed.replace("own/llama", "own/other")})
    assert renamed.status_code == 409

    everything = as_alice.get("/catalog/entries.yaml").content
    removed = as_alice.post(reverse("catalog-model-remove", args=[row.pk]))
    assert removed.status_code == 302
    assert not TargetModel.objects.filter(key="own/llama").exists()
    upload = SimpleUploadedFile("catalog.yaml", everything)
    back = as_alice.post("/catalog/entries/", {"team": str(team.pk), "file": upload})
    assert back.status_code == 302
    again = TargetModel.objects.get(key="own/llama")
    assert (again.family, again.document) == ("Herd", row.document)


def test_the_pages_stay_within_their_queries(as_alice: Client) -> None:
    load_shipped_catalog()

    assert queries_for(as_alice, URL) <= 12
    with CaptureQueriesContext(connection) as captured:
        as_alice.post(URL, {"pasted": json.dumps(EAGLE3)})
    assert len(captured) <= 12
