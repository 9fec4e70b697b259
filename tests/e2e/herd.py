"""Prefill and decode apart over two hosts, as a person plans it: one prefill, two decode, a router."""

import json
from contextlib import closing

import docker
from playwright.sync_api import Page

from tests.e2e.panel import RunningPanel, free_port

SECOND = "second"
MODEL = "Qwen3-32B"
PRACTICE = "draftboard/practice-vllm:0.32.0"
LABEL = "draftboard.deployment"
SPECULATIVE = "--speculative-config"
REGISTER = """
from deployments.models import Host

local = Host.objects.get(name="local")
Host.objects.create(
    cluster=local.cluster, name={name!r}, docker_address={address!r},
    platform=local.platform, address="127.0.0.1", interface="lo",
)
"""
LOOK = """
from deployments.docker_api.client import open_engine
from deployments.models import Host
from deployments.services.observation import look_at, store_observation

host = Host.objects.get(name={name!r})
with open_engine(host.docker_address, host=host.name) as engine:
    store_observation(host, look_at(engine))
"""


def add_second_host(panel: RunningPanel, docker_host: str, taken_port: int) -> None:
    """Put another engine of this machine beside the local host, with the practice image on it.

    A port of UDP is held there, so that decode does not get the same one on both: all ports are this
    machine's.
    """
    panel.manage("shell", "-c", REGISTER.format(name=SECOND, address=docker_host))
    panel.manage("build_practice_image", "--host", SECOND)
    with closing(docker.DockerClient(base_url=docker_host)) as client:
        client.containers.run(
            PRACTICE,
            ["-c", "import signal; signal.pause()"],
            entrypoint="/usr/bin/python3",
            detach=True,
            labels={LABEL: "holds-a-port"},
            ports={f"{taken_port}/udp": taken_port},
        )
    panel.manage("shell", "-c", LOOK.format(name=SECOND))


def plan_apart(
    page: Page, panel: RunningPanel, name: str, port: int, environment: str
) -> None:
    """Walk the wizard to its review: prefill on the local host, decode on both."""

    def go_on(step: str) -> None:
        page.get_by_role("button", name=f"Continue to {step}").first.click()
        page.wait_for_url(f"**step={step}**")

    page.goto(f"{panel.address}/plan/?q={MODEL}")
    page.get_by_role("link", name=MODEL, exact=True).click()
    page.wait_for_url("**model=**")
    go_on("hardware")
    page.locator("#id_cluster a").first.click()
    page.wait_for_url("**cluster=**")
    for host in ("local", SECOND):
        page.locator(f"#host-{host}").check()
        page.wait_for_url(f"**host={host}**")
    page.get_by_label("The practice image").check()
    page.wait_for_url("**image_source=practice**")
    for step in ("workload", "method", "details"):
        go_on(step)
    page.locator("#id_name").fill(name)
    page.locator("#id_name").blur()
    page.wait_for_url(f"**name={name}**")
    page.locator("[name=topology][value=disaggregated]").check()
    page.wait_for_url("**topology=disaggregated**")
    page.locator("#decode_host-local").check()
    page.wait_for_url("**decode_host=local**")
    for role, number in (("decode", port), ("prefill", free_port())):
        page.locator(f"#id_{role}_port").fill(str(number))
        page.locator(f"#id_{role}_port").blur()
        page.wait_for_url(f"**{role}_port={number}**")
    page.locator("#id_environment").fill(environment)
    page.locator("#id_environment").blur()
    page.wait_for_url("**environment=**")
    go_on("review")


def drafted(docker_hosts: tuple[str, ...], deployment: str) -> dict[str, int | None]:
    """num_speculative_tokens of every running engine by role and rank, as its own command has it."""
    found: dict[str, int | None] = {}
    for address in docker_hosts:
        with closing(docker.DockerClient(base_url=address)) as client:
            for one in client.containers.list(
                filters={"label": f"{LABEL}={deployment}"}
            ):
                words = one.attrs["Config"]["Cmd"]
                role = (
                    f"{one.labels['draftboard.role']} {one.labels['draftboard.rank']}"
                )
                config = (
                    json.loads(words[words.index(SPECULATIVE) + 1])
                    if SPECULATIVE in words
                    else {}
                )
                found[role] = config.get("num_speculative_tokens")
    return found
