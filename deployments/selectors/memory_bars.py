"""The memory of a plan's roles as bars: parts to scale, and what they mean in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.planning.plan import Basis, MemoryPart, RoleMemory
from deployments.selectors.texts import say

BUFFERS = ("verification", "activations", "graphs", "reserve")


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """One stretch of a bar; ``kind`` is weights, drafter, graphs, kv, room or free."""

    kind: str
    label: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """One number behind the bar: what, how many bytes (``None`` unknown), and who says so."""

    label: str
    size_bytes: int | None
    basis: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBar:
    """The fullest device of one role.

    ``capacity_bytes`` is its memory and ``None`` where unknown; parts that need more than that make
    the bar longer. ``fits`` is ``None`` where nobody can say.
    """

    role: str
    fits: bool | None
    capacity_bytes: int | None
    parts: tuple[BarPart, ...]
    lines: tuple[MemoryLine, ...]
    verdict: str
    memory: RoleMemory


def memory_bars(roles: Sequence[RoleMemory]) -> list[MemoryBar]:
    """A bar for each role, in the plan's order."""
    return [_bar(memory) for memory in roles]


def basis_word(basis: Basis) -> str:
    """Who says a number."""
    return {
        Basis.KNOWN: _("known"),
        Basis.DERIVED: _("derived"),
        Basis.ASSUMED: _("assumed"),
        Basis.UNKNOWN: _("unknown"),
    }[basis]


def _bar(memory: RoleMemory) -> MemoryBar:
    parts = _parts(memory)
    taken = sum(part.size_bytes for part in parts)
    capacity = memory.device_bytes
    return MemoryBar(
        role=memory.role.value,
        fits=memory.fits,
        capacity_bytes=None if capacity is None else max(capacity, taken),
        parts=parts,
        lines=_lines(memory),
        verdict=_verdict(memory),
        memory=memory,
    )


def _parts(memory: RoleMemory) -> tuple[BarPart, ...]:
    sizes = {part.kind: part.size_bytes or 0 for part in memory.parts}
    found = [
        ("weights", _("Target model"), sizes["weights"]),
        ("drafter", _("Drafter"), sizes["drafter"]),
        ("graphs", _("Buffers and graphs"), sum(sizes[kind] for kind in BUFFERS)),
        *_cache_parts(memory),
    ]
    if memory.device_bytes is not None and memory.budget_bytes is not None:
        kept = memory.device_bytes - memory.budget_bytes
        taken = sum(max(0, size) for _kind, _label, size in found)
        free = min(kept, memory.device_bytes - taken)
        found.append(("free", _("Outside of gpu_memory_utilization"), free))
    return tuple(
        BarPart(kind=kind, label=label, size_bytes=size)
        for kind, label, size in found
        if size > 0
    )


def _cache_parts(memory: RoleMemory) -> list[tuple[str, str, int]]:
    cache, room = memory.kv_bytes or 0, memory.headroom_bytes
    if room is None:
        return [("kv", _("Left for the KV cache"), cache)]
    used = min(cache, cache - room) if room > 0 else cache
    return [
        ("kv", _("KV cache in use"), used),
        ("room", _("Head room of the KV cache"), max(0, room)),
    ]


def _lines(memory: RoleMemory) -> tuple[MemoryLine, ...]:
    return (
        *(_line(part) for part in memory.parts),
        MemoryLine(
            label=_("KV cache of one token"),
            size_bytes=memory.kv_bytes_per_token,
            basis=basis_word(memory.kv_basis),
            source=say(memory.kv_source),
        ),
    )


def _line(part: MemoryPart) -> MemoryLine:
    names = {
        "weights": _("Target model"),
        "drafter": _("Drafter"),
        "verification": _("Verification buffers"),
        "activations": _("Activations"),
        "graphs": _("Captured graphs"),
        "reserve": _("Runtime and collectives"),
    }
    return MemoryLine(
        label=names[part.kind],
        size_bytes=part.size_bytes,
        basis=basis_word(part.basis),
        source=say(part.source),
    )


def _verdict(memory: RoleMemory) -> str:
    if memory.documented is not None:
        return _("By documents: %(need)s.") % {"need": say(memory.documented)}
    if memory.fits is None:
        return _("Nobody can say with what is known.")
    if not memory.fits:
        return _("The engine would not start: it may use %(budget)s of the device.") % {
            "budget": _gib(memory.budget_bytes)
        }
    if memory.kv_tokens is None or memory.sequences is None:
        return ""
    said = (
        _(
            "%(tokens)s tokens of KV cache on each data parallel rank, room for all %(wanted)s "
            "requests of %(length)s tokens, contexts up to %(longest)s."
        )
        if memory.sequences >= memory.sequences_wanted
        else _(
            "%(tokens)s tokens of KV cache on each data parallel rank, room for %(sequences)s of "
            "%(wanted)s requests of %(length)s tokens, contexts up to %(longest)s."
        )
    )
    return said % {
        "tokens": f"{memory.kv_tokens:,}",
        "sequences": memory.sequences,
        "wanted": memory.sequences_wanted,
        "length": f"{memory.sequence_tokens:,}",
        "longest": f"{memory.largest_context or 0:,}",
    }


def _gib(size: int | None) -> str:
    return f"{(size or 0) / (1 << 30):.1f} GiB"
