"""What another engine version changes, in the words of the page: a line for each name and fact."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from deployments.planning.engines.accepted import UnknownKeys
from deployments.planning.engines.profile import VLLM_ASCEND, EngineProfile
from deployments.planning.plan import Plan
from deployments.planning.platforms.ascend import DRIVERS
from deployments.planning.rules.engine import GRAPHS_BY_DEFAULT
from deployments.planning.upgrade import BREAKING, Effect, Fate, Subject
from deployments.selectors.engine_upgrade import EngineUpgrade
from deployments.selectors.texts import listed, say

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

GRAPH_DRIVER = "25.5.1"
"""HDK that the default graph mode needs (vllm-ascend v0.23.0, release notes)."""

_SUBJECTS: dict[Subject, "StrOrPromise"] = {
    Subject.FLAG: gettext_lazy("Flag"),
    Subject.KEY: gettext_lazy("Key of the speculative config"),
    Subject.METHOD: gettext_lazy("Spelling of the method"),
    Subject.CONNECTOR: gettext_lazy("KV connector"),
    Subject.METRIC: gettext_lazy("Metric"),
}
_FATES: dict[Fate, tuple[str, "StrOrPromise"]] = {
    Fate.REMOVED: ("bad", gettext_lazy("removed")),
    Fate.REFUSED: ("bad", gettext_lazy("refused")),
    Fate.RENAMED: ("attention", gettext_lazy("renamed")),
    Fate.DEPRECATED: ("attention", gettext_lazy("deprecated")),
    Fate.HIDDEN: ("attention", gettext_lazy("hidden")),
    Fate.CHANGED: ("idle", gettext_lazy("takes other values")),
    Fate.DEFAULT: ("idle", gettext_lazy("other default")),
    Fate.ADDED: ("idle", gettext_lazy("new")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectLine:
    """One name: what kind it is of, what happens to it, and what that means."""

    subject: "StrOrPromise"
    name: str
    tone: str
    word: "StrOrPromise"
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    """One fact with either version; ``note`` says what it asks of somebody."""

    label: str
    now: str
    then: str
    note: str = ""

    @property
    def differs(self) -> bool:
        """Whether the versions differ in it."""
        return self.now != self.then


def effect_lines(effects: tuple[Effect, ...]) -> list[EffectLine]:
    """A line for each name, in the order of the effects."""
    return [
        EffectLine(
            subject=_SUBJECTS[one.subject],
            name=one.name,
            tone=_FATES[one.fate][0],
            word=_FATES[one.fate][1],
            sentence=_sentence(one),
        )
        for one in effects
    ]


def verdict(upgrade: EngineUpgrade) -> str:
    """One sentence: whether the revision starts under the new version, and what breaks."""
    if upgrade.after is None:
        return _("Under %(version)s this revision cannot be planned: %(why)s") % {
            "version": upgrade.new.name,
            "why": upgrade.refusal,
        }
    if upgrade.old is None:
        return _(
            "The profile of %(version)s is gone, so only the new plan can be judged."
        ) % {"version": upgrade.choice.current}
    written = _written_by_hand(upgrade)
    gone = sum(
        one.fate in BREAKING and one.subject is not Subject.METRIC
        for one in upgrade.effects
    )
    if not gone:
        return _("Everything that this deployment is started with stays valid.")
    said = ngettext(
        "%(number)s thing that this deployment is started with is no longer taken.",
        "%(number)s things that this deployment is started with are no longer taken.",
        gone,
    ) % {"number": gone}
    planned = _("The new plan is written without them.")
    return f"{said} {planned}" if not written else said


def fact_lines(upgrade: EngineUpgrade) -> list[FactLine]:
    """Engine and image always, and everything else in which the versions differ."""
    choice, new, after = upgrade.choice, upgrade.new, upgrade.after
    always = [
        FactLine(label=_("Engine"), now=choice.current, then=new.name),
        *(_image_lines(upgrade.base, after) if after else ()),
    ]
    if upgrade.old is None:
        return always
    return [
        *always,
        *(one for one in _profile_lines(upgrade.old, new) if one.differs),
    ]


def _written_by_hand(upgrade: EngineUpgrade) -> bool:
    """Whether something that goes is an extra flag of the revision, which the planner keeps."""
    gone = {one.name for one in upgrade.effects if one.fate in BREAKING}
    return any(flag in gone for flag, _value in upgrade.spec.extra_flags)


def _sentence(one: Effect) -> str:
    said = {
        Fate.REMOVED: _removed,
        Fate.REFUSED: _refused,
        Fate.RENAMED: _renamed,
        Fate.DEPRECATED: _deprecated,
        Fate.HIDDEN: _hidden,
    }.get(one.fate, _values)(one)
    return f"{said} {say(one.why)}".strip() if one.why else said


def _removed(one: Effect) -> str:
    if one.after:
        return _("%(name)s took its place.") % {"name": one.after}
    if one.nearest:
        return _("The nearest that is known is %(name)s.") % {"name": one.nearest}
    return "" if one.why else _("Nothing takes its place.")


def _refused(one: Effect) -> str:
    if one.before is None:
        return ""
    return _("%(value)s is not among the values that it takes: %(choices)s.") % {
        "value": one.before,
        "choices": one.after or _("none"),
    }


def _renamed(one: Effect) -> str:
    if one.subject is Subject.METRIC:
        return _("Exposed as %(name)s; mend dashboards and alerts.") % {
            "name": one.after
        }
    return _("Now called %(name)s; this spelling is still taken.") % {"name": one.after}


def _deprecated(one: Effect) -> str:
    return (
        _("Still taken, with a warning; write %(name)s.") % {"name": one.after}
        if one.after
        else _("Still taken, with a warning.")
    )


def _hidden(_one: Effect) -> str:
    return _("Exposed with --show-hidden-metrics-for-version only.")


def _values(one: Effect) -> str:
    return _("%(before)s → %(after)s") % {
        "before": _plain(one.before),
        "after": _plain(one.after),
    }


def _plain(value: str | None) -> str:
    if value is None:
        return pgettext("a default", "computed by the engine")
    return pgettext("a default", "not set") if value == "null" else value


def _image_lines(before: Plan, after: Plan) -> Iterator[FactLine]:
    now, then = _images(before), _images(after)
    missing = [one.host for one in after.replicas if not one.container.image.resolved]
    note = ""
    if now == then:
        note = _("The image stays the same: make sure that it holds the new version.")
    elif missing:
        note = _("Not on %(hosts)s yet; it is pulled at deployment.") % {
            "hosts": listed(dict.fromkeys(missing))
        }
    yield FactLine(label=_("Image"), now=now, then=then, note=note)


def _images(plan: Plan) -> str:
    found = (one.container.image.reference for one in plan.replicas)
    return listed(dict.fromkeys(found))


def _profile_lines(old: EngineProfile, new: EngineProfile) -> Iterator[FactLine]:
    unknown = _("not known")
    if new.engine == VLLM_ASCEND:
        yield FactLine(
            label=_("vLLM underneath"), now=old.vllm_version, then=new.vllm_version
        )
        yield FactLine(
            label=_("CANN in the image"),
            now=DRIVERS.get(old.version, unknown),
            then=DRIVERS.get(new.version, unknown),
            note=_("The driver on the hosts must support it; npu-smi info shows it."),
        )
        yield FactLine(
            label=_("Driver (HDK) that the default graph mode needs"),
            now=_driver(old),
            then=_driver(new),
            note=_("Upgrade the driver on the hosts first.")
            if _needs_driver(new)
            else "",
        )
    yield FactLine(
        label=_("Unknown keys of the speculative config"),
        now=_unknown_keys(old),
        then=_unknown_keys(new),
    )
    yield FactLine(
        label=_("Entrypoint of the official image"),
        now=_entrypoint(old),
        then=_entrypoint(new),
        note=_("Plans of this panel set their own; scripts of yours may not."),
    )
    yield FactLine(
        label=_("Largest graph that is captured unasked"),
        now=_tokens(old.capture_limit_tokens),
        then=_tokens(new.capture_limit_tokens),
    )
    yield FactLine(
        label=_("Limit of num_speculative_tokens + 1"),
        now=_tokens(old.max_tokens_per_step),
        then=_tokens(new.max_tokens_per_step),
    )
    yield FactLine(
        label=_("enforce_eager for the drafter"),
        now=_effective(old),
        then=_effective(new),
    )


def _driver(profile: EngineProfile) -> str:
    if _needs_driver(profile):
        return _("%(version)s or later") % {"version": GRAPH_DRIVER}
    return _("what the CANN of the image needs")


def _needs_driver(profile: EngineProfile) -> bool:
    return profile.vllm.release >= GRAPHS_BY_DEFAULT


def _unknown_keys(profile: EngineProfile) -> str:
    refused = profile.unknown_keys is UnknownKeys.ERROR
    return _("stop the start") if refused else _("are ignored")


def _entrypoint(profile: EngineProfile) -> str:
    words = profile.entrypoint
    if words is None:
        return _("not known")
    return " ".join(words) or _("none")


def _tokens(number: int | None) -> str:
    if number is None:
        return _("no known limit")
    return ngettext("%(number)s token", "%(number)s tokens", number) % {
        "number": number
    }


def _effective(profile: EngineProfile) -> str:
    return _("works") if profile.draft_eager_effective else _("does nothing")
