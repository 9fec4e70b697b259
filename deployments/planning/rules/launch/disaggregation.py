"""Prefill and decode apart: connectors by version, roles, and what both sides owe each other."""

import difflib
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.pairs import counts_must_be_equal
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_key
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import listed, text
from deployments.planning.versions import Version

FLAG = "--kv-transfer-config"
REMOVED_KEYS = ("kv_rank", "kv_parallel_size", "kv_ip", "kv_buffer_size")
_CONNECTORS = {
    "PyNcclConnector": (None, (0, 10, 1)),
    "LMCacheConnector": (None, (0, 10, 1)),
    "LMCacheConnectorV1": ((0, 8, 5), None),
    "SharedStorageConnector": ((0, 8, 5), (0, 13, 0)),
    "ExampleConnector": ((0, 13, 0), None),
    "NixlConnector": ((0, 9, 0), None),
    "MultiConnector": ((0, 9, 0), None),
    "P2pNcclConnector": ((0, 9, 2), (0, 24, 0)),
    "OffloadingConnector": ((0, 11, 0), None),
    "DecodeBenchConnector": ((0, 11, 1), None),
    "LMCacheMPConnector": ((0, 11, 1), None),
    "MooncakeConnector": ((0, 13, 0), None),
    "MoRIIOConnector": ((0, 14, 1), None),
    "FlexKVConnectorV1": ((0, 18, 0), None),
    "SimpleCPUOffloadConnector": ((0, 18, 0), None),
    "HF3FSKVConnector": ((0, 18, 0), None),
    "MooncakeStoreConnector": ((0, 18, 0), None),
    "NixlPullConnector": ((0, 24, 0), None),
    "NixlPushConnector": ((0, 24, 0), None),
    "HiSparseConnector": ((0, 30, 0), None),
    "ExampleHiddenStatesConnector": ((0, 17, 0), None),
}
"""Connectors of vLLM with the release that brought each and the first without it (sources)."""

_ASCEND_CONNECTORS = (
    "MooncakeConnectorV1",
    "MooncakeConnector",
    "MooncakeHybridConnector",
    "MooncakeLayerwiseConnector",
    "MultiConnector",
    "AscendStoreConnector",
    "MooncakeConnectorStoreV1",
    "UCMConnector",
    "OffloadingConnector",
    "SimpleCPUOffloadConnector",
    "RecomputeCPUOffloadConnector",
    "SfaRemoteD2HConnector",
)
_ROLES = ("kv_producer", "kv_consumer", "kv_both")
_GONE_ON_ASCEND = ("LLMDataDistCMgrConnector", "LLMDataDistConnector")


@RuleCard(
    code="KV_CONNECTOR_REFUSED",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("The engine version has no KV connector of that name."),
    fix=text("Use NixlConnector on GPUs and MooncakeConnectorV1 on Ascend."),
    source="vLLM sources 0.7.3 to 0.33.0 and vllm-ascend sources, registered connectors; vllm#44854",
    versions=text("by connector"),
)
def connector(view: LaunchView) -> Iterator[Hit]:
    """Fires on unknown, removed and future connectors."""
    name = view.transfer.get("kv_connector")
    if (
        not isinstance(name, str)
        or "kv_connector_module_path" in view.transfer
        or "$" in name
    ):
        return
    if view.ascend:
        yield from _on_ascend(view, name)
        return
    if name not in _CONNECTORS:
        near = difflib.get_close_matches(name, _CONNECTORS, n=1, cutoff=0.7)
        yield Hit(
            message=text("vLLM has no KV connector {name}.", name=name),
            fix=text("Did you mean {near}?", near=near[0])
            if near
            else text("Use NixlConnector."),
            evidence=name,
            start=view.place(FLAG),
        )
        return
    since, gone = _CONNECTORS[name]
    version = view.engine.vllm
    if (
        gone is not None
        and (version is None or version >= Version(gone))
        and not view.engine.old
    ):
        yield Hit(
            message=text(
                "vLLM {gone} removed {name}.", name=name, gone=str(Version(gone))
            ),
            evidence=name,
            start=view.place(FLAG),
        )
    elif since is not None and view.vllm_before(*since):
        yield Hit(
            message=text(
                "{name} exists since vLLM {since}.",
                name=name,
                since=str(Version(since)),
            ),
            evidence=name,
            start=view.place(FLAG),
        )


