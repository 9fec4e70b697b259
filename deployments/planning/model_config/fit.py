"""Whether a drafter fits a target model: states, vocabulary, architecture."""

from dataclasses import dataclass

from deployments.planning.catalog import TargetModel
from deployments.planning.methods import Method
from deployments.planning.model_config.reading import ModelReading
from deployments.planning.text import Text, listed, text

READS_STATES = frozenset(
    {Method.EAGLE, Method.EAGLE3, Method.MEDUSA, Method.DFLASH, Method.DSPARK}
)
"""Methods whose drafter takes the hidden states of its target: the widths must be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison; ``good`` is ``None`` where a side is unknown."""

    subject: Text
    good: bool | None
    because: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterFit:
    """All comparisons of one drafter with one target."""

    checks: tuple[Check, ...]

    @property
    def good(self) -> bool | None:
        """False if one speaks against it, ``None`` if something is unknown, else true."""
        if any(check.good is False for check in self.checks):
            return False
        return True if all(check.good for check in self.checks) else None


def drafter_fit(
    reading: ModelReading, method: Method, target: TargetModel
) -> DrafterFit:
    """Compare a drafter's reading with a target."""
    checks = [_vocabulary(reading, target)]
    if method in READS_STATES:
        checks.append(
            _same(
                text("Hidden size"),
                reading.hidden_size,
                target.hidden_size,
            )
        )
        checks.append(_interface(method, target))
    checks.extend(_verifier(reading, target))
    return DrafterFit(checks=tuple(checks))


def _vocabulary(reading: ModelReading, target: TargetModel) -> Check:
    return _same(text("Vocabulary"), reading.vocabulary_size, target.vocabulary_size)


def _same(subject: Text, drafter: int | None, target: int | None) -> Check:
    if drafter is None or target is None:
        side = text("drafter") if drafter is None else text("target")
        because = text("Not known of the {side}.", side=side)
        return Check(subject=subject, good=None, because=because)
    if drafter == target:
        return Check(
            subject=subject, good=True, because=text("{size} both.", size=target)
        )
    because = text(
        "{drafter} of the drafter, {target} of the target; the engine refuses it.",
        drafter=drafter,
        target=target,
    )
    return Check(subject=subject, good=False, because=because)


def _interface(method: Method, target: TargetModel) -> Check:
    subject = text("Architecture of the target")
    if method is not Method.EAGLE3:
        good = target.architecture is not None or None
        because = text("{name}.", name=target.architecture or text("Not known"))
        return Check(subject=subject, good=good, because=because)
    because = {
        True: text("vLLM has the EAGLE-3 interface for it."),
        False: text("vLLM has no EAGLE-3 interface for it."),
        None: text("Nobody has stated that vLLM has the EAGLE-3 interface for it."),
    }[target.eagle3_interface]
    return Check(subject=subject, good=target.eagle3_interface, because=because)


def _verifier(reading: ModelReading, target: TargetModel) -> list[Check]:
    named = reading.verifier_architectures
    if not named or target.architecture is None:
        return []
    return [
        Check(
            subject=text("Trained for"),
            good=target.architecture in named,
            because=text(
                "{verifier} ({architectures}).",
                verifier=reading.verifier or text("no name"),
                architectures=listed(named),
            ),
        )
    ]
