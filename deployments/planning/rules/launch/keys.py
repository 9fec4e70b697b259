"""Keys of the speculative config: unknown, renamed, removed, of the wrong kind, without effect."""

import difflib
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.engines.accepted import UnknownKeys
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    drop_key,
    set_key,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

SOURCES = "vLLM sources, SpeculativeConfig, 0.8.5 to 0.33.0"
RENAMED = {
    "tensor_parallel_size": "draft_tensor_parallel_size",
    "speculative_model": "model",
    "draft_model": "model",
    "k": "num_speculative_tokens",
    "num_spec_tokens": "num_speculative_tokens",
    "speculative_num_tokens": "num_speculative_tokens",
    "num_draft_tokens": "num_speculative_tokens",
    "ngram_prompt_lookup_max": "prompt_lookup_max",
    "ngram_prompt_lookup_min": "prompt_lookup_min",
    "disable_by_batch_size": None,
    "speculative_token_tree": None,
    "acceptance_method": None,
}
ASCEND_KEYS = frozenset(("draft_model_config",))
WHOLE = (
    "draft_tensor_parallel_size",
    "prompt_lookup_max",
    "prompt_lookup_min",
    "max_model_len",
    "suffix_decoding_max_tree_depth",
)
_BOOLEANS = (
    "enforce_eager",
    "disable_padded_drafter_batch",
    "parallel_drafting",
    "use_heterogeneous_vocab",
)


@RuleCard(
    code="SPEC_KEY_UNKNOWN",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "The engine version does not know a key of the speculative config: it refuses it, or ignores it from 0.9.1 to 0.14.1."
    ),
    fix=text("Rename the key, or leave it out."),
    source=SOURCES,
    versions=text("by the profile of each version"),
)
def unknown_key(view: LaunchView) -> Iterator[Hit]:
    """Fires on every key that the judged version does not know."""
    speculation = view.speculation
    if (
        speculation is None
        or not view.launch.is_vllm
        or view.engine.old
        or speculation.old_flags
    ):
        return
    yield from _dashed(view, speculation.dashed)
    for key in view.config:
        if view.ascend and key in ASCEND_KEYS:
            continue
        severity = _severity(view, key)
        if severity is not None:
            yield _unknown(view, key, severity)


def _dashed(view: LaunchView, keys: tuple[str, ...]) -> Iterator[Hit]:
    """Keys with dashes, which the engine reads since vLLM 0.26.0."""
    for key in keys:
        severity = view.refusal(
            lambda one: not one.dashed_keys and one.unknown_keys is UnknownKeys.ERROR
        )
        if severity is not None:
            near = key.replace("-", "_")
            yield Hit(
                message=text("The speculative config has no key {key}.", key=key),
                fix=text("Did you mean {near}?", near=near),
                severity=severity,
                evidence=key,
                start=view.spec_place,
                edits=(drop_key(key), set_key(near, view.config[near])),
            )


def _severity(view: LaunchView, key: str) -> Severity | None:
    profile = view.engine.profile
    if profile is not None and not _refuses(profile, key):
        ignored = not profile.knows_key(key)
        return Severity.WARNING if ignored else None
    return view.refusal(lambda one: _refuses(one, key))


def _refuses(profile: EngineProfile, key: str) -> bool:
    return not profile.knows_key(key) and profile.unknown_keys is UnknownKeys.ERROR


def refused_spelling_of(view: LaunchView, key: str) -> bool:
    """Whether a key that the judged version refuses was meant to be this one."""
    return any(
        _severity(view, given) is Severity.ERROR and _meant(view, given) == key
        for given in view.config
    )


def _meant(view: LaunchView, key: str) -> str | None:
    known = sorted(
        {name for one in view.engine.profiles for name in one.speculative_keys}
    )
    near = RENAMED.get(key) or next(
        iter(difflib.get_close_matches(key.replace("-", "_"), known, n=1, cutoff=0.75)),
        None,
    )
    return near if near not in view.config else None


def _unknown(view: LaunchView, key: str, severity: Severity) -> Hit:
    near = _meant(view, key)
    having = [one.version for one in view.engine.profiles if one.knows_key(key)]
    edits: tuple[Edit, ...] = (drop_key(key),)
    if having:
        message = text(
            "The key {key} of the speculative config exists in {engine} {first} to {last} only.",
            key=key,
            engine=view.engine.name,
            first=having[0],
            last=having[-1],
        )
        fix = text("Leave it out, or use a version that has it.")
    elif near:
        message = text("The speculative config has no key {key}.", key=key)
        fix = text("Did you mean {near}?", near=near)
        edits = (drop_key(key), set_key(near, view.config[key]))
    else:
        message = text("The speculative config has no key {key}.", key=key)
        fix = text("Leave it out.")
    return Hit(
        message=message,
        fix=fix,
        severity=severity,
        evidence=key,
        start=view.spec_place,
        edits=edits,
    )


