"""Model directories of a host, looked at through a real Docker Engine and kept in rows."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from deployments.docker_api.client import open_engine
from deployments.docker_api.containers import list_containers
from deployments.models import (
    Host,
    ModelDirectory,
    ModelListing,
    Reachability,
    Team,
    TeamRole,
)
from deployments.services import model_listing
from deployments.services.errors import NotAllowedError
from deployments.services.model_listing import hosts_to_list, list_models
from deployments.services.model_requests import ask_for_listing
from tests.factories import HostFactory, member
from tests.model_files import INDEX, two_shards

SECOND = "model-00002-of-00002.safetensors"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A model root that the engine of the tests sees under the same path."""
    folder = tmp_path / "models"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


@pytest.fixture
def host(db: None, models: Path) -> Host:
    """A host with a model root, whose engine does not answer."""
    made: Host = HostFactory.create(
        name="here", docker_address="unix:///nowhere.sock", model_root=str(models)
    )
    return made


@pytest.fixture
def real(host: Host, docker_host: str, practice_image_id: str) -> Iterator[Host]:
    """The engine of the tests as that host; what the looks made is gone afterwards."""
    host.docker_address = docker_host
    host.save()
    yield host
    with open_engine(docker_host) as engine:
        assert list_containers(engine, label="draftboard.purpose=models") == ()


def asked(host: Host) -> ModelListing:
    ModelListing.objects.update_or_create(
        host=host, defaults={"asked_at": timezone.now()}
    )
    list_models(host.pk)
    return ModelListing.objects.get(host=host)


def rows(host: Host) -> dict[str, ModelDirectory]:
    return {Path(row.path).name: row for row in host.model_directories.all()}


@pytest.fixture
def team(host: Host) -> Team:
    """Its team."""
    return host.cluster.team


def test_operators_ask_and_others_do_not(host: Host, team: Team) -> None:
    with pytest.raises(NotAllowedError):
        ask_for_listing(member(team, "vera"), host)
    assert hosts_to_list() == []
    operator = member(team, "olga", TeamRole.OPERATOR)
    ask_for_listing(operator, host)
    assert hosts_to_list() == [host.pk]
    first = ModelListing.objects.get(host=host).asked_at
    ask_for_listing(operator, host)
    assert ModelListing.objects.get(host=host).asked_at == first


def test_an_engine_that_does_not_answer_ends_the_waiting_with_a_reason(
    host: Host,
) -> None:
    listing = asked(host)
    assert "does not answer" in listing.problem
    assert listing.read_at is not None
    assert hosts_to_list() == []


def test_one_worker_looks_and_a_lost_one_is_replaced(host: Host) -> None:
    now = timezone.now()
    row = ModelListing.objects.create(host=host, asked_at=now, started_at=now)
    list_models(host.pk)
    row.refresh_from_db()
    assert row.read_at is None
    ModelListing.objects.update(started_at=now - timedelta(minutes=11))
    list_models(host.pk)
    row.refresh_from_db()
    assert row.read_at is not None


def test_another_engine_is_left_alone(host: Host) -> None:
    Host.objects.update(reachability=Reachability.DIFFERENT_ENGINE)
    assert "Another Docker Engine" in asked(host).problem


@pytest.mark.docker
def test_directories_are_kept_with_what_they_hold(real: Host, models: Path) -> None:
    two_shards(models, "tiny")
    cut = two_shards(models, "cut")
    os.truncate(cut / SECOND, 900)
    lost = two_shards(models, "lost")
    (lost / SECOND).unlink()
    listing = asked(real)
    assert (listing.problem, listing.cut, listing.others) == ("", "", 0)
    found = rows(real)
    tiny = found["tiny"]
    assert (tiny.state, tiny.problem, tiny.architecture) == (
        "complete",
        "",
        "LlamaForCausalLM",
    )
    assert tiny.sizes == {
        "total": 2000,
        "experts": 0,
        "mtp": 0,
        "mtp_experts": 0,
        "mtp_embeddings": 0,
    }
    assert tiny.reading is not None
    assert tiny.reading["size_bytes"] == 2000
    assert tiny.reading["source"].startswith("files on here, ")
    assert len(tiny.index_digest) == 64
    assert found["cut"].state == "incomplete"
    assert f"{SECOND} in {models}/cut is cut off: it has 900 of" in found["cut"].problem
    assert found["cut"].sizes is None
    assert found["lost"].problem == f"{SECOND} is missing in {models}/lost"
    assert found["lost"].fix == "Copy that file there."


