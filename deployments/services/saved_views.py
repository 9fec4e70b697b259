"""Keep and remove a person's views of tables."""

import uuid

from django.utils.translation import gettext as _

from deployments.models import SavedView, TableKey, User
from deployments.services.errors import ConflictError

MOST_VIEWS = 30
"""For each person and table; a list that is longer is no help any more."""


def save_view(user: User, table: TableKey, name: str, query: str) -> SavedView:
    """Keep a view under its name; a view of that name is replaced.

    Raises:
        ConflictError: the person has as many views of this table as there may be.
    """
    views = SavedView.objects.filter(user=user, table=table)
    if views.exclude(name=name).count() >= MOST_VIEWS:
        raise ConflictError(
            _("You have %(count)s views of this table. Remove one first.")
            % {"count": MOST_VIEWS}
        )
    view, _made = SavedView.objects.update_or_create(
        user=user, table=table, name=name, defaults={"query": query}
    )
    return view


def remove_view(user: User, pk: uuid.UUID) -> SavedView | None:
    """Remove one of the person's views; ``None`` when it is not theirs or not there."""
    view = SavedView.objects.filter(user=user, pk=pk).first()
    if view is not None:
        SavedView.objects.filter(pk=view.pk).delete()
    return view