@RuleCard(
    code="SPEC_KEY_KIND",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text("A key of the speculative config has a value of the wrong kind."),
    fix=text(
        "Write a whole number where one is counted, and true or false for a switch."
    ),
    source="vLLM 0.32.0, run with such values",
)
def key_kind(view: LaunchView) -> Iterator[Hit]:
    """Fires on text for numbers and on numbers for switches."""
    for key, value in view.config.items():
        if key in WHOLE and not _is_whole(value):
            wanted = text("a whole number")
        elif key in _BOOLEANS and not isinstance(value, bool) and value is not None:
            if str(value).lower() in ("true", "false", "1", "0"):
                continue
            wanted = text("true or false")
        elif (
            key in ("model", "method")
            and value is not None
            and not isinstance(value, str)
        ):
            wanted = text("text")
        else:
            continue
        yield Hit(
            message=text("{key} wants {wanted}.", key=key, wanted=wanted),
            evidence=str(value)[:100],
            start=view.spec_place,
        )


def _is_whole(value: Json) -> bool:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return True
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, str) and (value.isdigit() or "$" in value)


@RuleCard(
    code="DRAFT_EAGER_WITHOUT_EFFECT",
    category="cudagraph",
    severity=Severity.INFO,
    summary=text("enforce_eager for the drafter does nothing in this version."),
    fix=text(
        "Leave it out; VLLM_USE_V2_MODEL_RUNNER=0 brings the runner that reads it."
    ),
    source="vLLM 0.32.0 sources: no code under the V2 model runner reads it",
    versions=text("vLLM 0.9.1 to 0.10.2, and 0.29.0 and later"),
    platforms=("cuda", "rocm"),
)
def eager_without_effect(view: LaunchView) -> Iterator[Hit]:
    """Fires where the key is taken and nothing comes of it."""
    if (
        view.config.get("enforce_eager") is not True
        or view.ascend
        or not view.launch.is_vllm
    ):
        return
    profile = view.engine.profile or view.engine.newest
    if profile.draft_eager_effective or not profile.knows_key("enforce_eager"):
        return
    if view.launch.variable("VLLM_USE_V2_MODEL_RUNNER") == "0":
        return
    yield Hit(
        message=text(
            "{engine} {version} takes enforce_eager for the drafter, and nothing reads it.",
            engine=profile.engine,
            version=profile.version,
        ),
        evidence="enforce_eager",
        start=view.spec_place,
    )


@RuleCard(
    code="DRAFT_QUANTISATION_IGNORED",
    category="other",
    severity=Severity.INFO,
    summary=text(
        "vllm-ascend takes the target's quantisation for the drafter, whatever the config says."
    ),
    fix=text("Leave quantization out of the speculative config."),
    source="vllm-ascend v0.23.0 sources, platform.py",
    platforms=("ascend",),
)
def quantisation_ignored(view: LaunchView) -> Iterator[Hit]:
    """Fires on the key on Ascend."""
    if view.ascend and view.config.get("quantization") is not None:
        yield Hit(
            message=text("vllm-ascend ignores quantization in the speculative config."),
            evidence="quantization",
            start=view.spec_place,
            edits=(drop_key("quantization"),),
        )


@RuleCard(
    code="SYNTHETIC_ACCEPTANCE",
    category="other",
    severity=Severity.WARNING,
    summary=text(
        "rejection_sample_method synthetic accepts drafts by dice: a test, and wrong text for users."
    ),
    fix=text("Leave rejection_sample_method out when you serve people."),
    source="vLLM 0.32.0 sources",
)
def synthetic(view: LaunchView) -> Iterator[Hit]:
    """Fires on synthetic acceptance."""
    if view.config.get("rejection_sample_method") == "synthetic":
        yield Hit(
            message=text(
                "Drafts are accepted by dice, so the text served is not the target's."
            ),
            evidence="rejection_sample_method",
            start=view.spec_place,
            edits=tuple(
                drop_key(key)
                for key in view.config
                if key.startswith(("rejection_sample", "synthetic"))
            ),
        )


KEY_RULES: tuple[LaunchRule, ...] = (
    unknown_key,
    key_kind,
    eager_without_effect,
    quantisation_ignored,
    synthetic,
)