def _on_ascend(view: LaunchView, name: str) -> Iterator[Hit]:
    if name in _ASCEND_CONNECTORS:
        return
    gone = name in _GONE_ON_ASCEND
    if (
        gone
        and view.engine.version is not None
        and view.engine.version < Version((0, 12, 0), (0, 1))
    ):
        return
    yield Hit(
        message=text("vllm-ascend has no KV connector {name}.", name=name),
        fix=text("Use MooncakeConnectorV1."),
        severity=Severity.ERROR
        if gone or name == "NixlConnector"
        else Severity.WARNING,
        evidence=name,
        start=view.place(FLAG),
    )


@RuleCard(
    code="KV_ROLE_MISSING",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("A KV connector wants a role: kv_producer, kv_consumer or kv_both."),
    fix=text("Write kv_role."),
    source="vLLM 0.32.0, run: Please specify kv_role when kv_connector is set",
)
def role_missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on a connector without a role, and on a role that does not exist."""
    role, name = view.transfer.get("kv_role"), view.transfer.get("kv_connector")
    if name is not None and role is None:
        yield Hit(
            message=text("{name} stands without kv_role.", name=str(name)[:80]),
            evidence=str(name)[:80],
            start=view.place(FLAG),
        )
    elif role is not None and role not in _ROLES and "$" not in str(role):
        yield Hit(
            message=text("{role} is no KV role.", role=str(role)[:80]),
            evidence=str(role)[:80],
            start=view.place(FLAG),
        )


@RuleCard(
    code="KV_CONNECTOR_MISSING",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text("A KV role stands without a connector: nothing is transferred."),
    fix=text("Name the connector in kv_connector."),
    source="vLLM sources, KVTransferConfig",
)
def connector_missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on a role alone."""
    if (
        view.transfer.get("kv_role") is not None
        and view.transfer.get("kv_connector") is None
    ):
        yield Hit(
            message=text(
                "kv_role is given, but no kv_connector: nothing is transferred."
            ),
            evidence=str(view.transfer.get("kv_role"))[:80],
            start=view.place(FLAG),
        )


@RuleCard(
    code="KV_KEYS_REMOVED",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "vLLM 0.32.0 removed kv_rank, kv_parallel_size, kv_ip and kv_buffer_size and refuses them."
    ),
    fix=text("Leave these keys out."),
    source="vLLM sources, 0.31.0 and 0.32.0",
    versions=text("vLLM 0.32.0 and later"),
    platforms=("cuda", "rocm", "xpu"),
)
def removed_keys(view: LaunchView) -> Iterator[Hit]:
    """Fires on a key of old guides."""
    used = [key for key in REMOVED_KEYS if key in view.transfer]
    version = view.engine.vllm
    if not used or view.ascend or view.engine.old:
        return
    if version is None or version >= Version((0, 32, 0)):
        yield Hit(
            message=text("{keys} are refused since vLLM 0.32.0.", keys=listed(used)),
            evidence=", ".join(used),
            start=view.place(FLAG),
        )


@RuleCard(
    code="KV_ROLE_BOTH_OLD",
    category="disaggregation",
    severity=Severity.INFO,
    summary=text("NIXL deprecates kv_both since vLLM 0.23.0."),
    fix=text("Write kv_producer on prefill and kv_consumer on decode."),
    source="vLLM 0.23.0 and later, sources",
    versions=text("vLLM 0.23.0 and later"),
)
def role_both(view: LaunchView) -> Iterator[Hit]:
    """Fires on NIXL with kv_both."""
    if view.transfer.get("kv_role") != "kv_both" or view.vllm_before(0, 23, 0):
        return
    if str(view.transfer.get("kv_connector")).startswith("Nixl"):
        yield Hit(
            message=text("NIXL takes kv_both with a warning."),
            evidence="kv_both",
            start=view.place(FLAG),
        )


