"""Model directories of a host as its page shows them: what lies there, how old the look is."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from deployments.models import Host, ModelDirectory, ModelListing, User

FRESH_FOR = timedelta(days=1)
"""Files change by hand or by a download; an older look may not show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsView:
    """What the section of a host's page shows."""

    host: Host
    listing: ModelListing | None
    directories: tuple[ModelDirectory, ...]

    @property
    def waiting(self) -> bool:
        """Whether a look was asked for and has no result yet."""
        row = self.listing
        if row is None or row.asked_at is None:
            return False
        return row.read_at is None or row.read_at < row.asked_at

    @property
    def stale(self) -> bool:
        """Whether the last look is so old that files may have changed since."""
        read = self.listing.read_at if self.listing else None
        return read is not None and timezone.now() - read > FRESH_FOR

    @property
    def stamp(self) -> str:
        """Changes when the section would."""
        row = self.listing
        moment = (row.asked_at if self.waiting else row.read_at) if row else None
        return (
            f"{'w' if self.waiting else 'd'}{moment.timestamp() if moment else 0:.0f}"
        )


def models_view(host: Host) -> ModelsView:
    """The model directories of a host: one query, one more where its listing is not read yet."""
    rows = ModelDirectory.objects.filter(host=host).defer("reading", "sizes")
    return ModelsView(
        host=host,
        listing=getattr(host, "model_listing", None),
        directories=tuple(rows),
    )


def readable_directory(user: User, key: str) -> ModelDirectory | None:
    """The directory of this id with its host, where the person may see it and it says something."""
    try:
        wanted = UUID(key)
    except ValueError:
        return None
    rows = ModelDirectory.objects.for_user(user).select_related("host__cluster")
    return rows.filter(pk=wanted, reading__isnull=False).first()
