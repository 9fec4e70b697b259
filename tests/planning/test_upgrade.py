"""What another engine version does to what a deployment uses."""

from dataclasses import replace

import pytest

from deployments.planning.engines.accepted import Flag, Metric, SpeculativeKey, Spelling
from deployments.planning.engines.profile import EngineProfile, find_profile
from deployments.planning.methods import Method
from deployments.planning.plan import Plan
from deployments.planning.planner import make_plan
from deployments.planning.snapshot import ClusterSettings
from deployments.planning.upgrade import (
    Effect,
    Fate,
    Subject,
    retagged,
    upgrade_effects,
    usage_of,
)
from tests.plan_values import plan_value, planned_replica
from tests.planning.builders import combined, gpu, shipped

V032, V033 = find_profile("vllm==0.32.0"), find_profile("vllm==0.33.0")


def plan(*flags: str, method: str | None = "mtp") -> Plan:
    """A plan whose one replica has these flags."""
    return plan_value(replicas=(planned_replica(flags=flags, method=method),))


def effects(
    value: Plan, old: EngineProfile, new: EngineProfile, after: Plan | None = None
) -> dict[str, Effect]:
    """Effects by name; metrics left out."""
    found = upgrade_effects(
        usage_of(value), usage_of(after) if after else None, old, new
    )
    return {one.name: one for one in found if one.subject is not Subject.METRIC}


def test_only_what_is_used_is_named() -> None:
    found = effects(plan("--max-num-seqs", "16", method=None), V032, V033)

    assert found == {}


def test_a_flag_that_goes_names_its_successor_or_the_nearest() -> None:
    old = find_profile("vllm==0.9.2")
    used = plan("--disable-log-requests", "--no-such-thing-at-all", method=None)

    found = effects(used, old, V033)

    gone = found["--disable-log-requests"]
    assert (gone.fate, gone.after) == (Fate.REMOVED, "--no-enable-log-requests")
    unknown = found["--no-such-thing-at-all"]
    assert (unknown.fate, unknown.after, unknown.nearest) == (Fate.REMOVED, None, None)


def test_a_value_that_is_no_longer_taken_is_refused() -> None:
    old = replace(V032, arguments=(Flag(name="--mode", choices=("a", "b")),))
    new = replace(V033, arguments=(Flag(name="--mode", choices=("b", "c")),))

    refused = effects(plan("--mode", "a", method=None), old, new)["--mode"]
    changed = effects(plan("--mode", "b", method=None), old, new)["--mode"]

    assert (refused.fate, refused.before, refused.after) == (Fate.REFUSED, "a", "b, c")
    assert (changed.fate, changed.before, changed.after) == (
        Fate.CHANGED,
        "a, b",
        "b, c",
    )


def test_a_spelling_that_became_an_alias_is_renamed() -> None:
    old = replace(V032, arguments=(Flag(name="--old-name"),))
    new = replace(V033, arguments=(Flag(name="--new-name", aliases=("--old-name",)),))

    found = effects(plan("--old-name", "1", method=None), old, new)["--old-name"]

    assert (found.fate, found.after) == (Fate.RENAMED, "--new-name")


def test_keys_that_go_and_other_defaults_of_keys_that_are_not_set() -> None:
    count = SpeculativeKey(name="num_speculative_tokens")
    old = replace(
        V032,
        keys=(
            SpeculativeKey(name="method"),
            count,
            SpeculativeKey(name="w", default="8"),
        ),
    )
    new = replace(
        V033,
        keys=(SpeculativeKey(name="method"), SpeculativeKey(name="w", default="16")),
    )

    found = effects(plan(), old, new)

    assert found["num_speculative_tokens"].fate is Fate.REMOVED
    default = found["w"]
    assert (default.fate, default.before, default.after) == (Fate.DEFAULT, "8", "16")
    assert effects(plan(method=None), old, new) == {}


@pytest.mark.parametrize(
    ("spelling", "fate"),
    [
        (None, Fate.REMOVED),
        (Spelling(name="mtp", method=Method.MTP, runs=False), Fate.REFUSED),
        (Spelling(name="mtp", method=Method.MTP, deprecated=True), Fate.DEPRECATED),
    ],
)
def test_the_spelling_of_the_method(spelling: Spelling | None, fate: Fate) -> None:
    new = replace(V033, spellings=(spelling,) if spelling else ())

    assert effects(plan(), V032, new)["mtp"].fate is fate


def test_the_old_mtp_words_are_deprecated_from_0_11_on() -> None:
    found = effects(plan(method="deepseek_mtp"), find_profile("vllm==0.10.2"), V033)[
        "deepseek_mtp"
    ]

    assert (found.fate, found.after) == (Fate.DEPRECATED, "mtp")


def test_connector_and_its_keys() -> None:
    config = '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}'
    more = config[:-1] + ',"extra":{"a":1},"kv_load_failure_policy":"fail"}'
    used = plan("--kv-transfer-config", config, method=None)
    later = plan("--kv-transfer-config", more, method=None)

    found = effects(used, V032, find_profile("vllm==0.8.5"), later)

    assert found["NixlConnector"].fate is Fate.REMOVED
    assert "0.9.0" in str(found["NixlConnector"].why)
    assert found["kv_load_failure_policy"].fate is Fate.ADDED
    assert (found["extra.a"].fate, found["extra.a"].after) == (Fate.ADDED, "1")
    back = effects(later, V032, V032, used)
    assert back["extra.a"].fate is Fate.REMOVED
    assert "NixlConnector" not in back


def test_metrics_that_go_move_or_hide() -> None:
    old = replace(
        V032,
        metrics=(
            Metric(name="vllm:gpu_cache_usage_perc"),
            Metric(name="vllm:gone"),
            Metric(name="vllm:shy"),
            Metric(name="vllm:v0", old_core=True),
        ),
    )
    new = replace(
        V033,
        metrics=(
            Metric(name="vllm:kv_cache_usage_perc"),
            Metric(name="vllm:shy", hidden=True),
        ),
    )

    found = upgrade_effects(usage_of(plan(method=None)), None, old, new)

    assert [(one.name, one.fate, one.after) for one in found] == [
        ("vllm:gone", Fate.REMOVED, None),
        ("vllm:gpu_cache_usage_perc", Fate.RENAMED, "vllm:kv_cache_usage_perc"),
        ("vllm:shy", Fate.HIDDEN, None),
    ]


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("registry.example/vllm:v0.32.0-acme", "registry.example/vllm:v0.33.0-acme"),
        ("registry.example:5000/vllm", "registry.example:5000/vllm"),
        ("registry.example/vllm:patched", "registry.example/vllm:patched"),
    ],
)
def test_the_tag_of_an_own_image_follows_the_version(image: str, expected: str) -> None:
    assert retagged(image, "0.32.0+acme", "0.33.0") == expected


def test_what_the_planner_writes_is_taken_by_the_version_it_is_written_for() -> None:
    """The planner rewrites what goes: planned again for the new version, nothing breaks."""
    spec = combined("Qwen/Qwen3-8B", "gpu-1", engine="vllm==0.11.0")
    model, hosts = shipped("Qwen/Qwen3-8B"), (gpu(),)
    after = make_plan(
        replace(spec, engine="vllm==0.33.0"), model, hosts, ClusterSettings()
    )

    found = effects(after, V033, V033)

    assert found == {}
