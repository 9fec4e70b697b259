"""Whether one speculative method is open for a model here, and why or why not."""

from dataclasses import dataclass

from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.counts import Count, recommended
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import MethodVerdict, Role
from deployments.planning.platforms.platform import Platform
from deployments.planning.revision import SpeculationChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: the model and checkpoint on an engine and platform.

    ``own_image`` is true when the revision names an image, which may hold packages that the
    platform's image lacks. ``documented_for`` is the platform whose documents count: that of the
    hosts, or under the practice image the one that the checkpoint is for.
    """

    model: TargetModel
    checkpoint: Checkpoint
    platform: Platform
    documented_for: str
    profile: EngineProfile
    choice: SpeculationChoice
    role: Role = Role.COMBINED
    own_image: bool = False
    practice: bool = False


def find_drafter(asked: Question, method: Method) -> Drafter | None:
    """Return the drafter of a method for this checkpoint and platform, the chosen one first.

    Raises:
        PlanningError: the chosen drafter is not bound to the model.
    """
    if asked.choice.drafter is not None:
        chosen = asked.model.drafter(asked.choice.drafter)
        if chosen.method is method:
            return chosen
    for drafter in asked.model.drafters:
        if drafter.method is method and _fits(drafter, asked):
            return drafter
    return None


def verdict(asked: Question, method: Method) -> MethodVerdict:
    """Say whether a method is open here, and why or why not.

    Raises:
        PlanningError: the chosen drafter is not bound to the model.
    """
    drafter = find_drafter(asked, method)
    closed = _closed(asked, method, drafter)
    count = recommended(asked.model, method, asked.documented_for, asked.role, drafter)
    return MethodVerdict(
        method=method.value,
        open=closed is None,
        because=closed or _opened(asked, method, drafter, count),
        num_speculative_tokens=count.value if count else None,
        drafter=drafter.key if drafter else None,
        evidence="published" if count is not None and count.published else "assumed",
    )


def tokens(number: int) -> str:
    """Write a number of tokens with its noun."""
    return "1 token" if number == 1 else f"{number} tokens"


def _fits(drafter: Drafter, asked: Question) -> bool:
    wanted = drafter.checkpoints
    return asked.documented_for in drafter.platforms and (
        not wanted or asked.checkpoint.key in wanted
    )


def _closed(asked: Question, method: Method, drafter: Drafter | None) -> str | None:
    facts = FACTS[method]
    unsupported = asked.profile.why_not(method)
    if unsupported is not None:
        return unsupported
    lacks_devices = not asked.platform.has_devices and not asked.practice
    if lacks_devices and not facts.on_cpu:
        return f"{facts.title} needs an accelerator; this host has none."
    match facts.need:
        case Need.MTP_WEIGHTS:
            return why_no_mtp(asked)
        case Need.DRAFTER:
            return _closed_drafter(asked, method, drafter)
        case Need.PACKAGE:
            return _closed_package(asked, facts.package)
        case Need.NOTHING:
            return None


def why_no_mtp(asked: Question) -> str | None:
    """Say why the checkpoint cannot draft with MTP, ``None`` when nothing speaks against it."""
    model, checkpoint = asked.model, asked.checkpoint
    if model.has_mtp is False:
        return f"{asked.profile.engine} has no MTP route for {model.name}: it was not trained with MTP layers."
    if model.has_mtp is None:
        return f"Nobody has stated that {model.name} has MTP layers."
    if checkpoint.holds_mtp is False:
        others = [one.key for one in model.checkpoints if one.holds_mtp]
        hint = f"; these do: {', '.join(others)}" if others else ""
        return f"The checkpoint {checkpoint.key} leaves the MTP layers out{hint}."
    return None


def _closed_drafter(
    asked: Question, method: Method, drafter: Drafter | None
) -> str | None:
    model, noun = asked.model, FACTS[method].drafter_noun
    if method is Method.EAGLE3 and model.eagle3_interface is False:
        return f"{asked.profile.engine} {asked.profile.version} has no EAGLE-3 interface in the class of {model.name}."
    if drafter is not None:
        return None
    elsewhere = [one for one in model.drafters if one.method is method]
    if not elsewhere:
        return f"The catalog binds no {noun} to {model.name}."
    where = sorted({place for one in elsewhere for place in one.platforms})
    limits = sorted({key for one in elsewhere for key in one.checkpoints})
    only = f" with the checkpoints {', '.join(limits)}" if limits else ""
    return f"The {noun} of {model.name} is documented on {', '.join(where)}{only} only."


def _closed_package(asked: Question, package: str | None) -> str | None:
    if asked.own_image:
        return None
    return f"It needs the package {package}, which the image of {asked.platform.title} does not hold."


def _opened(
    asked: Question, method: Method, drafter: Drafter | None, count: Count | None
) -> str:
    told = (
        f"{tokens(count.value)} a step: {count.source}"
        if count
        else "No count is known"
    )
    if method is Method.MTP:
        held = asked.checkpoint.holds_mtp
        state = "holds" if held else "should hold, which nobody has checked,"
        return f"The checkpoint {asked.checkpoint.key} {state} the MTP layers; nothing else to mount. {told}."
    if drafter is not None:
        return f"Drafter {drafter.repository}. {told}."
    facts = FACTS[method]
    note = "" if facts.async_scheduling else " It turns asynchronous scheduling off."
    return f"It needs no weights.{note} {told}."
