"""The files of a plan that nobody has submitted."""

import io
import zipfile

import yaml
from django.test import Client

from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    at,
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.wizard_values import GLM

State = dict[str, object]


def files_at(state: State, **more: object) -> str:
    return at("review", state, **more).replace("/plan/?", "/plan/files/?")


def test_the_archive_holds_every_file(as_bob: Client, state: State) -> None:
    answer = as_bob.get(files_at(state, name="chat"))

    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="chat-r1.zip"'
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.namelist() == [
        "gpu-1/.env.example",
        "gpu-1/docker-compose.yaml",
        "gpu-1/launch.sh",
        "plan.json",
        "deployment.yaml",
    ]
    compose = yaml.safe_load(archive.read("gpu-1/docker-compose.yaml"))
    assert list(compose["services"]) == ["chat-r1-combined-0"]
    document = yaml.safe_load(archive.read("deployment.yaml"))
    assert (document["cluster"], document["name"]) == ("serving/prod", "chat")
    assert archive.getinfo("gpu-1/launch.sh").external_attr >> 16 & 0o777 == 0o755


def test_the_same_plan_is_the_same_archive(as_alice: Client, state: State) -> None:
    first, second = (as_alice.get(files_at(state)).content for _ in range(2))

    assert first == second


def test_a_platform_without_a_host_gives_files(
    as_charlie: Client, models: object
) -> None:
    state: State = {"model": GLM, "place": "platform", "platform": "ascend-a3"}

    answer = as_charlie.get(files_at(state))

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert "host-1/launch.sh" in archive.namelist()
    assert "MODEL_ROOT=" in archive.read("host-1/.env.example").decode()
    assert "cluster" not in yaml.safe_load(archive.read("deployment.yaml"))


def test_wrong_values_give_the_page_instead(as_alice: Client, state: State) -> None:
    answer = as_alice.get(files_at(state, tokens="many"))

    assert answer.status_code == 422
    assert "“many” is not a whole number" in answer.content.decode()


def test_an_unfinished_state_gives_the_page_instead(as_alice: Client) -> None:
    assert as_alice.get("/plan/files/").status_code == 422


def test_a_foreign_cluster_gives_nothing_away(as_charlie: Client, state: State) -> None:
    answer = as_charlie.get(files_at(state))

    assert answer.status_code == 422
    assert "There is no cluster" in answer.content.decode()


def test_files_are_only_read(as_alice: Client) -> None:
    assert as_alice.post("/plan/files/").status_code == 405


def test_people_who_are_not_logged_in_get_no_files(db: None) -> None:
    assert Client().get("/plan/files/").status_code == 302
