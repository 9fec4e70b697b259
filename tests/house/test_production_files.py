"""The example of a production set-up keeps the promises of the README."""

import re
from typing import Any

import yaml

from tests.house.sources import TOP

PANEL = ("prepare", "web", "worker", "beat")


def services() -> dict[str, Any]:
    """Return the services of the example."""
    text = (TOP / "docker" / "compose.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)["services"]
    return loaded


def test_only_the_worker_sees_the_docker_socket() -> None:
    """The web process must not be able to reach a Docker Engine."""
    seeing = [name for name, part in services().items() if "docker.sock" in str(part)]
    assert seeing == ["worker"]


def test_every_part_of_the_panel_runs_without_rights() -> None:
    """The image has a user of its own; compose takes the rest away."""
    for name in PANEL:
        part = services()[name]
        assert part["cap_drop"] == ["ALL"], name
        assert part["read_only"] is True, name
        assert part["security_opt"] == ["no-new-privileges:true"], name
    dockerfile = (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^USER (\w+)$", dockerfile)[-1] == "panel"


def test_secrets_come_from_files_and_only_the_web_server_publishes_a_port() -> None:
    """Nothing secret in the environment, nothing on the network but the proxy's way in."""
    published = {
        name: part["ports"] for name, part in services().items() if "ports" in part
    }
    assert published == {"web": ["127.0.0.1:8000:8000"]}
    for name in PANEL:
        environment = services()[name]["environment"]
        assert {
            "SECRET_KEY_FILE",
            "CREDENTIALS_KEY_FILE",
            "DATABASE_URL_FILE",
            "REDIS_URL_FILE",
        } <= set(environment)


def test_image_contains_every_folder_that_the_product_imports() -> None:
    """A folder that is not copied is missed only when a page needs it."""
    dockerfile = (TOP / "docker" / "Dockerfile").read_text(encoding="utf-8")
    copied = set(re.findall(r"(?m)^COPY (\w+) \1$", dockerfile))
    assert {"deployments", "locale", "panel", "practice", "static", "templates"} <= (
        copied
    )
