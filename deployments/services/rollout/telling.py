"""What the executor tells of how a release came out: an audit entry, and notices to who wants them."""

from collections.abc import Mapping

from deployments.models import AuditAction, NoticeKind, Release
from deployments.planning.text import Text, text
from deployments.services.audit import acting_from, by_itself, record
from deployments.services.notices.announcing import tell_of_release

LIVE = text("Release {number} of {name} serves on {cluster}.")
FAILED = text("Release {number} of {name} on {cluster} failed; its page says why.")
BACK = text("Release {number} of {name} on {cluster} serves again.")


def tell_live(release: Release) -> None:
    """A release serves; call last within the transaction that says so."""
    before = release.deployment.releases.filter(
        plan=release.plan_id, number__lt=release.number, live_at__isnull=False
    )
    kind, said = NoticeKind.DEPLOYED, LIVE
    if before.exists():
        kind, said = NoticeKind.ROLLED_BACK, BACK
    _tell(kind, release, said, AuditAction.RELEASE_LIVE, {})


def tell_failed(release: Release, code: str) -> None:
    """A release failed, or a person has to look; call last within the transaction that says so."""
    why = {"cause_code": code}
    _tell(NoticeKind.FAILED, release, FAILED, AuditAction.RELEASE_FAILED, why)


def tell_back(release: Release) -> None:
    """The release that was being replaced serves again."""
    _tell(NoticeKind.ROLLED_BACK, release, BACK, AuditAction.RELEASE_LIVE, {})


def tell_ended(release: Release, action: AuditAction) -> None:
    """A release was stopped or cancelled to the end, as somebody asked: nobody is told."""
    with acting_from(by_itself):
        record(action, None, release)


def _tell(
    kind: NoticeKind,
    release: Release,
    said: Text,
    action: AuditAction,
    why: Mapping[str, object],
) -> None:
    tell_of_release(kind, release, said)
    with acting_from(by_itself):
        record(action, None, release, after=why)
