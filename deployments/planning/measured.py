"""What was measured on a deployment itself, as a plan takes it: numbers in thousandths, a day, a name."""

from dataclasses import dataclass

from deployments.planning.text import Text, text

THOUSAND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Acceptance of one method on one deployment, and the speed-up where a pair of benchmarks has it.

    ``mean_acceptance_length`` counts the bonus token. ``speedup`` is output throughput with
    speculation over without at ``concurrency`` requests of the whole deployment; both are ``None``
    where only acceptance was seen. ``day`` reads 2026-11-29.
    """

    deployment: str
    day: str
    model: str
    method: str
    num_speculative_tokens: int
    mean_acceptance_length: int
    concurrency: int | None = None
    speedup: int | None = None

    @property
    def source(self) -> Text:
        """Which deployment, and when."""
        return text("{deployment}, {day}", deployment=self.deployment, day=self.day)
