"""Feature switches of a model as the wizard shows them: what the catalog has on, and what was chosen."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from deployments.planning.catalog import TargetModel
from deployments.planning.checkpoints import checkpoint_here
from deployments.planning.errors import PlanningError
from deployments.planning.features import Feature, features_for
from deployments.planning.launch.script import command_lines
from deployments.planning.platforms import find_platform
from deployments.planning.snapshot import HostSnapshot
from deployments.selectors.texts import say

TITLES = {
    "decode_context_parallelism": _("Decode context parallel"),
    "encoder_parallel": _("Vision encoder by data"),
    "mamba_fast_ssm_cache": _("Fast Mamba state cache"),
    "reasoning": _("Reasoning apart from the reply"),
    "text_only": _("Text only, no images"),
    "thinking_always_on": _("Always think"),
    "tokenizer_mode": _("The model's own tokenizer"),
    "tool_calling": _("Tool calls"),
    "trust_remote_code": _("Code that lies beside the weights"),
    "video_compression": _("Compressed video"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One switch: ``flags`` as the command has them, ``on`` now, ``default`` in the catalog."""

    key: str
    title: str
    flags: str
    source: str
    on: bool
    default: bool


def switches_of(
    entry: TargetModel,
    hosts: Sequence[HostSnapshot],
    checkpoint: str | None,
    chosen: Sequence[tuple[str, bool]],
) -> list[Switch]:
    """The switches of a model on the platform of the hosts; none before there are hosts."""
    if not hosts:
        return []
    platform = find_platform(hosts[0].platform)
    try:
        documented_for = checkpoint_here(entry, checkpoint, platform)[1]
    except PlanningError:
        documented_for = platform.name
    wanted = dict(chosen)
    known = features_for(entry.features, documented_for)
    return [
        Switch(
            key=key,
            title=str(TITLES.get(key, key.replace("_", " "))),
            flags=_flags(one),
            source=say(one.source),
            on=wanted.get(key, one.default),
            default=one.default,
        )
        for key, one in sorted(known.items())
    ]


def _flags(feature: Feature) -> str:
    words: list[str] = []
    for flag, value in sorted(feature.flags.items()):
        words.append(flag)
        if value is not True:
            words.append(value if isinstance(value, str) else json.dumps(value))
    return " ".join(command_lines(words))