@pytest.mark.docker
def test_what_changes_is_since_then_and_what_goes_is_forgotten(
    real: Host, models: Path
) -> None:
    folder = two_shards(models, "tiny")
    two_shards(models, "gone")
    asked(real)
    ModelDirectory.objects.update(since=timezone.now() - timedelta(days=3))
    before = rows(real)["tiny"].since
    for file in (models / "gone").iterdir():
        file.unlink()
    (models / "gone").rmdir()
    asked(real)
    assert set(rows(real)) == {"tiny"}
    assert rows(real)["tiny"].since == before
    os.truncate(folder / SECOND, 900)
    asked(real)
    assert rows(real)["tiny"].since > before


@pytest.mark.docker
def test_a_root_of_before_is_forgotten_and_a_missing_one_is_named(
    real: Host, models: Path
) -> None:
    two_shards(models, "tiny")
    asked(real)
    Host.objects.update(model_root=f"{models}/elsewhere")
    listing = asked(real)
    assert f"has no directory {models}/elsewhere" in listing.problem
    assert rows(real) == {}
    Host.objects.update(model_root="")
    assert "No model directory is set for here" in asked(real).problem


@pytest.mark.docker
def test_what_the_containers_user_may_not_read_says_how_to_grant_it(
    real: Host, models: Path
) -> None:
    shut = two_shards(models, "shut")
    part = two_shards(models, "part")
    for path in (shut, part / SECOND):
        os.chown(path, 12345, 12345)
        path.chmod(0o700)
    asked(real)
    found = rows(real)
    assert found["shut"].state == found["part"].state == "unreadable"
    assert found["shut"].fix == f"Grant it on the host: chmod -R a+rX {models}/shut"
    assert SECOND in found["part"].problem


@pytest.mark.docker
def test_links_out_and_odd_names_stay_inert(real: Host, models: Path) -> None:
    (models / "away").symlink_to("/etc")
    (models / "host").symlink_to(models.parent)
    odd = models / os.fsdecode(b"bad-\xff")
    odd.mkdir()
    (odd / "config.json").write_text("{}")
    script = two_shards(models, "<script>alert(1)</script>".replace("/", "_"))
    (script / INDEX).write_text('{"weight_map": {"a": "../../../etc/shadow"}}')
    asked(real)
    found = rows(real)
    assert found["away"].state == found["host"].state == "unreadable"
    assert found["bad-\\xff"].odd
    assert "which is no plain file name" in found["<script>alert(1)<_script>"].problem


@pytest.mark.docker
def test_ten_thousand_entries_take_seconds(real: Host, models: Path) -> None:
    for number in range(10_000):
        (models / f"d{number:05d}").mkdir()
    two_shards(models, "zz")
    listing = asked(real)
    assert (listing.problem, listing.cut) == ("", "")
    assert listing.others == 10_000
    assert set(rows(real)) == {"zz"}


@pytest.mark.docker
def test_a_look_that_takes_too_long_is_ended(
    real: Host, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_shards(models, "tiny")
    script = models.parent / "slow.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(model_listing, "SCRIPT", script)
    monkeypatch.setattr(model_listing, "LONGEST_LOOK_S", 1)
    assert "took longer than 1 s on here" in asked(real).problem


@pytest.mark.docker
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit(3)", "ended with 3"),
        ("print('LOOK-BEGIN x')", "printed no answer"),
        ("print('LOOK-BEGIN x\\n!!\\nLOOK-END')", "came incomplete"),
    ],
)
def test_an_image_that_answers_something_else_is_refused(
    real: Host, models: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str
) -> None:
    script = models.parent / "odd.py"
    script.write_text(program)
    monkeypatch.setattr(model_listing, "SCRIPT", script)
    assert said in asked(real).problem
