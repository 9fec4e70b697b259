"""Every command that the planner renders for vLLM 0.32.0: on NVIDIA, on AMD, and without accelerators."""

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from deployments.planning.catalog import TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.plan import Plan
from deployments.planning.revision import RevisionSpec, SpeculationChoice
from deployments.planning.snapshot import HostSnapshot
from tests.planning.builders import (
    all_shipped,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
)

ENGINE = "vllm==0.32.0"
SERVE = ["vllm", "serve"]
SPECULATIVE = "--speculative-config"
METHODS = ("auto", "off", *(method.value for method in Method))
TOPOLOGIES = ("one host", "two hosts", "apart")
AMD_MEMORY = 288 * 10**9
"""Of an MI355X."""


def amd(name: str, address: str = "10.0.1.1") -> HostSnapshot:
    """An AMD host of eight devices."""
    return replace(
        gpu(name, address=address),
        platform="amd",
        device="MI355X",
        device_memory_bytes=AMD_MEMORY,
    )


HOSTS = {
    "nvidia": [gpu("h1"), gpu("h2", address="10.0.1.2")],
    "amd": [amd("h1"), amd("h2", address="10.0.1.2")],
    "cpu": [
        cpu(name, model_root="/data/models", address=address, interface="eth0")
        for name, address in (("h1", "10.0.1.1"), ("h2", "10.0.1.2"))
    ],
}


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """One container's whole command, and what it was rendered for."""

    words: tuple[str, ...]
    model: TargetModel
    platform: str

    @property
    def speculative(self) -> dict[str, Any] | None:
        """The speculative config, where there is one."""
        if SPECULATIVE not in self.words:
            return None
        text = self.words[self.words.index(SPECULATIVE) + 1]
        value: dict[str, Any] = json.loads(text)
        return value

    @property
    def templates(self) -> list[str]:
        """Chat templates that lie beside the server's working directory."""
        flag = "--chat-template"
        places = [place for place, word in enumerate(self.words) if word == flag]
        named = [self.words[place + 1] for place in places]
        return [name for name in named if name.endswith(".jinja") and name[0] != "/"]

    @property
    def tensor_parallel_size(self) -> int:
        """Devices that one rank spans."""
        flag = "--tensor-parallel-size"
        return int(self.words[self.words.index(flag) + 1]) if flag in self.words else 1


@functools.cache
def everything() -> tuple[Rendered, ...]:
    """Each different command of a plan that could be submitted."""
    found = {
        rendered.words: rendered
        for model in all_shipped()
        for platform in HOSTS
        for rendered in _of_model(model, platform)
    }
    return tuple(found.values())


def _of_model(model: TargetModel, platform: str) -> Iterator[Rendered]:
    for made in _plans(model, HOSTS[platform]):
        if not made.can_submit:
            continue
        for replica in made.replicas:
            container = replica.container
            words = (*container.entrypoint, *container.command)
            if list(words[:2]) == SERVE:
                yield Rendered(words=words, model=model, platform=platform)


def _plans(model: TargetModel, hosts: list[HostSnapshot]) -> Iterator[Plan]:
    for method in METHODS:
        for topology in TOPOLOGIES:
            try:
                yield plan(_spec(model, method, topology), *hosts)
            except PlanningError:
                continue  # no plan, no command


def _spec(model: TargetModel, method: str, topology: str) -> RevisionSpec:
    choice = SpeculationChoice(method=method)
    if topology == "apart":
        return apart(
            model.key, prefill("h1"), decode("h2"), engine=ENGINE, speculation=choice
        )
    hosts = ("h1",) if topology == "one host" else ("h1", "h2")
    return combined(model.key, *hosts, engine=ENGINE, speculation=choice)
