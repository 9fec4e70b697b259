"""The speed-up of one point: tokens per step times plain step time over speculative step time."""

from dataclasses import dataclass

from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.drafting import Drafting, DrafterKind, draft_ms
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import (
    Machine,
    Serving,
    StepTime,
    machine,
    prompt_ms_per_token,
    step_time,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """One speculative step against one plain step, in milliseconds.

    ``prompt_ms`` is the prompts' part of one output token, in ms per step of all sequences.
    """

    plain_ms: float
    verify_ms: float
    draft_ms: float
    extra_ms: float
    prompt_ms: float
    bound: str

    @property
    def speculative_ms(self) -> float:
        """Return verification, drafting and what else speculation adds."""
        return self.verify_ms + self.draft_ms + self.extra_ms

    def speedup(self, tokens_per_step: float) -> float:
        """Return output tokens per second with speculation over without."""
        with_it = self.speculative_ms / tokens_per_step + self.prompt_ms
        return (self.plain_ms + self.prompt_ms) / with_it


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A target model, where it runs and how it drafts, with the constants to judge it by."""

    shape: ModelShape
    serving: Serving
    drafting: Drafting
    constants: Constants
    rates: Machine

    def plain_ms(self, sequences: int) -> float:
        """Return the time of a step without speculation."""
        return self._step(sequences, 1).total_ms

    def cost(self, sequences: int, count: int) -> StepCost:
        """Return the cost of a step with so many sequences and draft tokens."""
        plain = self._step(sequences, 1)
        verify = self._step(sequences, count + 1)
        drafted = draft_ms(
            self.drafting,
            self.shape,
            self.serving,
            self.rates,
            self.constants,
            sequences,
            count,
        )
        prompt = prompt_ms_per_token(self.shape, self.serving, self.rates) or 0.0
        return StepCost(
            plain_ms=plain.total_ms,
            verify_ms=verify.total_ms,
            draft_ms=drafted,
            extra_ms=self._extra_ms(sequences),
            prompt_ms=prompt * sequences,
            bound=verify.bound,
        )

    def relative_draft_cost(self, sequences: int, count: int) -> float:
        """Return drafting one token over a plain step: the c of the common formulas."""
        cost = self.cost(sequences, count)
        if self.drafting.kind is DrafterKind.LOOKUP:
            return 0.0
        return cost.draft_ms / count / cost.plain_ms

    def _step(self, sequences: int, queries: int) -> StepTime:
        return step_time(
            self.shape, self.serving, self.rates, self.constants, sequences, queries
        )

    def _extra_ms(self, sequences: int) -> float:
        constants = self.constants
        ranks = max(1, self.serving.data_parallel)
        early = self.serving.early_engine
        host = constants.early_host_ms if early else constants.host_ms
        each = constants.early_request_ms if early else constants.request_ms
        recurrent = constants.recurrent_layer_ms if self.shape.recurrent else 0.0
        return host + each * sequences / ranks + recurrent * self.shape.layers


def case_of(
    shape: ModelShape, serving: Serving, drafting: Drafting, constants: Constants
) -> Case | None:
    """Return the case, ``None`` where the device's bandwidth or peak is unknown."""
    rates = machine(serving, constants)
    if rates is None:
        return None
    return Case(
        shape=shape,
        serving=serving,
        drafting=drafting,
        constants=constants,
        rates=rates,
    )
