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
    """A named workload. The numbers are this panel's starting values, not measurements.

    ``about`` says what kind of prompts it stands for, ``effect`` what that does to drafting.
    """

    key: str
    title: "StrOrPromise"
    about: "StrOrPromise"
    effect: "StrOrPromise"
    workload: Workload

    @property
    def goal(self) -> "StrOrPromise":
        """What matters most, in a word."""
        return GOALS[self.workload.goal]


GOALS: dict[Goal, "StrOrPromise"] = {
    Goal.BALANCED: _("balanced"),
    Goal.LATENCY: _("latency"),
    Goal.THROUGHPUT: _("throughput"),
}


PRESETS = (
    Preset(
        key="chat",
        title=_("Chat"),
        about=_("Short questions, answers of some paragraphs, people waiting."),
        effect=_("Most published acceptance is that of chat, so it is taken as it is."),
        workload=Workload(
            input_tokens=1000, output_tokens=400, concurrency=16, goal=Goal.LATENCY
        ),
    ),
    Preset(
        key="code",
        title=_("Code"),
        about=_("Files as context, edits that repeat much of it."),
        effect=_(
            "Published acceptance lengths on code are about a third above those on chat (HumanEval over MT-Bench: median 1.34 of 21 pairs, 0.92 to 1.72). The estimate does not count on it."
        ),
        workload=Workload(
            input_tokens=4000, output_tokens=600, concurrency=16, goal=Goal.LATENCY
        ),
    ),
    Preset(
        key="agents",
        title=_("Agents"),
        about=_("Long tool transcripts, many short replies."),
        effect=_(
            "Prompts take time that drafting does not shorten, so a whole request gains less than its reply. Transcripts that repeat suit suffix and n-gram."
        ),
        workload=Workload(
            input_tokens=12000, output_tokens=400, concurrency=32, goal=Goal.BALANCED
        ),
    ),
    Preset(
        key="documents",
        title=_("Long documents"),
        about=_("Very long prompts, summaries and answers about them."),
        effect=_(
            "Reading prompts takes most of the time, so a whole request gains least. In the reply itself the cache is read once for all drafted tokens: the gain lasts to more requests at once."
        ),
        workload=Workload(
            input_tokens=32000, output_tokens=800, concurrency=8, goal=Goal.BALANCED
        ),
    ),
    Preset(
        key="batch",
        title=_("Batch"),
        about=_("Nobody waits: as many requests at once as fit."),
        effect=_(
            "Busy devices have little idle time for drafts, and nobody has published a measurement above 64 requests at once: measure before you switch it on."
        ),
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
