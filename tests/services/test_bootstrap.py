"""What a new panel starts with: who may approve depends on where it runs."""

import pytest
from django.test import override_settings

from deployments.models import Cluster
from deployments.services.bootstrap import bootstrap

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("lab", [True, False])
def test_only_the_lab_lets_one_person_approve_their_own_plans(*, lab: bool) -> None:
    with override_settings(LAB_MODE=lab):
        bootstrap()
    assert Cluster.objects.get().requires_other_approver is not lab


def test_a_second_bootstrap_keeps_the_policy_and_shows_no_password() -> None:
    with override_settings(LAB_MODE=False):
        assert bootstrap().password
        Cluster.objects.update(requires_other_approver=False)
        assert bootstrap().password is None
    assert not Cluster.objects.get().requires_other_approver
