"""Same inputs, same bytes, in whatever order they come; any change changes the digest."""

import random
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments.planning.canonical import Json, digest_of
from deployments.planning.planner import make_plan
from deployments.planning.snapshot import ClusterSettings, HostSnapshot, ImageSnapshot
from tests.planning.builders import a3, apart, decode, prefill, shipped
from tests.planning.cases import CASES

MODEL = "zai-org/GLM-5.2"
SLOW_MACHINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
IMAGES = tuple(
    ImageSnapshot(reference=f"image:{number}", image_id=f"sha256:{number}")
    for number in range(3)
)
REWRITES = (
    ("quay.io", "mirror.example/quay"),
    ("quay.io/ascend", "mirror.example/ascend"),
)
PLANS = [make() for make in CASES.values()]


def _hosts() -> list[HostSnapshot]:
    return [
        a3(name, f"10.0.0.{number}", taken_ports=(8100, 9000, 9001), images=IMAGES)
        for number, name in enumerate(("a", "b", "c"))
    ]


def _digest(seed: int) -> str:
    shuffle = random.Random(seed)  # noqa: S311 - orders, not secrets
    hosts = _hosts()
    shuffle.shuffle(hosts)
    hosts = [
        replace(
            host,
            taken_ports=tuple(shuffle.sample(host.taken_ports, 3)),
            images=tuple(shuffle.sample(host.images, 3)),
        )
        for host in hosts
    ]
    spec = apart(MODEL, prefill("a"), decode("b", "c"))
    extra = (("--seed", "1"), ("--enable-log-requests", ""), ("--max-logprobs", "5"))
    spec = replace(
        spec,
        roles=tuple(shuffle.sample(spec.roles, 2)),
        extra_flags=tuple(shuffle.sample(extra, 3)),
    )
    rewrites = tuple(shuffle.sample(REWRITES, 2))
    made = make_plan(
        spec, shipped(MODEL), hosts, ClusterSettings(image_rewrites=rewrites)
    )
    return made.digest


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW_MACHINE)
@given(st.integers())
def test_order_of_inputs_does_not_matter(seed: int) -> None:
    assert _digest(seed) == _digest(0)


def _leaves(
    value: Json, path: tuple[str | int, ...] = ()
) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict) and value:
        return [leaf for key in value for leaf in _leaves(value[key], (*path, key))]
    if isinstance(value, list) and value:
        return [
            leaf for i, item in enumerate(value) for leaf in _leaves(item, (*path, i))
        ]
    return [path]


def _changed(value: Json, path: tuple[str | int, ...]) -> Json:
    if path:
        key, rest = path[0], path[1:]
        if isinstance(value, dict) and isinstance(key, str):
            return {**value, key: _changed(value[key], rest)}
        if isinstance(value, list) and isinstance(key, int):
            return [*value[:key], _changed(value[key], rest), *value[key + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value} changed"


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW_MACHINE)
@given(st.data())
def test_every_leaf_decides_the_digest(data: st.DataObject) -> None:
    made = data.draw(st.sampled_from(PLANS))
    path = data.draw(st.sampled_from(_leaves(made.document)))
    assert digest_of(_changed(made.document, path)) != made.digest


def test_catalog_key_order_does_not_matter() -> None:
    model = shipped(MODEL)
    turned = replace(
        model,
        serving=tuple(
            replace(
                one,
                flags=dict(reversed(one.flags.items())),
                environment=dict(reversed(one.environment.items())),
            )
            for one in model.serving
        ),
    )
    spec = apart(MODEL, prefill("a"), decode("b"))
    digests = {
        make_plan(spec, one, _hosts(), ClusterSettings()).digest
        for one in (model, turned)
    }
    assert len(digests) == 1
