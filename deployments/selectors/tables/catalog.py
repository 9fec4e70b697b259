"""The table of target models: what can be served, and what drafts for it."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as now_gettext
from django.utils.translation import gettext_lazy as _

from deployments.models import Checkpoint, Drafter, TableKey, TargetModel, User
from deployments.selectors.ready_rows import AmongGiven, Row, asked_by, ready_rows
from deployments.selectors.tables.addresses import address_of
from deployments.selectors.tables.choices import Choices
from deployments.selectors.tables.columns import (
    Column,
    Filter,
    Kind,
    Link,
    Rows,
    TableRow,
)
from deployments.selectors.tables.table import Table

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


FIELDS = (
    "pk",
    "name",
    "key",
    "team",
    "family",
    "parameters",
    "active_parameters",
    "context_length",
    "has_mtp",
)


def _families(user: User) -> Choices:
    def named() -> Rows:
        rows = TargetModel.objects.for_user(user).order_by("family")
        return rows.values_list("family").distinct()

    found = ready_rows(("names of families", asked_by(user)), named)
    return [("", _("All families")), *((name, name) for (name,) in found)]


def _of_family(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(family=value) if value else rows


def _switch(either: "StrOrPromise", label: "StrOrPromise") -> Callable[[User], Choices]:
    choices: Choices = [("", either), ("on", label)]
    return lambda _user: choices


def _with_mtp(rows: Rows, value: str, user: User) -> Rows:
    del user
    return rows.filter(has_mtp=True) if value else rows


def _with_drafter(rows: Rows, value: str, user: User) -> Rows:
    del user
    drafters = Drafter.objects.filter(target_model=OuterRef("pk"))
    return rows.filter(Exists(drafters)) if value else rows


class CatalogTable(Table):
    """Shipped models and those of the person's teams."""

    key = TableKey.CATALOG
    url_name = "catalog"
    fields = FIELDS
    order = "family"
    search_hint = _("name, repository or drafter")
    empty = _("The catalog is empty. `manage.py load_catalog` loads the shipped one.")
    columns = (
        Column(
            key="model", title=_("Model"), kind=Kind.LINK, sort=("name",), wide=True
        ),
        Column(
            key="family", title=_("Family"), kind=Kind.TEXT, sort=("family", "name")
        ),
        Column(
            key="parameters",
            title=_("Parameters"),
            kind=Kind.PARAMETERS,
            sort=("parameters",),
            nullable=True,
        ),
        Column(
            key="active",
            title=_("Active"),
            kind=Kind.PARAMETERS,
            sort=("active_parameters",),
            nullable=True,
        ),
        Column(
            key="context",
            title=_("Context, tokens"),
            kind=Kind.COUNT,
            sort=("context_length",),
            nullable=True,
        ),
        Column(
            key="mtp",
            title=_("MTP layers"),
            kind=Kind.KNOWN,
            sort=("has_mtp",),
            nullable=True,
        ),
        Column(
            key="drafters",
            title=_("Drafters"),
            kind=Kind.METHODS,
            none=_("none known"),
            wide=True,
        ),
        Column(key="checkpoints", title=_("Checkpoints"), kind=Kind.WORDS, wide=True),
    )
    filters = (
        Filter(key="family", title=_("Family"), choices=_families, keep=_of_family),
        Filter(
            key="mtp",
            title=_("MTP layers"),
            choices=_switch(_("MTP layers or not"), _("With MTP layers")),
            keep=_with_mtp,
        ),
        Filter(
            key="drafter",
            title=_("Drafters"),
            choices=_switch(_("Drafters or not"), _("With a drafter")),
            keep=_with_drafter,
        ),
    )

    def scope(self, user: User) -> Rows:
        """Models without a team, and those of the person's teams."""
        return TargetModel.objects.for_user(user)

    def matching(self, rows: Rows, word: str) -> Rows:
        """By name, key, family, or the repository of a drafter."""
        drafters = Drafter.objects.filter(target_model=OuterRef("pk"))
        return rows.filter(
            Q(name__icontains=word)
            | Q(key__icontains=word)
            | Q(family__icontains=word)
            | Exists(drafters.filter(repository__icontains=word))
        )

    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Everything stands in the table itself."""
        del column, user
        return rows

    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Read what belongs to the models in two queries; the documents stay where they are."""
        del user
        values = [VALUES[key] for key in wanted]
        found = [dict(zip(FIELDS, row, strict=True)) for row in rows]
        models = [row["pk"] for row in found]
        methods = _of_models("drafters", Drafter, ("method",), models)
        weights = _of_models("checkpoints", Checkpoint, ("quantisation", "key"), models)
        for row in found:
            row["methods"] = tuple(sorted(methods.get(row["pk"], ())))
            row["weights"] = tuple(sorted(weights.get(row["pk"], ())))
        return [
            TableRow(pk=row["pk"], values=tuple(value(row) for value in values))
            for row in found
        ]


def _of_models(
    part: str,
    kind: type[Drafter | Checkpoint],
    fields: tuple[str, ...],
    models: list[uuid.UUID],
) -> dict[uuid.UUID, set[str]]:
    """What belongs to each of the models: of each row the first of the fields that says something."""

    def belonging() -> Rows:
        of_models = AmongGiven("target_model_id", "models", kind._meta.pk)
        rows = kind._default_manager.filter(of_models)
        return rows.values_list("target_model_id", *fields)

    found: dict[uuid.UUID, set[str]] = {}
    for model, *words in ready_rows(("catalog", part), belonging, models=models):
        found.setdefault(model, set()).add(next(filter(None, words), ""))
    return found


def _name(row: Mapping[str, Any]) -> Link:
    return Link(
        url=address_of("catalog-model", row["pk"]),
        text=row["name"],
        note=row["key"],
        mark=now_gettext("team") if row["team"] else "",
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "model": _name,
    "family": lambda row: row["family"],
    "parameters": lambda row: row["parameters"],
    "active": lambda row: row["active_parameters"],
    "context": lambda row: row["context_length"],
    "mtp": lambda row: row["has_mtp"],
    "drafters": lambda row: row["methods"],
    "checkpoints": lambda row: row["weights"],
}

CATALOG = CatalogTable()
