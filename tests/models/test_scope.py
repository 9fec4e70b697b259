"""People see the rows of their own teams and nothing else."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model

from deployments import models as m
from tests import (
    audit_rows,
    benchmark_pair_rows,
    benchmark_rows,
    delegation_rows,
    host_rows,
    metric_rows,
    notice_rows,
    preflight_rows,
    probe_rows,
    proposal_rows,
    team_rows,
)
from tests import factories as f

pytestmark = pytest.mark.django_db

UNSCOPED = {
    *("User", "Team", "Membership", "RoleGrant"),
    *("SavedView", "WizardDraft", "RollupRound", "OwnEngineProfile"),
    *("AuditEntry", "AuditHead", "ApiToken"),
}
"""People and their teams are what scoping goes by; saved views, unfinished plans and tokens are one person's own, a lock nobody's,
engine profiles are known to the whole panel, audit entries to admins and whoever acted."""
ROWS = (
    f,
    audit_rows,
    benchmark_pair_rows,
    benchmark_rows,
    delegation_rows,
    host_rows,
    metric_rows,
    notice_rows,
    preflight_rows,
    proposal_rows,
    probe_rows,
    team_rows,
)
NAMES: dict[str, Any] = {name: it for rows in ROWS for name, it in vars(rows).items()}
FACTORIES: dict[type[Model], Any] = {
    factory._meta.model: factory
    for name, factory in NAMES.items()
    if name.endswith("Factory") and name != "SubFactory"
}
TABLES = list(apps.get_app_config("deployments").get_models())
SCOPED = [model for model in TABLES if model.__name__ not in UNSCOPED]


def team_of(row: Any) -> m.Team | None:
    """Follow the row's own path to its team."""
    for name in type(row).TEAM_PATH.split("__"):
        row = getattr(row, name)
    assert row is None or isinstance(row, m.Team)
    return row


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_a_row_is_seen_by_its_team_alone(model: type[Model]) -> None:
    row = FACTORIES[model].create()
    team = team_of(row)
    rows: Any = model._default_manager
    stranger = f.member(f.TeamFactory.create(), "charlie", *m.TeamRole)
    if team is None:
        assert getattr(model, "SHARED_WITHOUT_TEAM", False)
        assert row in rows.for_user(stranger)
        return
    insider = f.member(team, "alice")
    assert row in rows.for_user(insider)
    assert row not in rows.for_user(stranger)
    assert row not in rows.for_user(AnonymousUser())


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_a_disabled_person_sees_nothing(model: type[Model]) -> None:
    row = FACTORIES[model].create()
    insider = f.member(team_of(row) or f.TeamFactory.create(), "alice")
    insider.is_active = False
    rows: Any = model._default_manager
    assert not rows.for_user(insider).exists()


def test_a_removed_member_sees_nothing_at_once() -> None:
    deployment = f.DeploymentFactory.create()
    alice = f.member(deployment.cluster.team, "alice")
    assert deployment in m.Deployment.objects.for_user(alice)
    alice.memberships.all().delete()
    assert not m.Deployment.objects.for_user(alice).exists()


def test_a_team_entry_of_the_catalog_is_the_teams_own() -> None:
    own = f.TargetModelFactory.create(team=f.TeamFactory.create())
    shipped = f.TargetModelFactory.create(team=None)
    stranger = f.member(f.TeamFactory.create(), "charlie")
    assert set(m.TargetModel.objects.for_user(stranger)) == {shipped}
    assert own.team is not None


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_every_row_has_a_name_for_people(model: type[Model]) -> None:
    row = FACTORIES[model].create()
    assert str(row)
    assert "object (" not in str(row)
