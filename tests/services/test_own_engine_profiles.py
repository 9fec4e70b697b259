"""Own engine profiles: kept beside the shipped ones, and used by plans, wizard and linter."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from deployments.models import OwnEngineProfile
from deployments.planning.engines.profile import find_profile, parse_engine_profile
from deployments.planning.errors import PlanningError
from deployments.planning.planner import make_plan
from deployments.planning.snapshot import ClusterSettings
from deployments.selectors.engine_profiles import own_profiles_for
from deployments.services.catalog import load_shipped_catalog
from deployments.services.engine_profiles import (
    EngineProfileError,
    forget_profile,
    keep_profile,
)
from tests.planning.builders import combined, gpu, shipped

pytestmark = pytest.mark.django_db
NAME = "vllm==0.32.0+acme"
IMAGE = "registry.example/vllm:patched"


@pytest.fixture
def row() -> OwnEngineProfile:
    """vLLM 0.32.0 without prefix caching and with a flag of its own."""
    base = find_profile("vllm==0.32.0")
    flags = [one for one in base.arguments if one.name != "--enable-prefix-caching"]
    added = replace(base.flag("--seed") or flags[0], name="--acme-mode", aliases=())
    patched = replace(base, source="a wheel", arguments=(*flags, added))
    return keep_profile(patched, "acme")


def test_it_is_kept_under_its_version_with_the_local_part(
    row: OwnEngineProfile,
) -> None:
    profile = parse_engine_profile(row.document)

    assert row.name == NAME
    assert (profile.version, profile.vllm_version) == ("0.32.0+acme", "0.32.0")
    assert keep_profile(profile, "acme").pk == row.pk
    with pytest.raises(EngineProfileError, match="local version"):
        keep_profile(profile, "no such")


def test_a_plan_goes_by_it_and_needs_the_image_that_holds_it(
    row: OwnEngineProfile,
) -> None:
    model = shipped("Qwen/Qwen3-8B")
    spec = combined(
        "Qwen/Qwen3-8B",
        "gpu-1",
        engine=NAME,
        image=IMAGE,
        extra_flags=(("--acme-mode", "1"),),
    )
    own = own_profiles_for(NAME)

    plan = make_plan(spec, model, (gpu(),), ClusterSettings(), own)

    assert plan.engine_version == "0.32.0+acme"
    assert not [one for one in plan.findings if "--acme-mode" in one.message]
    stock = make_plan(
        replace(spec, engine="vllm==0.32.0"), model, (gpu(),), ClusterSettings()
    )
    assert [one for one in stock.findings if "--acme-mode" in one.message]
    with pytest.raises(PlanningError, match="no official image"):
        make_plan(replace(spec, image=None), model, (gpu(),), ClusterSettings(), own)
    with pytest.raises(PlanningError, match="Nobody made a profile"):
        make_plan(spec, model, (gpu(),), ClusterSettings())


def test_the_wizard_offers_and_plans_it(
    row: OwnEngineProfile, admin_client: Client
) -> None:
    load_shipped_catalog()
    place = "model=Qwen/Qwen3-8B&place=platform&platform=nvidia"
    image = f"image_source=own&image={IMAGE}"

    page = admin_client.get(f"/plan/?step=details&{place}")
    review = admin_client.get(
        f"/plan/?step=review&{place}&{image}&engine=vllm%3D%3D0.32.0%2Bacme"
    )

    assert NAME in page.content.decode()
    assert review.status_code == 200
    assert review.context["plan"].engine_version == "0.32.0+acme"


def test_the_linter_judges_by_it(
    row: OwnEngineProfile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = tmp_path / "launch.sh"
    launch.write_text("vllm serve m --acme-mode 1 --enable-prefix-caching\n")

    with pytest.raises(SystemExit):
        call_command(
            "lint_launch", str(launch), "--engine-version", "0.32.0+acme", "--json"
        )

    found = json.loads(capsys.readouterr().out)["findings"]
    unknown = [one for one in found if one["category"] == "unknown-flag"]
    assert all("--acme-mode" not in one["message"] for one in unknown)
    assert any("--enable-prefix-caching" in one["message"] for one in unknown)


def test_the_commands_show_it_and_decide_by_it(
    row: OwnEngineProfile, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("show_engine_profile", "vllm", "0.32.0+acme", "--json")
    shown = json.loads(capsys.readouterr().out)
    asked = ("Qwen/Qwen3-8B", "--platform", "nvidia", "--json", "--engine")
    call_command("recommend_method", *asked, NAME)
    decided = json.loads(capsys.readouterr().out)

    assert shown["version"] == "0.32.0+acme"
    assert "--acme-mode" in shown["flags"]
    assert decided["method"]
    with pytest.raises(CommandError, match="Nobody made a profile"):
        call_command("recommend_method", *asked, "vllm==0.32.0+other")


def test_the_check_page_judges_by_it(
    row: OwnEngineProfile, admin_client: Client
) -> None:
    said = {"content": "vllm serve m --acme-mode 1", "engine": "vllm"}

    own = admin_client.post("/check/", {**said, "version": "0.32.0+acme"})
    stock = admin_client.post("/check/", {**said, "version": "0.32.0"})

    unknown = [
        [one.code for one in found.findings if one.category == "unknown-flag"]
        for found in (own.context["answer"].report, stock.context["answer"].report)
    ]
    assert not unknown[0]
    assert unknown[1]
    assert "engine=vllm%3D%3D0.32.0%2Bacme" in own.context["carried"].query


def test_the_page_compares_it_with_what_ships(
    row: OwnEngineProfile, admin_client: Client
) -> None:
    answer = admin_client.get(
        "/catalog/engines/?from=vllm%3D%3D0.32.0&to=vllm%3D%3D0.32.0%2Bacme"
    )

    said = answer.content.decode()
    assert answer.status_code == 200
    assert answer.context["changes"].flags.added == ("--acme-mode",)
    assert answer.context["changes"].flags.removed == ("--enable-prefix-caching",)
    assert NAME in said
    wrong = admin_client.get("/catalog/engines/?from=vllm%3D%3D9.9.9")
    assert wrong.status_code == 422


def test_it_can_be_forgotten(row: OwnEngineProfile) -> None:
    call_command("profile_engine", "--forget", NAME)

    assert not OwnEngineProfile.objects.exists()
    with pytest.raises(EngineProfileError, match="Nobody made"):
        forget_profile(NAME)
    with pytest.raises(CommandError, match="Nobody made"):
        call_command("profile_engine", "--forget", NAME)
