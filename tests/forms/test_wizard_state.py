"""The wizard's address: every revision survives it, and bad values say what is wrong."""

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from deployments.forms.wizard.draft import DEVICES_UNASKED, export_hosts
from deployments.forms.wizard.form import WizardForm, suggested_name
from deployments.forms.wizard.spec import (
    PRACTICE_REFERENCE,
    address_of_spec,
    chosen_hosts,
    role_hosts,
    spec_from,
    workload_from,
)
from deployments.forms.wizard.steps import Step
from deployments.forms.wizard.workloads import BY_KEY, PRESETS
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.planning.revision import (
    Goal,
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Topology,
    Workload,
)
from tests.wizard_values import (
    GLM,
    HOSTS,
    QWEN,
    choices,
    cluster_choice,
    form_of,
    query,
)

OFFERED = choices()
CLUSTER = OFFERED.clusters[0]


def maybe(values: st.SearchStrategy[int]) -> st.SearchStrategy[int | None]:
    return st.none() | values


names = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True)
counts = maybe(st.integers(1, 64))
hosts = st.lists(st.sampled_from(HOSTS), min_size=1, unique=True).map(tuple)
flag_values = (
    st.just("")
    | st.from_regex(r"[A-Za-z0-9._/:=+-]{1,12}", fullmatch=True).filter(
        lambda text: not text.startswith("-")
    )
    | st.just('{"a":[1,2],"b":"x y"}')
    | st.text("ab 'x\"$\\", min_size=1, max_size=8).filter(
        lambda text: text == text.strip()
    )
)
flags = st.dictionaries(
    st.from_regex(r"--[a-z][a-z0-9-]{0,12}", fullmatch=True), flag_values, max_size=3
).map(lambda found: tuple(found.items()))


def roles(role: Role, *, tokens: bool) -> st.SearchStrategy[RoleSpec]:
    return st.builds(
        RoleSpec,
        role=st.just(role),
        hosts=hosts,
        num_speculative_tokens=maybe(st.integers(0, 64)) if tokens else st.none(),
        devices_per_host=counts,
        tensor_parallel_size=counts,
        data_parallel_size=counts,
        pipeline_parallel_size=maybe(st.integers(1, 64)),
        port=maybe(st.integers(1, 65535)),
    )


combined = st.tuples(
    st.just(Topology.COMBINED), st.tuples(roles(Role.COMBINED, tokens=False))
)
apart = st.tuples(
    st.just(Topology.DISAGGREGATED),
    st.tuples(roles(Role.PREFILL, tokens=True), roles(Role.DECODE, tokens=True)),
)
switches = st.dictionaries(
    st.sampled_from(["reasoning", "text_only", "tool_calling"]), st.booleans()
).map(lambda chosen: tuple(sorted(chosen.items())))
variables = st.dictionaries(
    st.sampled_from(["OMP_NUM_THREADS", "VLLM_LOGGING_LEVEL", "no_proxy"]),
    st.sampled_from(["1", "DEBUG", "a=b, c", ""]),
).map(lambda found: tuple(sorted(found.items())))
workloads = st.builds(
    Workload,
    input_tokens=st.integers(1, 2_000_000),
    output_tokens=st.integers(1, 1_000_000),
    concurrency=st.integers(1, 100_000),
    goal=st.sampled_from(Goal),
) | st.sampled_from([preset.workload for preset in PRESETS])
speculations = st.builds(
    SpeculationChoice,
    method=st.sampled_from(["auto", "off", *(method.value for method in Method)]),
    num_speculative_tokens=counts,
) | st.just(SpeculationChoice(method="eagle3", drafter="qwen3-8b-eagle3"))


@st.composite
def specs(draw: st.DrawFn) -> RevisionSpec:
    topology, chosen = draw(combined | apart)
    speculation = draw(speculations)
    return RevisionSpec(
        name=draw(names),
        model=QWEN,
        checkpoint=draw(st.sampled_from([None, "bf16"])),
        engine=draw(st.sampled_from([None, "vllm==0.32.0", "vllm==0.33.0"])),
        image=draw(
            st.sampled_from(
                [None, PRACTICE_REFERENCE, "registry.example/vllm-openai:v0.32.0"]
            )
        ),
        speculation=SpeculationChoice(
            method=speculation.method,
            num_speculative_tokens=speculation.num_speculative_tokens,
            drafter=_existing_drafter(speculation),
        ),
        topology=topology,
        roles=chosen,
        workload=draw(workloads),
        limits=Limits(
            max_model_len=draw(maybe(st.integers(1, 10_000_000))),
            max_num_seqs=draw(maybe(st.integers(1, 65_536))),
            max_num_batched_tokens=draw(maybe(st.integers(1, 10_000_000))),
            gpu_memory_utilization_percent=draw(maybe(st.integers(1, 99))),
        ),
        served_model_name=draw(st.sampled_from([None, "chat", "org/Model-7B:latest"])),
        extra_flags=draw(flags),
        features=draw(switches),
        api_key=draw(st.sampled_from([None, "off", "chat-key"])),
        environment=draw(variables),
        canary=draw(st.none() | speculations),
    )


