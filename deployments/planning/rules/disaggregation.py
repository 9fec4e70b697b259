"""Prefill and decode apart: the same drafter on both, layouts that fit, the proxy in front."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.counts import WITHOUT_PREFILL
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.methods import Method
from deployments.planning.plan import Finding, PlannedReplica, Role, Severity
from deployments.planning.revision import Topology
from deployments.planning.text import text
from deployments.planning.versions import Version

HASHED_SINCE = Version((0, 28, 0))
ASCEND_GUIDE = "vllm-ascend documentation v0.23.0, prefill/decode disaggregation"


def disaggregation_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge what prefill and decode owe each other."""
    if context.spec.topology is not Topology.DISAGGREGATED:
        return
    prefill, decode = context.role(Role.PREFILL), context.role(Role.DECODE)
    if prefill is None or decode is None:
        return
    if context.platform.kv_connector is None:
        yield Finding(
            code="NO_KV_CONNECTOR",
            category="disaggregation",
            severity=Severity.ERROR,
            message=text(
                "{platform} has no connector that carries the KV cache from prefill to decode.",
                platform=context.platform.title,
            ),
            fix=text("Serve prefill and decode combined."),
            source="vLLM 0.32.0, registered connectors",
        )
    yield from _one_sided(context, prefill, decode)
    yield from _tensor_parallel(context, prefill, decode)
    yield _proxy(context)


def _one_sided(
    context: PlanContext, prefill: RoleSettings, decode: RoleSettings
) -> Iterator[Finding]:
    method = context.method
    if method is None or method in WITHOUT_PREFILL:
        return
    if (prefill.speculative is None) == (decode.speculative is None):
        return
    without = "prefill" if prefill.speculative is None else "decode"
    refused, source = _refusal(context, method)
    yield Finding(
        code="DRAFTER_ON_ONE_SIDE",
        category="disaggregation",
        severity=Severity.ERROR if refused else Severity.WARNING,
        message=text(
            "{role} does not draft, so the drafter's KV cache of the prompt is missing or "
            "unused: the sides refuse each other, or decode accepts little at first.",
            role=without.capitalize(),
        ),
        fix=text("Use the same method and drafter on both; prefill drafts 1 token."),
        source=source,
    )


def _refusal(context: PlanContext, method: Method) -> tuple[bool, str]:
    if context.profile.engine == VLLM_ASCEND:
        return (
            method is not Method.EAGLE3,
            f"{ASCEND_GUIDE}; Kimi-K2.6 documents EAGLE-3 on decode only",
        )
    hashed = context.profile.vllm >= HASHED_SINCE and method is not Method.DRAFT_MODEL
    return hashed, "vLLM 0.28.0 and later, NIXL compatibility hash"


def _tensor_parallel(
    context: PlanContext, prefill: RoleSettings, decode: RoleSettings
) -> Iterator[Finding]:
    first, second = (
        prefill.layout.tensor_parallel_size,
        decode.layout.tensor_parallel_size,
    )
    if context.profile.engine != VLLM_ASCEND or first % second == 0:
        return
    yield Finding(
        code="PREFILL_TENSOR_PARALLEL",
        category="disaggregation",
        severity=Severity.ERROR,
        message=text(
            "Prefill has {first} tensor parallel ranks and decode {second}; the Mooncake "
            "connector needs prefill's to be a multiple of decode's.",
            first=first,
            second=second,
        ),
        fix=text(
            "Give prefill a multiple of {second}, or decode a divisor of {first}.",
            second=second,
            first=first,
        ),
        source=ASCEND_GUIDE,
    )


def _proxy(context: PlanContext) -> Finding:
    heads = [one for one in context.replicas if one.health_port is not None]
    prefill = [_address(context, one) for one in heads if one.role is Role.PREFILL]
    decode = [_address(context, one) for one in heads if one.role is Role.DECODE]
    ascend = context.profile.engine == VLLM_ASCEND
    return Finding(
        code="PROXY_NEEDED",
        category="disaggregation",
        severity=Severity.WARNING,
        message=text(
            "Clients cannot call prefill or decode directly: a proxy must send each request to "
            "prefill and then to decode, and this plan does not start one."
        ),
        fix=text("Run the proxy that the evidence shows and give clients its address."),
        source=f"{ASCEND_GUIDE}, load_balance_proxy_server_example.py"
        if ascend
        else "vLLM 0.32.0 documentation, vllm-router",
        evidence=_ascend_proxy(prefill, decode) if ascend else _router(prefill, decode),
    )


def _address(context: PlanContext, replica: PlannedReplica) -> tuple[str, int]:
    host = next(one for one in context.hosts if one.name == replica.host)
    return host.address or f"<address of {host.name}>", replica.health_port or 0


def _ascend_proxy(prefill: list[tuple[str, int]], decode: list[tuple[str, int]]) -> str:
    parts = ["python3 load_balance_proxy_server_example.py --host 0.0.0.0 --port 8000"]
    for name, places in (("prefiller", prefill), ("decoder", decode)):
        parts.append(f"--{name}-hosts {' '.join(host for host, _port in places)}")
        parts.append(f"--{name}-ports {' '.join(str(port) for _host, port in places)}")
    return " ".join(parts)


def _router(prefill: list[tuple[str, int]], decode: list[tuple[str, int]]) -> str:
    parts = [
        "vllm-router --policy round_robin --vllm-pd-disaggregation --kv-connector nixl"
    ]
    parts += [f"--prefill http://{host}:{port}" for host, port in prefill]
    parts += [f"--decode http://{host}:{port}" for host, port in decode]
    return " ".join([*parts, "--host 0.0.0.0 --port 8000"])
