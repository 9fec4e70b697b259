"""Absences on their page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.models import Delegation, TeamRole
from tests.delegation_rows import DelegationFactory
from tests.factories import TeamFactory, member
from tests.views.pages import parsed, queries_for, text_of
from tests.world import browser

pytestmark = pytest.mark.django_db


def test_an_approver_lets_somebody_decide_and_ends_it() -> None:
    team = TeamFactory.create(name="Serving")
    bob = member(team, "bob", TeamRole.APPROVER)
    vera = member(team, "vera")
    page, day = "/settings/absence/", timezone.localdate() + timedelta(days=3)
    form = {"member": str(vera.memberships.get().pk), "last_day": day.isoformat()}
    client = browser(bob)
    assert "Serving: vera" in text_of(client.get(page))
    assert client.post(page, {**form, "last_day": "2020-01-01"}).status_code == 409
    assert client.post(page, {**form, "member": "x"}).status_code == 422
    assert client.post(page, form).status_code == 302
    assert client.post(page, form).status_code == 409
    row = Delegation.objects.get()
    assert (row.approver, row.delegate, row.team) == (bob, vera, team)
    seen = browser(vera).get(page)
    assert "bob" in text_of(seen)
    assert parsed(seen).select("main form") == []
    assert browser(vera).post(f"/absences/{row.pk}/end/").status_code == 403
    assert client.post(f"/absences/{row.pk}/end/").status_code == 302
    assert client.post(f"/absences/{row.pk}/end/").status_code == 409


def test_the_page_takes_few_queries() -> None:
    team = TeamFactory.create()
    bob = member(team, "bob", TeamRole.APPROVER)
    for number in range(3):
        other = member(team, f"person-{number}-x", TeamRole.APPROVER)
        DelegationFactory.create(team=team, approver=other, delegate=bob)
    assert queries_for(browser(bob), "/settings/absence/") <= 12
