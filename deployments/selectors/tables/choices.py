"""Filters that several tables share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from deployments.models import Cluster, User
from deployments.planning.methods import FACTS, Method
from deployments.selectors.ready_rows import asked_by, ready_rows
from deployments.selectors.tables.columns import Filter, Rows
from deployments.selectors.texts import say

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Choices = Sequence[tuple[str, "StrOrPromise"]]


def cluster_filter(path: str) -> Filter:
    """Rows of one cluster, a shared one too, by its id; ``path`` leads from the row to it."""

    def choices(user: User) -> Choices:
        def named() -> Rows:
            return Cluster.objects.for_user_or_guest(user).values_list("pk", "name")

        rows = ready_rows(("names of clusters", asked_by(user)), named)
        return [("", _("All clusters")), *((str(pk), name) for pk, name in rows)]

    def keep(rows: Rows, value: str, user: User) -> Rows:
        del user
        return rows.filter(**{path: value}) if value else rows

    return Filter(key="cluster", title=_("Cluster"), choices=choices, keep=keep)


def method_filter(path: str) -> Filter:
    """Rows whose plan drafts with one method."""

    def choices(user: User) -> Choices:
        del user
        return [
            ("", _("All methods")),
            *((member.value, say(FACTS[member].title)) for member in Method),
        ]

    def keep(rows: Rows, value: str, user: User) -> Rows:
        del user
        return rows.filter(**{path: value}) if value else rows

    return Filter(key="method", title=_("Method"), choices=choices, keep=keep)