@RuleCard(
    code="PREFILL_DRAFTS_IN_VAIN",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text(
        "Prefill emits one token per request: further drafts are thrown away and delay the first token."
    ),
    fix=text("Draft 1 on prefill; hybrid models and DSpark draft as many as decode."),
    source="vllm-ascend documentation v0.23.0, prefill/decode tutorials; field guide, pitfalls",
)
def prefill_count(view: LaunchView) -> Iterator[Hit]:
    """Fires on a prefill node that drafts more than one token."""
    count = view.count or 0
    if view.role == "prefill" and count > 1 and not counts_must_be_equal(view):
        yield Hit(
            message=text(
                "Prefill drafts {count} tokens, but it emits one token per request.",
                count=count,
            ),
            evidence=str(count),
            start=view.spec_place,
            edits=(set_key("num_speculative_tokens", 1),),
        )


@RuleCard(
    code="SCHEDULER_OF_OTHER_ROLE",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "recompute_scheduler_enable belongs on decode nodes only, enable_balance_scheduling on mixed nodes only."
    ),
    fix=text("Leave it out here."),
    source="vllm-ascend sources, platform.py",
    platforms=("ascend",),
)
def scheduler(view: LaunchView) -> Iterator[Hit]:
    """Fires on the recompute scheduler outside decode and on balancing outside mixed nodes."""
    if not view.ascend:
        return
    nested = view.additional.get("scheduler_config")
    config: dict[str, Json] = {
        **view.additional,
        **(nested if isinstance(nested, dict) else {}),
    }
    role = view.transfer.get("kv_role")
    if config.get("recompute_scheduler_enable") is True and role != "kv_consumer":
        yield Hit(
            message=text("recompute_scheduler_enable works on decode nodes only."),
            severity=Severity.WARNING
            if role == "kv_producer" or view.launch.flag(FLAG)
            else Severity.ERROR,
            evidence="recompute_scheduler_enable",
            start=view.place("--additional-config"),
        )
    balancing = config.get("enable_balance_scheduling") is True
    if balancing and role in ("kv_producer", "kv_consumer"):
        yield Hit(
            message=text("enable_balance_scheduling works on mixed nodes only."),
            evidence="enable_balance_scheduling",
            start=view.place("--additional-config"),
        )


@RuleCard(
    code="KV_TOPOLOGY_DIFFERS",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text("The topology in kv_connector_extra_config is not that of the flags."),
    fix=text("Write the same sizes in both."),
    source="vllm-ascend sources, Mooncake connector",
    platforms=("ascend",),
)
def topology(view: LaunchView) -> Iterator[Hit]:
    """Fires where tp_size of the own role is not --tensor-parallel-size."""
    extra = view.transfer.get("kv_connector_extra_config")
    side = extra.get(view.role or "") if isinstance(extra, dict) else None
    ranks = view.launch.number("--tensor-parallel-size")
    stated = side.get("tp_size") if isinstance(side, dict) else None
    if not isinstance(stated, int) or ranks is None or stated == ranks:
        return
    yield Hit(
        message=text(
            "The connector's tp_size is {stated}, and --tensor-parallel-size is {ranks}.",
            stated=stated,
            ranks=ranks,
        ),
        evidence=str(stated),
        start=view.place(FLAG),
    )


@RuleCard(
    code="KV_PORT_IN_RANDOM_RANGE",
    category="port",
    severity=Severity.INFO,
    summary=text(
        "Ascend's direct transport takes random ports from 20000 on, 1000 per device; a kv_port among them may be taken."
    ),
    fix=text("Use 28000 and above with 8 devices, 36000 and above with 16."),
    source="vllm-ascend documentation v0.23.0, Mooncake multi-node guide",
    platforms=("ascend",),
)
def random_ports(view: LaunchView) -> Iterator[Hit]:
    """Fires on a kv_port between 20000 and 28000."""
    given = view.transfer.get("kv_port")
    port = (
        int(given)
        if isinstance(given, int | str) and str(given).isdigit() and len(str(given)) < 6
        else None
    )
    if view.ascend and port is not None and 20_000 <= port < 28_000:
        yield Hit(
            message=text(
                "kv_port {port} lies among the ports that the transport takes at random.",
                port=port,
            ),
            evidence=str(port),
            start=view.place(FLAG),
        )


DISAGGREGATION_RULES: tuple[LaunchRule, ...] = (
    connector,
    role_missing,
    connector_missing,
    removed_keys,
    role_both,
    prefill_count,
    scheduler,
    topology,
    random_ports,
)
