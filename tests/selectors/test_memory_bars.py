"""Memory bars and expected gains as pages show them."""

from dataclasses import replace

import pytest

from deployments.planning.methods import Method
from deployments.planning.plan import Plan
from deployments.selectors.gains import gain_figures, method_gain, situation_of
from deployments.selectors.memory_bars import memory_bars
from tests.planning.builders import a3, combined, gpu, plan, shipped
from tests.planning.cases import CASES, glm_52, practice

KIMI = "moonshotai/Kimi-K2.6"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def llama() -> Plan:
    return plan(combined(LLAMA, "gpu-1"), gpu())


@pytest.mark.parametrize("name", [one for one in CASES if one != "practice"])
def test_the_parts_of_a_device_that_fits_are_the_whole_device(name: str) -> None:
    made = CASES[name]()
    for bar, memory in zip(memory_bars(made.memory), made.memory, strict=True):
        assert bar.capacity_bytes == memory.device_bytes
        assert sum(part.size_bytes for part in bar.parts) == memory.device_bytes
        assert min(part.size_bytes for part in bar.parts) > 0


def test_a_bar_that_does_not_fit_is_as_long_as_what_it_needs() -> None:
    made = plan(combined(KIMI, "a3-1", checkpoint="w8a8"), a3("a3-1"))
    (bar,) = memory_bars(made.memory)
    needed = sum(part.size_bytes or 0 for part in made.memory[0].parts)
    assert bar.fits is False
    assert bar.capacity_bytes == max(64 << 30, needed)
    assert sum(part.size_bytes for part in bar.parts) <= bar.capacity_bytes
    assert "it may use 55.7 GiB" in bar.verdict


def test_an_unknown_device_has_parts_and_no_scale() -> None:
    made = plan(combined(LLAMA, "gpu-1"), gpu(device_memory_bytes=None))
    (bar,) = memory_bars(made.memory)
    assert (bar.fits, bar.capacity_bytes) == (None, None)
    assert {"weights", "drafter"} <= {part.kind for part in bar.parts}


def test_every_number_says_who_says_it() -> None:
    (bar,) = memory_bars(llama().memory)
    assert {line.basis for line in bar.lines} <= {"known", "derived", "assumed"}
    assert all(line.source for line in bar.lines)


def test_hardware_below_its_document_says_so() -> None:
    made = plan(
        combined("deepseek-ai/DeepSeek-V4-Pro", "a3-1", checkpoint="w4a8-mtp"),
        a3("a3-1"),
    )
    (bar,) = memory_bars(made.memory)
    assert "documented on 2 hosts" in bar.verdict


def test_figures_stand_at_the_concurrency_of_the_workload() -> None:
    figures = gain_figures(llama().gain)
    assert figures is not None
    assert figures.concurrency == 16
    assert dict(figures.curve)[16] == figures.speedup
    assert figures.low is not None
    assert figures.high is not None
    assert figures.speedup is not None
    assert figures.low < figures.speedup < figures.high
    assert figures.kind == "assumed"


def test_a_method_is_predicted_where_replies_are_written() -> None:
    hosts = (a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))
    made, entry = glm_52(), shipped("zai-org/GLM-5.2")
    place = situation_of(made, entry, hosts)
    assert place is not None
    assert (place.role.value, place.host.name) == ("decode", "a3-02")
    figures, own = method_gain(place, Method.MTP, 3, None), gain_figures(made.gain)
    assert figures is not None
    assert own is not None
    assert figures.tokens_per_step == own.tokens_per_step


def test_nothing_is_predicted_for_practice_or_for_hosts_that_are_gone() -> None:
    entry = shipped("Qwen/Qwen3-32B")
    assert situation_of(practice(), entry, ()) is None
    assert situation_of(llama(), shipped(LLAMA), ()) is None
    assert method_gain(None, Method.MTP, 1, None) is None
    assert gain_figures(replace(llama(), gain=None).gain) is None
