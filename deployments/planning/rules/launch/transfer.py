"""What a KV connector needs besides its name: topology, parts, policy, and the platform it is for."""

import re
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.disaggregation import FLAG
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import listed, text

MOONCAKE = frozenset(
    (
        "MooncakeConnectorV1",
        "MooncakeHybridConnector",
        "MooncakeLayerwiseConnector",
    )
)
PULLED = frozenset(("MooncakeConnectorV1", "MooncakeConnector"))
ASCEND = ("ascend",)
_EIGHT_BIT_CACHE = re.compile(r"c8(?![0-9a-z])", re.IGNORECASE)
_SHARED_HEADS = re.compile(r"qwen3?(?:[-_]|\.)|minimax|llama|glm[-_]?4", re.IGNORECASE)
_KEEP_MANAGER = "--no-disable-hybrid-kv-cache-manager"


def _name(view: LaunchView) -> str:
    return str(view.transfer.get("kv_connector") or "")


def _extra(view: LaunchView) -> dict[str, Json]:
    found = view.transfer.get("kv_connector_extra_config")
    return found if isinstance(found, dict) else {}


@RuleCard(
    code="CONNECTOR_OF_UPSTREAM",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text(
        "On Ascend MooncakeConnector without a module path names the class of upstream vLLM, which is another one."
    ),
    fix=text("Write MooncakeConnectorV1."),
    source="vllm-ascend sources, registered connectors; vllm-ascend#2970",
    platforms=ASCEND,
)
def upstream_name(view: LaunchView) -> Iterator[Hit]:
    """Fires on the old name without kv_connector_module_path."""
    if view.ascend and _name(view) == "MooncakeConnector":
        if "kv_connector_module_path" in view.transfer:
            return
        yield Hit(
            message=text("MooncakeConnector is the connector of upstream vLLM."),
            evidence="MooncakeConnector",
            start=view.place(FLAG),
        )


@RuleCard(
    code="KV_TOPOLOGY_MISSING",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "Mooncake connectors of Ascend want dp_size and tp_size of prefill and of decode, on both sides."
    ),
    fix=text(
        "Write prefill and decode with dp_size and tp_size in kv_connector_extra_config; pp_size of decode is 1."
    ),
    source="vllm-ascend sources, Mooncake connector",
    platforms=ASCEND,
)
def topology_missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on a Mooncake connector without the sizes, and on a decode side in stages."""
    if not view.ascend or _name(view) not in MOONCAKE:
        return
    extra = _extra(view)
    missing = [
        f"{side}.{size}"
        for side in ("prefill", "decode")
        for size in ("dp_size", "tp_size")
        if not _has(extra.get(side), size)
    ]
    decode = extra.get("decode")
    stages = decode.get("pp_size") if isinstance(decode, dict) else None
    if missing:
        yield Hit(
            message=text(
                "kv_connector_extra_config lacks {missing}.",
                missing=listed(missing),
            ),
            evidence=", ".join(missing),
            start=view.place(FLAG),
        )
    elif isinstance(stages, int) and stages > 1:
        yield Hit(
            message=text("pp_size of decode is {stages}; it must be 1.", stages=stages),
            evidence=str(stages),
            start=view.place(FLAG),
        )


def _has(side: Json, size: str) -> bool:
    return isinstance(side, dict) and side.get(size) is not None


@RuleCard(
    code="KV_CONNECTORS_NOT_NAMED",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("MultiConnector wants the connectors that it joins."),
    fix=text("List them in connectors of kv_connector_extra_config."),
    source="vLLM sources, MultiConnector",
)
def parts_missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on MultiConnector without its list."""
    if _name(view) == "MultiConnector" and not _extra(view).get("connectors"):
        yield Hit(
            message=text("MultiConnector joins no connector here."),
            evidence="MultiConnector",
            start=view.place(FLAG),
        )


@RuleCard(
    code="KV_FAILURE_POLICY",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "kv_load_failure_policy is fail or recompute, and hybrid models on Ascend do not recompute."
    ),
    fix=text("Write fail, or leave it out."),
    source="vLLM sources, KVTransferConfig; vllm-ascend sources: do not support recompute mode",
)
def failure_policy(view: LaunchView) -> Iterator[Hit]:
    """Fires on another word, and on recompute for hybrid models on Ascend."""
    policy = view.transfer.get("kv_load_failure_policy")
    if not isinstance(policy, str) or "$" in policy:
        return
    if policy not in ("fail", "recompute"):
        message = text(
            "kv_load_failure_policy is fail or recompute, not {policy}.",
            policy=policy[:40],
        )
    elif policy == "recompute" and view.ascend and families.is_hybrid(view.names):
        message = text("Hybrid models do not recompute a cache that failed to load.")
    else:
        return
    yield Hit(message=message, evidence=policy[:40], start=view.place(FLAG))


