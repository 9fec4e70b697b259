"""Weights whose files were read on a host: exact sizes in the place of derived ones."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from deployments.planning.catalog import Checkpoint, Drafter
from deployments.planning.model_config.mtp import is_mtp
from deployments.planning.snapshot import HostSnapshot, WeightSizes
from deployments.planning.text import Text, text
from deployments.planning.variables import model_root_of

_EXPERT = re.compile(r"(?:^|\.)experts\.")
_EMBEDDING = re.compile(r"embed|lm_head|shared_head\.head|(?:^|\.)head\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWeights:
    """What a host's files hold, and which host that is."""

    host: str
    since: str
    sizes: WeightSizes

    @property
    def source(self) -> Text:
        """Who says so."""
        return text(
            "read from the files on {host}, {date}",
            host=self.host,
            date=self.since,
        )


def weight_sizes_of(tensors: Mapping[str, int], layers: int | None) -> WeightSizes:
    """Sum bytes by tensor up; ``layers`` are those that serve, as config.json counts them."""
    total = experts = mtp = mtp_experts = mtp_embeddings = 0
    for name, size in tensors.items():
        expert = _EXPERT.search(name) is not None
        total += size
        if not is_mtp(name, layers):
            experts += size if expert else 0
            continue
        mtp += size
        if expert:
            mtp_experts += size
        elif _EMBEDDING.search(name):
            mtp_embeddings += size
    return WeightSizes(
        total=total,
        experts=experts,
        mtp=mtp,
        mtp_experts=mtp_experts,
        mtp_embeddings=mtp_embeddings,
    )


def read_weights(hosts: Iterable[HostSnapshot], name: str) -> ReadWeights | None:
    """The largest of what these hosts hold under the name, ``None`` where nobody has read it."""
    found = [
        ReadWeights(host=host.name, since=one.since, sizes=one.weights)
        for host in hosts
        for one in host.models
        if one.weights is not None and one.path == f"{model_root_of(host)}/{name}"
    ]
    found.sort(key=lambda one: (-one.sizes.total, one.host))
    return found[0] if found else None


def checkpoint_on(hosts: tuple[HostSnapshot, ...], known: Checkpoint) -> Checkpoint:
    """The checkpoint with what its files on the hosts show.

    Whether they hold MTP layers counts only where all hosts that were read agree.
    """
    read = read_weights(hosts, known.directory)
    if read is None:
        return known
    held = {
        one.sizes.mtp > 0
        for host in hosts
        if (one := read_weights((host,), known.directory)) is not None
    }
    return replace(
        known,
        size_bytes=read.sizes.total,
        holds_mtp=held.pop() if len(held) == 1 else known.holds_mtp,
        source=read.source,
    )


def drafter_on(hosts: tuple[HostSnapshot, ...], known: Drafter) -> Drafter:
    """The drafter with the size of its files on the hosts."""
    read = None if known.inside_checkpoint else read_weights(hosts, known.directory)
    if read is None:
        return known
    return replace(known, size_bytes=read.sizes.total, source=read.source)
