"""The decision tree: which method drafts, and the path to the answer."""

from deployments.planning.catalog import Drafter
from deployments.planning.methods import FACTS, Method, normalise_method
from deployments.planning.plan import Decision, DecisionStep, MethodVerdict
from deployments.planning.text import Text, listed, text
from deployments.planning.verdict import Question, find_drafter, verdict, why_no_mtp

AUTO = "auto"
OFF = "off"
HEADS = (Method.EAGLE3, Method.EAGLE)
MODULES = (Method.DSPARK, Method.DFLASH)


def decide(asked: Question) -> Decision:
    """Choose a method and give every method's verdict.

    Raises:
        PlanningError: the chosen method or drafter is unknown.
    """
    verdicts = tuple(verdict(asked, method) for method in Method)
    if asked.choice.method == OFF:
        step = DecisionStep(
            question=text("Did a person choose the method?"),
            answer=text("Yes: off"),
            because=text("The revision turns speculative decoding off."),
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
        question=text("Did a person choose the method?"),
        answer=text("Yes: {method}", method=FACTS[method].title),
        because=chosen.because,
    )
    return _decision(method.value, chosen, (step,), verdicts)


def _tree(asked: Question) -> list[tuple[DecisionStep, tuple[Method, ...]]]:
    return [
        *_mtp_questions(asked),
        _question(
            text("Is there a trained EAGLE-3 or EAGLE head for this model?"),
            HEADS,
            asked,
        ),
        _question(
            text("Is there another trained drafter: DSpark or DFlash?"), MODULES, asked
        ),
        _question(
            text("Is there a small model with the same vocabulary?"),
            (Method.DRAFT_MODEL,),
            asked,
        ),
        (
            DecisionStep(
                question=text("What drafts without weights?"),
                answer=Text(FACTS[Method.NGRAM].title),
                because=text(
                    "It proposes what followed the same words before; it pays only where replies repeat "
                    "the prompt, so watch the acceptance rate."
                ),
            ),
            (Method.NGRAM,),
        ),
    ]


def _mtp_questions(asked: Question) -> list[tuple[DecisionStep, tuple[Method, ...]]]:
    holds = _holds_mtp(asked)
    inside = holds is None and _module_inside(asked)
    first = DecisionStep(
        question=text("Does the checkpoint hold MTP weights?"),
        answer={True: text("Yes"), False: text("No"), None: text("Not known")}[holds],
        because=_because_holds(asked, holds),
    )
    if holds is False or inside:
        return [(first, ())]
    runs = verdict(asked, Method.MTP)
    second = DecisionStep(
        question=text(
            "Does {engine} {version} run MTP for this model on {platform}?",
            engine=asked.profile.engine,
            version=asked.profile.version,
            platform=asked.platform.title,
        ),
        answer=text("Yes") if runs.open else text("No"),
        because=runs.because,
    )
    return [(first, ()), (second, (Method.MTP,))]


def _because_holds(asked: Question, holds: bool | None) -> Text:  # noqa: FBT001
    checkpoint = asked.checkpoint
    if asked.model.has_mtp is not True or holds is False:
        return why_no_mtp(asked) or verdict(asked, Method.MTP).because
    if holds is None:
        return text(
            "Nobody has looked into {repository}; the config alone does not count.",
            repository=checkpoint.repository,
        )
    return text(
        "{repository} holds them ({source}).",
        repository=checkpoint.repository,
        source=checkpoint.source,
    )


def _question(
    question: Text, methods: tuple[Method, ...], asked: Question
) -> tuple[DecisionStep, tuple[Method, ...]]:
    return _step(question, _found(asked, methods), asked, methods), methods


def _step(
    question: Text, found: list[Drafter], asked: Question, methods: tuple[Method, ...]
) -> DecisionStep:
    if not found:
        return DecisionStep(
            question=question,
            answer=text("No"),
            because=verdict(asked, methods[0]).because,
        )
    names = listed(drafter.repository for drafter in found)
    usable = [drafter for drafter in found if verdict(asked, drafter.method).open]
    if usable:
        return DecisionStep(
            question=question,
            answer=text("Yes"),
            because=text("{names} ({source}).", names=names, source=found[0].source),
        )
    because = verdict(asked, found[0].method).because
    return DecisionStep(
        question=question, answer=text("Yes, but closed"), because=because
    )


def _found(asked: Question, methods: tuple[Method, ...]) -> list[Drafter]:
    drafters = [find_drafter(asked, method) for method in methods]
    return [drafter for drafter in drafters if drafter is not None]


def _holds_mtp(asked: Question) -> bool | None:
    if asked.model.has_mtp is False:
        return False
    return asked.checkpoint.holds_mtp if asked.model.has_mtp else None


def _module_inside(asked: Question) -> bool:
    return any(drafter.inside_checkpoint for drafter in _found(asked, MODULES))