def _existing_drafter(speculation: SpeculationChoice) -> str | None:
    if speculation.drafter is None:
        return None
    heads = [
        row["key"]
        for model in OFFERED.models
        if model.key == QWEN
        for row in model.document["drafters"]
        if row["method"] == "eagle3"
    ]
    return str(heads[0])


@given(specs())
def test_every_revision_survives_the_address(spec: RevisionSpec) -> None:
    form = form_of(OFFERED, address_of_spec(spec, CLUSTER.row))

    assert form.errors == {}
    assert form.unknown_keys == []
    assert spec_from(form) == spec


@given(specs(), st.sampled_from(Step))
def test_following_the_steps_changes_nothing(spec: RevisionSpec, step: Step) -> None:
    form = form_of(OFFERED, address_of_spec(spec, CLUSTER.row))

    again = form_of(OFFERED, form.address(step))

    assert again.step is step
    assert spec_from(again) == spec


@given(st.dictionaries(st.sampled_from([*WizardForm.base_fields, "x"]), st.text()))
def test_no_address_breaks_the_form(values: dict[str, str]) -> None:
    plain = QueryDict(mutable=True)
    plain.update(values)

    form = WizardForm(plain, OFFERED)
    form.is_valid()

    spec_from(form)
    form.address(Step.REVIEW)
    form.carried()


COMPLETE = {"model": QWEN, "cluster": CLUSTER.key, "host": "gpu-1", "max_num_seqs": "7"}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model", "acme/unknown", "The catalog has no model “acme/unknown”"),
        ("model", "a\x00b", "control or invisible character"),
        ("model", "a b", "use letters, digits"),
        ("checkpoint", "int2", "has no checkpoint 'int2'"),
        ("drafter", "nobody", "binds no drafter 'nobody'"),
        ("cluster", "not-an-id", "There is no cluster not-an-id"),
        ("cluster", "7c64333c-8f7f-433c-b2c8-32d9d33352ba", "There is no cluster"),
        ("host", "gpu-9", "has no host “gpu-9”"),
        ("place", "moon", "choose one of: cluster, platform"),
        ("method", "telepathy", "is no choice here"),
        ("pin", "telepathy", "is no method to compare"),
        ("topology", "ring", "is no choice here"),
        ("preset", "lunch", "is no choice here"),
        ("engine", "vllm==99", "is no choice here"),
        ("tokens", "NaN", "“NaN” is not a whole number"),
        ("tokens", "inf", "is not a whole number"),
        ("tokens", "1e3", "is not a whole number"),
        ("tokens", "-1", "is not a whole number"),
        ("tokens", "3.0", "is not a whole number"),
        ("tokens", "٣", "is not a whole number"),
        ("tokens", "9" * 400, "is out of range"),
        ("tokens", "65", "choose a number from 1 to 64"),
        ("tokens", "0", "choose a number from 1 to 64"),
        ("combined_port", "65536", "choose a number from 1 to 65535"),
        ("max_model_len", "999999999999999", "is out of range"),
        ("memory_percent", "100", "choose a number from 1 to 99"),
        ("name", "Chat", "use small letters"),
        ("name", "chat-", "use small letters"),
        ("name", "chat\u200b", "control or invisible character"),
        ("name", "chat\u202etac", "control or invisible character"),
        ("name", "x" * 41, "keep it to 40"),
        ("served_model_name", "a model", "use letters, digits"),
        ("image", "vllm latest", "write an image reference"),
        ("extra_flags", "--a {", "The JSON after --a cannot be read"),
    ],
)
def test_a_bad_value_says_what_is_wrong_and_loses_nothing_else(
    field: str, value: str, sentence: str
) -> None:
    form = form_of(OFFERED, query(**COMPLETE | {field: value}))

    assert list(form.errors) == [field]
    assert len(form.errors[field]) == 1
    assert sentence in form.errors[field][0]
    kept = dict(form.state())
    assert kept | {field: value} == COMPLETE | {field: value}
    assert form.raw(field) == [value]


def test_a_key_that_stands_twice_is_refused() -> None:
    form = form_of(OFFERED, query(**COMPLETE | {"tokens": ["3", "5"]}))

    assert "two values, “3” and “5”" in form.errors["tokens"][0]


def test_three_methods_do_not_stand_side_by_side() -> None:
    form = form_of(OFFERED, query(**COMPLETE, pin=["mtp", "off", "eagle3"]))

    assert "take one away" in form.errors["pin"][0]


