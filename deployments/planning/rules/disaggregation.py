"""Prefill and decode apart: the same drafter on both, layouts that fit, the proxy in front."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.counts import WITHOUT_PREFILL
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.methods import Method
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.rdma import VARIABLE, moves_by_nixl, names_rdma
from deployments.planning.revision import Topology
from deployments.planning.router import ASCEND_SOURCE, ROUTER_SOURCE
from deployments.planning.text import listed, text
from deployments.planning.transfer import CONNECTOR_SINCE, connector_of
from deployments.planning.versions import Version, parse_version

HASHED_SINCE = Version((0, 28, 0))
RDMA_SOURCE = (
    "NVIDIA Dynamo documentation 1.2.0, disaggregated inference communication; vLLM documentation, "
    "NixlConnector usage"
)
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
    yield from _connector(context, decode)
    yield from _transport(context, prefill, decode)
    yield from _router(context)


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


def _connector(context: PlanContext, decode: RoleSettings) -> Iterator[Finding]:
    connector = connector_of(context, decode)
    since = CONNECTOR_SINCE.get(connector or "")
    if since is None or context.practice:
        return
    if parse_version(context.profile.version) >= parse_version(since):
        return
    yield Finding(
        code="KV_CONNECTOR_TOO_NEW",
        category="disaggregation",
        severity=Severity.ERROR,
        message=text(
            "{engine} {version} has no {connector}; {since} is the first release that has it.",
            engine=context.profile.engine,
            version=context.profile.version,
            connector=connector or "",
            since=since,
        ),
        fix=text(
            "Use {engine}=={since} or later.",
            engine=context.profile.engine,
            since=since,
        ),
        source="vLLM sources, 0.8.5 to 0.33.0; vllm-ascend release notes, v0.23.0",
        evidence=connector or "",
    )


def _transport(
    context: PlanContext, prefill: RoleSettings, decode: RoleSettings
) -> Iterator[Finding]:
    """Without an RDMA device UCX takes TCP, and says so only in its log."""
    if context.practice or not moves_by_nixl(context, decode):
        return
    slow = {
        host.name
        for side in (prefill, decode)
        if not names_rdma(context, side)
        for host in side.layout.hosts
    }
    hosts = {host.name for side in (prefill, decode) for host in side.layout.hosts}
    if not slow or len(hosts) == 1:
        return
    yield Finding(
        code="KV_TRANSFER_OVER_TCP",
        category="disaggregation",
        severity=Severity.WARNING,
        message=text(
            "No RDMA device is known for {hosts}, so UCX, which NIXL rests on, carries the KV cache "
            "over TCP: NVIDIA saw first tokens come 200 to 500 times later than with RDMA.",
            hosts=listed(sorted(slow)),
        ),
        fix=text(
            "Name the RDMA device of the hosts in the variable {variable}, for example {example}, or "
            "serve prefill and decode combined.",
            variable=VARIABLE,
            example="mlx5_0:1",
        ),
        source=RDMA_SOURCE,
        evidence=", ".join(sorted(slow)),
    )


def _router(context: PlanContext) -> Iterator[Finding]:
    router = next((one for one in context.replicas if one.role is Role.ROUTER), None)
    if router is None:
        return
    ascend = context.profile.engine == VLLM_ASCEND
    yield Finding(
        code="ROUTER_PLANNED",
        category="disaggregation",
        severity=Severity.INFO,
        message=text(
            "Clients call the router on {host}, port {port}: it sends each request to prefill and "
            "then to decode. It starts when both are ready.",
            host=router.host,
            port=str(router.health_port),
        ),
        fix=text("Give clients its address, never that of prefill or decode."),
        source=ASCEND_SOURCE if ascend else ROUTER_SOURCE,
        evidence=" ".join(router.container.command),
    )