@RuleCard(
    code="CONNECTOR_OF_OTHER_PLATFORM",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("The KV connector exists on other hardware only."),
    fix=text("Use NixlConnector on GPUs and MooncakeConnectorV1 on Ascend."),
    source="vLLM 0.32.0 documentation, KV connectors",
    platforms=("cuda", "xpu"),
)
def other_hardware(view: LaunchView) -> Iterator[Hit]:
    """Fires on MoRIIO outside ROCm."""
    if _name(view) == "MoRIIOConnector" and view.platform in ("cuda", "xpu"):
        yield Hit(
            message=text("MoRIIOConnector runs on ROCm only."),
            evidence="MoRIIOConnector",
            start=view.place(FLAG),
        )


@RuleCard(
    code="TRANSFER_LOSES_MTP_STATE",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text(
        "The connector does not carry all that MTP of this model needs: its drafts are wrong, or the server stops."
    ),
    fix=text("Draft with prefill and decode in one, or turn drafting off here."),
    source="vllm#54926; dynamo#12198; LMCache#4345",
    platforms=("cuda", "rocm"),
)
def transfer_state(view: LaunchView) -> Iterator[Hit]:
    """Fires on Gemma 4 and hybrid models with MTP over NIXL, and hybrid ones over LMCache."""
    if view.ascend or view.method != Method.MTP.value:
        return
    name = _name(view)
    nixl, cache = name.startswith("Nixl"), name.startswith("LMCache")
    if nixl and families.is_gemma4(view.model):
        message = text("NIXL does not carry the cache of Gemma 4's assistant.")
    elif nixl and families.is_hybrid(view.names):
        message = text(
            "MTP of hybrid models over NIXL was reported to stop the server."
        )
    elif cache and families.is_hybrid(view.names):
        message = text("LMCache damaged long prompts of hybrid models with MTP.")
    else:
        return
    yield Hit(message=message, evidence=name, start=view.place(FLAG))


@RuleCard(
    code="HYBRID_CACHE_MANAGER_OFF",
    category="memory",
    severity=Severity.WARNING,
    summary=text(
        "With a KV connector the hybrid cache manager is off unless it is asked for: DeepSeek-V4 then runs out of memory."
    ),
    fix=text("Add --no-disable-hybrid-kv-cache-manager."),
    source="vllm-ascend v0.23.0, release notes and DeepSeek-V4 tutorial",
    platforms=ASCEND,
)
def cache_manager(view: LaunchView) -> Iterator[Hit]:
    """Fires on DeepSeek-V4 with a connector and without the flag."""
    if not view.ascend or not _name(view) or not families.is_deepseek_v4(view.names):
        return
    if view.launch.flag(_KEEP_MANAGER) is None:
        yield Hit(
            message=text(
                "The hybrid cache manager is off for {model}.", model=view.model
            ),
            evidence=_name(view),
            start=view.place(FLAG),
        )


@RuleCard(
    code="EIGHT_BIT_CACHE_PULLED",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "The connector that decode pulls with does not carry an 8-bit KV cache of models with grouped heads."
    ),
    fix=text("Use MooncakeLayerwiseConnector with its proxy."),
    source="vllm-ascend sources: does not support C8 KV cache quantization on GQA models",
    platforms=ASCEND,
)
def eight_bit_pulled(view: LaunchView) -> Iterator[Hit]:
    """Fires on a C8 checkpoint of such a family with the pulling connector."""
    name = families.last_part(view.model)
    if not view.ascend or _name(view) not in PULLED:
        return
    if _EIGHT_BIT_CACHE.search(name) and _SHARED_HEADS.search(name):
        yield Hit(
            message=text(
                "{connector} does not carry the 8-bit cache of {model}.",
                connector=_name(view),
                model=view.model,
            ),
            evidence=name,
            start=view.place(FLAG),
        )


TRANSFER_RULES: tuple[LaunchRule, ...] = (
    upstream_name,
    topology_missing,
    parts_missing,
    failure_policy,
    other_hardware,
    transfer_state,
    cache_manager,
    eight_bit_pulled,
)
