"""Entries of the catalog that belong to a team: imported, edited as YAML, removed."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import AuditAction, TargetModel, Team, TeamRole, User
from deployments.planning.canonical import Json
from deployments.planning.catalog import (
    Drafter,
    find_target_model,
    parse_target_model,
)
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.model_config.entry import (
    Naming,
    checkpoint_of,
    documents_of,
    entry_of,
    refuse_other_model,
    with_checkpoint,
    with_drafter,
)
from deployments.planning.model_config.fit import drafter_fit
from deployments.planning.model_config.reading import ModelReading
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.texts import say
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.audit_subjects import subject_of
from deployments.services.catalog import store_entry
from deployments.services.errors import ConflictError

MOST_ENTRIES = 200
MOST_CHECKPOINTS = 50


def import_target(
    user: User, team: Team, reading: ModelReading, naming: Naming
) -> TargetModel:
    """Keep a target model: a new entry of the team, or one more checkpoint of a known model.

    A shipped entry stays as it is; the team gets a copy with the checkpoint, which its plans take
    instead.

    Raises:
        NotAllowedError: the person is no operator of the team.
        PlanningError: a name cannot be used, or the files are of another model.
    """
    require_role(user, team, TeamRole.OPERATOR)
    with transaction.atomic():
        known = _known(team, naming.key)
        if known is None:
            return _keep(user, team, entry_of(reading, naming))[0]
        refuse_other_model(known, reading)
        changed = with_checkpoint(known, checkpoint_of(reading, naming))
        return _keep(user, team, changed)[0]


def import_drafter(
    user: User, team: Team, reading: ModelReading, target: TargetModel, drafter: Drafter
) -> TargetModel:
    """Bind a drafter to a target model, in the team's own entry of it.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: the drafter does not fit the model.
        PlanningError: a name cannot be used.
    """
    require_role(user, team, TeamRole.OPERATOR)
    with transaction.atomic():
        known = _known(team, target.key) or catalog_entry(target)
        fit = drafter_fit(reading, drafter.method, known)
        for check in fit.checks:
            if check.good is False:
                raise ConflictError(
                    _("It does not fit %(model)s. %(subject)s: %(because)s")
                    % {
                        "model": known.name,
                        "subject": say(check.subject),
                        "because": say(check.because),
                    }
                )
        return _keep(user, team, with_drafter(known, drafter))[0]


def import_documents(user: User, team: Team, documents: Json) -> list[TargetModel]:
    """Keep entries as an export of them spells them: all or none.

    Raises:
        NotAllowedError: the person is no operator of the team.
        PlanningError: an entry cannot be read.
        ConflictError: there are none, or too many.
    """
    require_role(user, team, TeamRole.OPERATOR)
    found = documents if isinstance(documents, list) else [documents]
    if not found or len(found) > MOST_ENTRIES:
        raise ConflictError(
            _("The file holds %(count)s entries; write 1 to %(most)s.")
            % {"count": len(found), "most": MOST_ENTRIES}
        )
    entries = [parse_target_model(one) for one in found]
    with transaction.atomic():
        return _keep(user, team, *entries)


def change_entry(user: User, row: TargetModel, document: Json) -> TargetModel:
    """Replace an entry of a team by its edited form, under the same key.

    Raises:
        NotAllowedError: the person is no operator of the team, or the entry is a shipped one.
        PlanningError: the entry cannot be read.
        ConflictError: the key differs.
    """
    team = _team_of(user, row)
    entry = parse_target_model(document)
    if entry.key != row.key:
        raise ConflictError(
            _("The key of an entry stays: %(key)s. Import it to make another one.")
            % {"key": row.key}
        )
    with transaction.atomic():
        return _keep(user, team, entry)[0]


def remove_entry(user: User, row: TargetModel) -> None:
    """Take an entry of a team out of the catalog; plans keep what they were made from.

    Raises:
        NotAllowedError: the person is no operator of the team, or the entry is a shipped one.
    """
    _team_of(user, row)
    with transaction.atomic():
        removed, told = subject_of(row), _told(row.document)
        row.delete()
        record(AuditAction.MODEL_REMOVED, user, removed, before=told)


def _team_of(user: User, row: TargetModel) -> Team:
    if row.team is None:
        raise ConflictError(
            _("This entry ships with the panel; import a copy of it to change it.")
        )
    require_role(user, row.team, TeamRole.OPERATOR)
    return row.team


def _known(team: Team, key: str) -> CatalogEntry | None:
    rows = TargetModel.objects.filter(key=key)
    own = rows.filter(team=team).first() or rows.filter(team=None).first()
    return catalog_entry(own) if own is not None else None


def _keep(user: User, team: Team, *entries: CatalogEntry) -> list[TargetModel]:
    earlier = dict(
        TargetModel.objects.filter(
            team=team, key__in=[entry.key for entry in entries]
        ).values_list("key", "document")
    )
    rows = [_store(team, entry) for entry in entries]
    for row in rows:
        old, new = _told(earlier.get(row.key)), _told(row.document)
        record(AuditAction.MODEL_KEPT, user, row, before=old, after=new)
    return rows


def _store(team: Team, entry: CatalogEntry) -> TargetModel:
    if max(len(entry.checkpoints), len(entry.drafters)) > MOST_CHECKPOINTS:
        raise ConflictError(
            _("An entry holds at most %(most)s checkpoints and as many drafters.")
            % {"most": MOST_CHECKPOINTS}
        )
    (document,) = documents_of((entry,))
    # Read back as every plan will read it, so that nothing is kept that cannot be planned.
    find_target_model([document], entry.key)
    return store_entry(entry, document, team=team)


def _told(document: Json) -> dict[str, object]:
    return dict(document) if isinstance(document, dict) else {}
