"""The decision tree: which method drafts, the path to the answer, and why the others closed."""

from dataclasses import dataclass

from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.counts import Count, recommended
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.methods import FACTS, Method, Need, normalise_method
from deployments.planning.plan import Decision, DecisionStep, MethodVerdict, Role
from deployments.planning.platforms.platform import Platform
from deployments.planning.revision import SpeculationChoice

AUTO = "auto"
OFF = "off"
HEADS = (Method.EAGLE3, Method.EAGLE)
MODULES = (Method.DSPARK, Method.DFLASH)


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


def decide(asked: Question) -> Decision:
    """Choose a method and give every method's verdict.

    Raises:
        PlanningError: the chosen method or drafter is unknown.
    """
    verdicts = tuple(verdict(asked, method) for method in Method)
    if asked.choice.method == OFF:
        step = DecisionStep(
            question="Did a person choose the method?",
            answer="Yes: off",
            because="The revision turns speculative decoding off.",
        )
        return _decision(OFF, None, (step,), verdicts)
    if asked.choice.method != AUTO:
        return _chosen(normalise_method(asked.choice.method), verdicts)
    open_methods = {one.method: one for one in verdicts if one.open}
    path: list[DecisionStep] = []
    for step, candidates in _tree(asked):
        path.append(step)
        for method in candidates:
            if method.value in open_methods:
                return _decision(
                    method.value, open_methods[method.value], tuple(path), verdicts
                )
    return _decision(OFF, None, tuple(path), verdicts)


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


def _decision(
    method: str,
    chosen: MethodVerdict | None,
    path: tuple[DecisionStep, ...],
    verdicts: tuple[MethodVerdict, ...],
) -> Decision:
    best_first = sorted(verdicts, key=lambda one: (one.method != method, not one.open))
    return Decision(
        method=method,
        num_speculative_tokens=chosen.num_speculative_tokens if chosen else None,
        drafter=chosen.drafter if chosen else None,
        path=path,
        methods=tuple(best_first),
    )


def _chosen(method: Method, verdicts: tuple[MethodVerdict, ...]) -> Decision:
    chosen = next(one for one in verdicts if one.method == method.value)
    step = DecisionStep(
        question="Did a person choose the method?",
        answer=f"Yes: {FACTS[method].title}",
        because=chosen.because,
    )
    return _decision(method.value, chosen, (step,), verdicts)


def _tree(asked: Question) -> list[tuple[DecisionStep, tuple[Method, ...]]]:
    return [
        *_mtp_questions(asked),
        _question(
            "Is there a trained EAGLE-3 or EAGLE head for this model?", HEADS, asked
        ),
        _question(
            "Is there another trained drafter: DSpark or DFlash?", MODULES, asked
        ),
        _question(
            "Is there a small model with the same vocabulary?",
            (Method.DRAFT_MODEL,),
            asked,
        ),
        (
            DecisionStep(
                question="What drafts without weights?",
                answer=FACTS[Method.NGRAM].title,
                because="It proposes what followed the same words before; it pays only where "
                "replies repeat the prompt, so watch the acceptance rate.",
            ),
            (Method.NGRAM,),
        ),
    ]


def _mtp_questions(asked: Question) -> list[tuple[DecisionStep, tuple[Method, ...]]]:
    holds = _holds_mtp(asked)
    inside = holds is None and _module_inside(asked)
    first = DecisionStep(
        question="Does the checkpoint hold MTP weights?",
        answer={True: "Yes", False: "No", None: "Not known"}[holds],
        because=_because_holds(asked, holds),
    )
    if holds is False or inside:
        return [(first, ())]
    runs = verdict(asked, Method.MTP)
    second = DecisionStep(
        question=f"Does {asked.profile.engine} {asked.profile.version} run MTP for this model on "
        f"{asked.platform.title}?",
        answer="Yes" if runs.open else "No",
        because=runs.because,
    )
    return [(first, ()), (second, (Method.MTP,))]


def _because_holds(asked: Question, holds: bool | None) -> str:  # noqa: FBT001
    checkpoint = asked.checkpoint
    if asked.model.has_mtp is not True or holds is False:
        return _closed_mtp(asked) or verdict(asked, Method.MTP).because
    if holds is None:
        return f"Nobody has looked into {checkpoint.repository}; the config alone does not count."
    return f"{checkpoint.repository} holds them ({checkpoint.source})."


def _question(
    question: str, methods: tuple[Method, ...], asked: Question
) -> tuple[DecisionStep, tuple[Method, ...]]:
    return _step(question, _found(asked, methods), asked, methods), methods


def _step(
    question: str, found: list[Drafter], asked: Question, methods: tuple[Method, ...]
) -> DecisionStep:
    if not found:
        return DecisionStep(
            question=question, answer="No", because=verdict(asked, methods[0]).because
        )
    names = ", ".join(drafter.repository for drafter in found)
    usable = [drafter for drafter in found if verdict(asked, drafter.method).open]
    if usable:
        return DecisionStep(
            question=question, answer="Yes", because=f"{names} ({found[0].source})."
        )
    because = verdict(asked, found[0].method).because
    return DecisionStep(question=question, answer="Yes, but closed", because=because)


def _found(asked: Question, methods: tuple[Method, ...]) -> list[Drafter]:
    drafters = [find_drafter(asked, method) for method in methods]
    return [drafter for drafter in drafters if drafter is not None]


def _fits(drafter: Drafter, asked: Question) -> bool:
    wanted = drafter.checkpoints
    return asked.documented_for in drafter.platforms and (
        not wanted or asked.checkpoint.key in wanted
    )


def _holds_mtp(asked: Question) -> bool | None:
    if asked.model.has_mtp is False:
        return False
    return asked.checkpoint.holds_mtp if asked.model.has_mtp else None


def tokens(number: int) -> str:
    """Write a number of tokens with its noun."""
    return "1 token" if number == 1 else f"{number} tokens"


def _module_inside(asked: Question) -> bool:
    return any(drafter.inside_checkpoint for drafter in _found(asked, MODULES))


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
            return _closed_mtp(asked)
        case Need.DRAFTER:
            return _closed_drafter(asked, method, drafter)
        case Need.PACKAGE:
            return _closed_package(asked, facts.package)
        case Need.NOTHING:
            return None


def _closed_mtp(asked: Question) -> str | None:
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
