"""The speculative method: unknown, not in this version, not on this runner, spelt as it once was."""

import difflib
from collections.abc import Iterator

from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.speculation import bracketed
from deployments.planning.methods import FACTS, Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_key
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import listed, text

SOURCES = "vLLM and vllm-ascend sources, method values, 0.8.5 to 0.33.0"
V2_RUNNER = "VLLM_USE_V2_MODEL_RUNNER"
_ODD = frozenset(("custom_class", "extract_hidden_states"))
_V2_SINCE = {
    "eagle": (0, 22, 0),
    "eagle3": (0, 22, 0),
    "mtp": (0, 22, 0),
    "dflash": (0, 24, 0),
    "dspark": (0, 25, 1),
    "extract_hidden_states": (0, 29, 0),
    "draft_model": (0, 30, 0),
    "ngram": (0, 30, 0),
    "ngram_gpu": (0, 30, 0),
}
"""Since when the V2 runner takes a method; suffix, medusa and custom_class never (0.22.0 to 0.33.0)."""


@RuleCard(
    code="METHOD_UNKNOWN",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text(
        "No engine version knows the method. Methods are written in lower case."
    ),
    fix=text("Use one that the message names."),
    source=SOURCES,
)
def unknown_method(view: LaunchView) -> Iterator[Hit]:
    """Fires on a word that is no method, or one in capital letters."""
    speculation = view.speculation
    if (
        speculation is None
        or not view.launch.is_vllm
        or speculation.method_as_written is None
    ):
        return
    written = speculation.method_as_written
    spelt = {one.name for profile in view.engine.profiles for one in profile.spellings}
    if written in spelt or written in _ODD or written.startswith("$"):
        return
    lowered = written.lower().replace("-", "_")
    near = lowered if lowered in spelt else _nearest(lowered, spelt)
    if speculation.method == Method.MTP.value and lowered not in spelt:
        near = Method.MTP.value
    yield Hit(
        message=text("{method} is not a speculative method.", method=repr(written)),
        fix=text("Did you mean {near}?", near=near)
        if near
        else text("Use one of: {known}.", known=listed(one.value for one in Method)),
        evidence=written,
        start=view.spec_place,
        edits=(set_key("method", near),) if near else (),
    )


def _nearest(word: str, known: set[str]) -> str | None:
    found = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return found[0] if found else None


@RuleCard(
    code="METHOD_NOT_IN_VERSION",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("The engine version does not run the method yet, or no longer."),
    fix=text("Use a version that runs it, or another method."),
    source=SOURCES,
    versions=text("by the profile of each version"),
)
def method_by_version(view: LaunchView) -> Iterator[Hit]:
    """Fires on a method or a spelling that the judged version refuses."""
    speculation, method = view.speculation, view.method_enum
    if speculation is None or method is None or not view.launch.is_vllm:
        return
    if method is Method.EAGLE3 and view.vllm_before(0, 11, 0):
        return
    severity = view.refusal(lambda profile: method not in profile.methods)
    if severity is not None:
        yield _not_run(view, method, severity)
        return
    written = speculation.method_as_written
    if written is None or written == method.value or method is not Method.MTP:
        yield from _early_spelling(view, method)
        return
    if view.engine.version is None and view.engine.newest.spelling(written) is not None:
        return
    severity = view.refusal(lambda profile: _mtp_word_refused(profile, written))
    if severity is not None and any(
        one.spelling(written) for one in view.engine.profiles
    ):
        yield _spelling(view, written, severity)


def _mtp_word_refused(profile: EngineProfile, written: str) -> bool:
    return profile.spelling(written) is None


