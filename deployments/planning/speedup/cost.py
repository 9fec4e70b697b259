"""The speed-up of one point: tokens per step times plain step time over speculative step time."""

from dataclasses import dataclass

from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.drafting import Drafting, draft_ms
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import Roofline, Serving, reachable_rates


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
class Load:
    """What so many sequences cost whatever is drafted, in milliseconds."""

    sequences: int
    plain_ms: float
    extra_ms: float
    prompt_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A target model on its devices, and how it drafts."""

    target: Roofline
    drafting: Drafting

    def load(self, sequences: int) -> Load:
        """Return what costs the same for every number of draft tokens."""
        prompt = self.target.prompt_ms_per_token() or 0.0
        return Load(
            sequences=sequences,
            plain_ms=self.target.step(sequences, 1).total_ms,
            extra_ms=self._extra_ms(sequences),
            prompt_ms=prompt * sequences,
        )

    def cost(self, sequences: int, count: int) -> StepCost:
        """Return the cost of a step with so many sequences and draft tokens."""
        return self.cost_under(self.load(sequences), count)

    def cost_under(self, load: Load, count: int) -> StepCost:
        """Return the cost of a step with so many draft tokens under a load."""
        verify = self.target.step(load.sequences, count + 1)
        return StepCost(
            plain_ms=load.plain_ms,
            verify_ms=verify.total_ms,
            draft_ms=draft_ms(self.drafting, self.target, load.sequences, count),
            extra_ms=load.extra_ms,
            prompt_ms=load.prompt_ms,
            bound=verify.bound,
        )

    def relative_draft_cost(self, sequences: int, count: int) -> float:
        """Return drafting one token over a plain step: the c of the common formulas."""
        cost = self.cost(sequences, count)
        return cost.draft_ms / count / cost.plain_ms

    def _extra_ms(self, sequences: int) -> float:
        constants, serving = self.target.constants, self.target.serving
        early = serving.early_engine
        host = constants.early_host_ms if early else constants.host_ms
        each = constants.early_request_ms if early else constants.request_ms
        shape = self.target.shape
        recurrent = constants.recurrent_layer_ms * shape.layers
        own = sequences / serving.data_parallel
        return host + each * own + (recurrent if shape.recurrent else 0.0)


def case_of(
    shape: ModelShape, serving: Serving, drafting: Drafting, constants: Constants
) -> Case | None:
    """Return the case, ``None`` where the device's bandwidth or peak is unknown."""
    rates = reachable_rates(serving, constants)
    if rates is None:
        return None
    target = Roofline(shape=shape, serving=serving, constants=constants, rates=rates)
    return Case(target=target, drafting=drafting)
