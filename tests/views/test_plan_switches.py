"""The details step: a check box for each switch of the model, environment variables, stages."""

import pytest
from django.http import QueryDict
from django.test import Client

from deployments.forms.wizard.form import WizardForm
from deployments.forms.wizard.spec import spec_from
from deployments.planning.snapshot import HostSnapshot
from deployments.selectors.wizard_catalog import checkpoint_options
from tests.planning.builders import shipped
from tests.views.pages import parsed, text_of
from tests.wizard_values import GLM, choices, model_row

HERE = f"/plan/?step=details&model={GLM}&place=platform&platform=ascend-a3"


@pytest.fixture(autouse=True)
def _catalog(db: None) -> None:
    """One model of the shipped catalog lies in the tables."""
    model_row(GLM).save()


def _boxes(client: Client, address: str) -> dict[str, bool]:
    page = parsed(client.get(address))
    boxes = page.select("[aria-labelledby=h-switches] input[type=checkbox]")
    return {str(box["value"]): box.has_attr("checked") for box in boxes}


def _hidden(client: Client, address: str) -> set[str]:
    page = parsed(client.get(address))
    found = page.select("[aria-labelledby=h-switches] input[type=hidden]")
    return {str(one["value"]) for one in found}


def test_boxes_show_what_the_catalog_has_on(as_alice: Client) -> None:
    boxes = _boxes(as_alice, HERE)
    on = {one.key for one in shipped(GLM).features if one.default}
    assert {key for key, checked in boxes.items() if checked} <= on
    assert boxes["tool_calling"] is True
    assert "-tool_calling" in _hidden(as_alice, HERE)


def test_an_emptied_box_turns_the_switch_off_and_stays_empty(as_alice: Client) -> None:
    address = f"{HERE}&features=-tool_calling"
    assert _boxes(as_alice, address)["tool_calling"] is False
    preview = as_alice.get(address.replace("step=details", "step=review"))
    assert "--tool-call-parser" not in text_of(preview)
    usual = as_alice.get(HERE.replace("step=details", "step=review"))
    assert "--tool-call-parser" in text_of(usual)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("features=-tool_calling&features=tool_calling", ()),
        ("features=-tool_calling", (("tool_calling", False),)),
        ("features=text_only", (("text_only", True),)),
        (
            "features=-reasoning&features=text_only",
            (("reasoning", False), ("text_only", True)),
        ),
    ],
)
def test_a_box_with_its_hidden_twin_says_nothing(
    written: str, read: tuple[tuple[str, bool], ...]
) -> None:
    query = f"model={GLM}&place=platform&platform=ascend-a3&{written}"
    form = WizardForm(QueryDict(query), choices())
    form.is_valid()
    spec = spec_from(form)
    assert spec is not None
    assert spec.features == read
    kept = [value for key, value in form.state() if key == "features"]
    assert len(kept) == len(read)


def test_a_switch_of_another_spelling_is_refused(as_alice: Client) -> None:
    page = as_alice.get(f"{HERE}&features=tool_calling=off")
    assert "is no switch" in text_of(page)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("HF_TOKEN=abcdefghij", "looks like a secret"),
        ("OMP_NUM_THREADS", "write NAME=value"),
        ("A=1%0AA=2", "stands twice"),
    ],
)
def test_lines_that_are_no_environment_say_why(
    as_alice: Client, line: str, told: str
) -> None:
    assert told in text_of(as_alice.get(f"{HERE}&environment={line}"))


def test_variables_and_stages_reach_the_plan(as_alice: Client) -> None:
    address = HERE.replace("step=details", "step=review")
    page = as_alice.get(
        f"{address}&method=off&environment=OMP_NUM_THREADS=7&combined_pp=2"
    )
    text = text_of(page)
    assert "OMP_NUM_THREADS" in text
    assert "--pipeline-parallel-size 2" in text


@pytest.mark.parametrize(
    ("platform", "closed"), [("ascend-950", False), ("amd", True), ("ascend-a3", False)]
)
def test_checkpoints_are_open_where_the_planner_borrows_them(
    platform: str, *, closed: bool
) -> None:
    """Ascend 950 takes those of Atlas A3; AMD takes those of NVIDIA, which this one is not for."""
    hosts = [HostSnapshot(name="h", platform=platform, device_count=16)]
    options = checkpoint_options(shipped(GLM), hosts, chosen="", practice=False)
    w8a8 = next(one for one in options if one.value.key == "w8a8")
    assert bool(w8a8.closed) is closed