def _not_run(view: LaunchView, method: Method, severity: Severity) -> Hit:
    running = [one.version for one in view.engine.profiles if method in one.methods]
    title = FACTS[method].title
    if not running:
        message = text(
            "{engine} runs {method} in no version.",
            engine=view.engine.name,
            method=title,
        )
    elif view.engine.version is None:
        message = text(
            "Only some versions of {engine} run {method}: {first} to {last}.",
            engine=view.engine.name,
            method=title,
            first=running[0],
            last=running[-1],
        )
    else:
        message = text(
            "{engine} {version} does not run {method}; {first} to {last} do.",
            engine=view.engine.name,
            version=str(view.engine.version),
            method=title,
            first=running[0],
            last=running[-1],
        )
    return Hit(
        message=message,
        severity=severity,
        evidence=view.speculation.method_as_written or method.value
        if view.speculation
        else "",
        start=view.spec_place,
    )


def _early_spelling(view: LaunchView, method: Method) -> Iterator[Hit]:
    if method is not Method.MTP or "method" not in view.config:
        return
    profile = view.engine.profile
    if (
        profile is not None
        and profile.spelling(method.value) is None
        and not view.engine.old
    ):
        wanted = profile.spell(method)
        yield Hit(
            message=text(
                "{version} spells the method {wanted}.",
                version=profile.name,
                wanted=wanted,
            ),
            fix=text("Write {wanted}, or use vLLM 0.11.0 or later.", wanted=wanted),
            severity=Severity.ERROR,
            evidence=method.value,
            start=view.spec_place,
            edits=(set_key("method", wanted),),
        )


def _spelling(view: LaunchView, written: str, severity: Severity) -> Hit:
    return Hit(
        message=text(
            "The engine version does not know the spelling {written}.", written=written
        ),
        fix=text("Write mtp."),
        severity=severity,
        evidence=written,
        start=view.spec_place,
        edits=(set_key("method", Method.MTP.value),),
    )


@RuleCard(
    code="METHOD_SPELLING_OLD",
    category="unsupported-method",
    severity=Severity.INFO,
    summary=text(
        "deepseek_mtp and its kind are old spellings of mtp; newer versions take them with a warning."
    ),
    fix=text("Write mtp."),
    source="vLLM 0.11.0 and later: method is deprecated and replaced with mtp",
    versions=text("vLLM 0.11.0 and later"),
)
def old_spelling(view: LaunchView) -> Iterator[Hit]:
    """Fires on an alias of mtp where mtp itself is known."""
    speculation = view.speculation
    if (
        speculation is None
        or speculation.method != Method.MTP.value
        or not view.launch.is_vllm
    ):
        return
    written = speculation.method_as_written
    profile = view.engine.profile or view.engine.newest
    found = profile.spelling(written) if written else None
    if found is None or written == Method.MTP.value or profile.spelling("mtp") is None:
        return
    yield Hit(
        message=text(
            "{written} is an old spelling of mtp; the engine takes it with a warning.",
            written=written or "",
        ),
        evidence=written or "",
        start=view.spec_place,
        edits=(set_key("method", Method.MTP.value),),
    )