def test_a_host_without_its_cluster_asks_for_the_cluster() -> None:
    form = form_of(OFFERED, query(model=QWEN, host="gpu-1"))

    assert form.errors["host"] == ["Choose the cluster of gpu-1 first."]


def test_unknown_keys_are_named_and_left_out() -> None:
    form = form_of(OFFERED, query(**COMPLETE, utm_source="mail"))

    assert form.unknown_keys == ["utm_source"]
    assert form.errors == {}
    assert "utm_source" not in form.address(Step.REVIEW)


def test_an_empty_address_is_no_error_and_no_revision() -> None:
    form = form_of(OFFERED, "")

    assert form.errors == {}
    assert form.step is Step.MODEL
    assert spec_from(form) is None
    assert list(form.state()) == []


def test_a_bad_value_leaves_the_rest_to_be_planned() -> None:
    form = form_of(OFFERED, query(**COMPLETE | {"tokens": "many"}))

    spec = spec_from(form)

    assert spec is not None
    assert spec.limits.max_num_seqs == 7
    assert spec.speculation.num_speculative_tokens is None


def test_a_drafter_of_another_method_is_left_behind() -> None:
    head = _existing_drafter(SpeculationChoice(drafter="any"))

    form = form_of(OFFERED, query(**COMPLETE, method="ngram", drafter=head))

    spec = spec_from(form)
    assert spec is not None
    assert spec.speculation.drafter is None


def test_a_platform_without_a_host_names_its_hosts() -> None:
    address = query(model=GLM, place="platform", platform="ascend-a3", platform_hosts=2)

    form = form_of(OFFERED, address)

    assert chosen_hosts(form) == ("host-1", "host-2")
    snapshots = export_hosts(form)
    assert [host.device_count for host in snapshots] == [
        DEVICES_UNASKED["ascend-a3"]
    ] * 2
    assert {host.device_memory_bytes for host in snapshots} == {64 << 30}


def test_what_is_said_of_a_platform_reaches_its_hosts() -> None:
    address = query(
        model=QWEN,
        place="platform",
        platform="nvidia",
        platform_devices=0,
        platform_memory=80,
        platform_device="H100",
        platform_architecture="aarch64",
    )

    (host,) = export_hosts(form_of(OFFERED, address))

    assert (host.device_count, host.device_memory_bytes) == (0, 80 << 30)
    assert (host.device, host.architecture) == ("H100", "aarch64")


def test_a_platform_keeps_the_cluster_for_later() -> None:
    form = form_of(OFFERED, query(**COMPLETE, place="platform", platform="cpu"))

    assert form.errors == {}
    assert form.cluster_choice is None
    assert ("host", "gpu-1") in form.carried()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, (("gpu-1",), ("gpu-2", "gpu-3"))),
        ({"prefill_host": "gpu-3"}, (("gpu-3",), ("gpu-2", "gpu-3"))),
        ({"decode_host": ["gpu-1", "gpu-3"]}, (("gpu-1",), ("gpu-1", "gpu-3"))),
    ],
)
def test_roles_share_the_hosts_unless_told(
    chosen: dict[str, object], expected: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    address = query(
        model=QWEN, cluster=CLUSTER.key, host=HOSTS, topology="disaggregated", **chosen
    )

    assert role_hosts(form_of(OFFERED, address)) == expected


def test_one_host_serves_both_roles() -> None:
    offered = choices(cluster_choice("solo"))
    address = query(model=QWEN, cluster=offered.clusters[0].key, host="solo")

    assert role_hosts(form_of(offered, address)) == (("solo",), ("solo",))


def test_a_role_loses_a_host_that_was_taken_off() -> None:
    address = query(
        model=QWEN,
        cluster=CLUSTER.key,
        host=["gpu-1", "gpu-2"],
        prefill_host=["gpu-1", "gpu-3"],
    )

    form = form_of(OFFERED, address)

    assert form.errors == {}
    assert role_hosts(form)[0] == ("gpu-1",)


def test_own_numbers_fall_back_where_they_are_empty() -> None:
    form = form_of(OFFERED, query(preset="own", concurrency=64, goal="latency"))

    assert workload_from(form) == Workload(concurrency=64, goal=Goal.LATENCY)


def test_numbers_beside_a_preset_are_kept_but_not_used() -> None:
    form = form_of(OFFERED, query(preset="batch", concurrency=64))

    assert workload_from(form) == BY_KEY["batch"].workload
    assert ("concurrency", "64") in form.state()


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("zai-org/GLM-5.2", "glm-5-2"),
        ("plain", "plain"),
        ("org/" + "x" * 39 + ".y", "x" * 39),
        ("org/___", "deployment"),
    ],
)
def test_a_name_is_suggested_from_the_model(key: str, name: str) -> None:
    assert suggested_name(key) == name
