"""What an engine version accepts, piece by piece: flags, keys, spellings of methods, metrics."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.methods import Method


class ValueKind(StrEnum):
    """What follows a flag or stands behind a key.

    ``SWITCH`` takes nothing, ``BOOLEAN`` takes nothing and has a ``--no-`` form, ``SIZE`` is an
    integer that may be written ``8k`` or ``1M``.
    """

    SWITCH = "switch"
    BOOLEAN = "boolean"
    TEXT = "text"
    INTEGER = "integer"
    SIZE = "size"
    NUMBER = "number"
    JSON = "json"
    TEXT_OR_JSON = "text-or-json"


class UnknownKeys(StrEnum):
    """What happens to a key of the speculative config that the version does not know."""

    ERROR = "error"
    IGNORED = "ignored"


class MetricKind(StrEnum):
    """The Prometheus type; ``UNKNOWN`` where the sources do not show it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag of ``vllm serve``.

    ``choices`` are the only values that the parser takes, empty for no such list. ``many`` takes
    several values or may be repeated; ``optional`` may stand without its value.
    """

    name: str
    kind: ValueKind = ValueKind.TEXT
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    many: bool = False
    optional: bool = False

    @property
    def takes_value(self) -> bool:
        """Whether a value may follow."""
        return self.kind not in {ValueKind.SWITCH, ValueKind.BOOLEAN}

    @property
    def names(self) -> tuple[str, ...]:
        """Every spelling, the ``--no-`` form left out."""
        return (self.name, *self.aliases)

    def accepts(self, value: str) -> bool:
        """Whether the value is one of the choices; case and ``-`` for ``_`` are let pass."""
        return not self.choices or _plain(value) in map(_plain, self.choices)

    @property
    def negated(self) -> str | None:
        """The ``--no-`` form, where there is one."""
        if self.kind is not ValueKind.BOOLEAN:
            return None
        return f"--no-{self.name.removeprefix('--')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeKey:
    """One key of ``--speculative-config``.

    ``default`` is JSON text (``24``, ``"greedy"``, ``null``), ``None`` where the engine's code
    computes it. ``many`` is a list of the kind.
    """

    name: str
    kind: ValueKind = ValueKind.TEXT
    choices: tuple[str, ...] = ()
    many: bool = False
    default: str | None = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """One value that ``method`` may have.

    ``method`` is what it means, ``None`` for one that the panel recognises and never proposes
    (``custom_class``). ``deprecated`` is taken with a warning. ``runs`` is false where the parser
    takes the word and the engine then refuses it.
    """

    name: str
    method: Method | None
    deprecated: bool = False
    runs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One family at ``/metrics``, as it is exposed (counters end in ``_total``).

    ``hidden`` needs ``--show-hidden-metrics-for-version``; ``old_core`` is of the V0 engine only.
    """

    name: str
    kind: MetricKind = MetricKind.UNKNOWN
    hidden: bool = False
    old_core: bool = False


def _plain(value: str) -> str:
    return value.casefold().replace("-", "_")
