"""Rules by environment on the page of a cluster, and the environment of a deployment."""

import pytest
from django.test import Client

from deployments.models import ApprovalRequest, Cluster, Deployment, Host, User
from deployments.planning.approval_rules import ApprovalRules, Environment
from deployments.selectors.policies import current_rules
from deployments.services.policies import change_rules
from tests.factories import DeploymentFactory
from tests.views.conftest import logged_in
from tests.views.pages import parsed, text_of
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.views.test_plan_submit import State, posted
from tests.views.test_policies import path, sent


def test_an_admin_gives_an_environment_rules_and_takes_them_back(
    as_dora: Client, cluster: Cluster
) -> None:
    empty = as_dora.get(f"{path(cluster)}?environment=staging")
    assert "has no rules of its own" in text_of(empty, "#content")
    assert parsed(empty).select("[name=production]") == []

    page = parsed(as_dora.post(path(cluster), sent(environment="staging"), follow=True))

    kept = current_rules(cluster)
    assert kept.within(None) == ApprovalRules()
    assert kept.within(Environment.STAGING) == ApprovalRules(
        approvals_high=2, open_hours=24, approved_hours=4
    )
    assert page.select_one("[aria-current=page][href*=staging]")
    assert "These hold for deployments in the environment" in page.get_text()
    own = sent(shown_version="2", approvals_low="3")
    as_dora.post(path(cluster), own)
    assert current_rules(cluster).within(Environment.STAGING).approvals_low == 1
    again = sent(environment="staging", shown_version="3", follow="yes")
    as_dora.post(path(cluster), again)
    assert current_rules(cluster).environments == {}


@pytest.mark.parametrize(("who", "status"), [("alice", 403), ("dora", 302)])
def test_the_environment_of_a_deployment(
    who: str, status: int, alice: User, dora: User, cluster: Cluster
) -> None:
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    client = logged_in(alice if who == "alice" else dora)
    page = f"/deployments/{row.pk}/configuration/"
    address = f"/deployments/{row.pk}/place/"

    shown = parsed(client.get(page)).select(f"form[action='{address}']")
    answer = client.post(address, {"environment": "staging"})

    assert (bool(shown), answer.status_code) == (who == "dora", status)
    row.refresh_from_db()
    assert row.environment == ("staging" if who == "dora" else "")
    assert ("Staging" in text_of(client.get(page), "#content")) is (who == "dora")


def test_whoever_plans_a_new_deployment_says_where_it_belongs(
    as_alice: Client, dora: User, state: State, gpu: Host
) -> None:
    assert "new_in" not in posted(as_alice, state)
    rules = ApprovalRules(approvals_high=3).with_own(
        Environment.STAGING, ApprovalRules()
    )
    change_rules(dora, gpu.cluster, rules, shown_version=1)

    form = posted(as_alice, state)
    as_alice.post("/plan/submit/", form | {"new_in": "staging"})

    made = ApprovalRequest.objects.get()
    assert (made.environment, made.approvals_needed) == ("staging", 1)
    assert Deployment.objects.get().environment == "staging"
    assert "Staging" in text_of(as_alice.get(f"/approvals/{made.pk}/"), ".facts")
    assert "new_in" not in posted(as_alice, state)