@RuleCard(
    code="METHOD_NOT_GIVEN",
    category="unsupported-method",
    severity=Severity.INFO,
    summary=text(
        "Without method the engine guesses it from the drafter's path, by substring."
    ),
    fix=text("Always write method."),
    source="vLLM sources, 0.8.5 to 0.33.0; vllm#47486",
)
def method_missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on a config without method."""
    speculation = view.speculation
    if speculation is None or speculation.implied or speculation.old_flags:
        return
    if "method" in view.config or speculation.method is None or not view.launch.is_vllm:
        return
    yield Hit(
        message=text(
            "No method is given; the engine guesses {method} from the drafter's path.",
            method=speculation.method,
        ),
        start=view.spec_place,
        edits=(set_key("method", speculation.method),),
    )


@RuleCard(
    code="OLD_MODEL_NAME",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("A name in brackets other than [ngram] is no speculative model."),
    fix=text("Write [ngram]."),
    source="vllm#8439",
)
def bracket_name(view: LaunchView) -> Iterator[Hit]:
    """Fires on ``[gram]`` and its like."""
    given = view.config.get("model")
    if (
        not isinstance(given, str)
        or not given.startswith("[")
        or not given.endswith("]")
    ):
        return
    if given == "[ngram]":
        return
    near = bracketed(given)
    yield Hit(
        message=text("{name} is no speculative model.", name=given),
        fix=text("Write [ngram].") if near else text("Name a model, or write [ngram]."),
        evidence=given,
        start=view.spec_place,
        edits=(set_key("model", "[ngram]"),) if near else (),
    )


@RuleCard(
    code="MODEL_RUNNER_REFUSES_METHOD",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text(
        "VLLM_USE_V2_MODEL_RUNNER=1 asks for a runner that does not take the method."
    ),
    fix=text(
        "Leave VLLM_USE_V2_MODEL_RUNNER out: the engine then takes the runner that fits."
    ),
    source="vLLM sources, unsupported features of the V2 model runner, 0.22.0 to 0.33.0",
    versions=text("vLLM 0.22.0 and later"),
)
def second_runner(view: LaunchView) -> Iterator[Hit]:
    """Fires on the V2 runner with a method that it lacks, and on DSpark without it."""
    wanted, method = view.launch.variable(V2_RUNNER), view.method
    if method is None or view.ascend or not view.launch.is_vllm:
        return
    if wanted == "0" and method == Method.DSPARK.value:
        yield Hit(
            message=text(
                "DSpark runs on the V2 model runner only, and VLLM_USE_V2_MODEL_RUNNER=0 turns it off."
            ),
            evidence=f"{V2_RUNNER}=0",
            start=view.launch.start,
        )
    if wanted not in ("1", "true", "True"):
        return
    since = _V2_SINCE.get(method)
    known = view.engine.vllm
    if since is not None and known is not None and not view.vllm_before(*since):
        return
    if since is not None and known is None and since < (0, 29, 0):
        return
    yield Hit(
        message=text(
            "The V2 model runner does not take {method} in this version.", method=method
        ),
        evidence=f"{V2_RUNNER}={wanted}",
        start=view.launch.start,
    )


@RuleCard(
    code="SPECULATORS_NOT_READ",
    category="unsupported-method",
    severity=Severity.WARNING,
    summary=text(
        "Before vLLM 0.11.0 a speculators checkpoint that is served directly runs without drafting, silently."
    ),
    fix=text(
        "Use vLLM 0.11.0 or later, or serve the target with --speculative-config."
    ),
    source="vllm#25250",
    versions=text("before vLLM 0.11.0"),
)
def speculators_ignored(view: LaunchView) -> Iterator[Hit]:
    """Fires on a speculators checkpoint in an old version."""
    if (
        view.speculation is not None
        and view.speculation.implied
        and view.vllm_before(0, 11, 0)
    ):
        yield Hit(
            message=text(
                "This version serves {model} without drafting and does not say so.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.launch.start,
        )


@RuleCard(
    code="SPECULATION_IN_NAME_ONLY",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("The speculative config names neither a method nor a drafter."),
    fix=text("Write method, and num_speculative_tokens."),
    source="vLLM 0.32.0, run: was provided but without speculative model",
)
def nothing_named(view: LaunchView) -> Iterator[Hit]:
    """Fires on a config with a number alone."""
    speculation = view.speculation
    if speculation is None or speculation.implied or speculation.damage is not None:
        return
    if not view.launch.is_vllm or {"method", "model"} & set(view.config):
        return
    argument = speculation.argument
    if (
        argument is not None
        and argument.value is not None
        and "$" in argument.value
        and not view.config
    ):
        return
    if speculation.method is not None and speculation.old_flags:
        return
    yield Hit(
        message=text("The speculative config names neither a method nor a drafter."),
        start=view.spec_place,
    )


METHOD_RULES: tuple[LaunchRule, ...] = (
    unknown_method,
    method_by_version,
    old_spelling,
    method_missing,
    bracket_name,
    second_runner,
    speculators_ignored,
    nothing_named,
)
