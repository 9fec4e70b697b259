"""The workloads that the wizard offers as a start, and their numbers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from deployments.planning.revision import Goal, Workload

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named workload. The numbers are this panel's starting values, not measurements."""

    key: str
    title: "StrOrPromise"
    about: "StrOrPromise"
    workload: Workload


PRESETS = (
    Preset(
        key="chat",
        title=_("Chat"),
        about=_("Short questions, answers of some paragraphs, people waiting."),
        workload=Workload(
            input_tokens=1000, output_tokens=400, concurrency=16, goal=Goal.LATENCY
        ),
    ),
    Preset(
        key="code",
        title=_("Code"),
        about=_("Files as context, edits that repeat much of it."),
        workload=Workload(
            input_tokens=4000, output_tokens=600, concurrency=16, goal=Goal.LATENCY
        ),
    ),
    Preset(
        key="agents",
        title=_("Agents"),
        about=_("Long tool transcripts, many short replies."),
        workload=Workload(
            input_tokens=12000, output_tokens=400, concurrency=32, goal=Goal.BALANCED
        ),
    ),
    Preset(
        key="documents",
        title=_("Long documents"),
        about=_("Very long prompts, summaries and answers about them."),
        workload=Workload(
            input_tokens=32000, output_tokens=800, concurrency=8, goal=Goal.BALANCED
        ),
    ),
    Preset(
        key="batch",
        title=_("Batch"),
        about=_("Nobody waits: as many requests at once as fit."),
        workload=Workload(
            input_tokens=1000, output_tokens=1000, concurrency=128, goal=Goal.THROUGHPUT
        ),
    ),
)
BY_KEY = {preset.key: preset for preset in PRESETS}


def preset_of(workload: Workload) -> str:
    """The preset with exactly these numbers, else ``own``."""
    for preset in PRESETS:
        if preset.workload == workload:
            return preset.key
    return OWN
