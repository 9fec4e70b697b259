"""Two revisions of a deployment side by side, as their newest requests planned them."""

from collections.abc import Sequence
from dataclasses import dataclass

from deployments.models import ApprovalRequest
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan
from deployments.selectors.changes import (
    Setting,
    TextChange,
    command_changes,
    file_changes,
    setting_changes,
)
from deployments.selectors.plans import stored_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionPair:
    """The requests of both revisions, and how the plan of the second differs from that of the first."""

    old: ApprovalRequest
    new: ApprovalRequest
    settings: tuple[Setting, ...]
    commands: tuple[TextChange, ...]
    files: tuple[TextChange, ...]


def revision_pair(
    requests: Sequence[ApprovalRequest], old: str, new: str
) -> RevisionPair | None:
    """Compare two revisions by their numbers, of requests with the newest first.

    What is no number of theirs stands for the newest, or for the one before it. ``None`` where
    fewer than two revisions were put to the vote.

    Raises:
        PlanningError: this panel cannot read one of the two plans.
    """
    by_number = {str(one.plan.revision.number): one for one in reversed(requests)}
    numbers = sorted(by_number, key=int)
    if len(numbers) < 2:
        return None
    new = new if new in by_number else numbers[-1]
    if old not in by_number:
        old = next(one for one in reversed(numbers) if one != new)
    before, after = (stored_plan(by_number[one].plan) for one in (old, new))
    return RevisionPair(
        old=by_number[old],
        new=by_number[new],
        settings=setting_changes(before, after),
        commands=command_changes(before, after),
        files=tuple(
            one for one in file_changes(_files(before), _files(after)) if one.changed
        ),
    )


def _files(plan: Plan) -> dict[str, str]:
    return {path: text for path, text in launch_files(plan) if path != "plan.json"}
