"""Secrets of teams, rules and freeze windows of clusters, and engine profiles that people made, for tests."""
# mypy: allow-untyped-calls

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from factory.declarations import (
    LazyAttribute,
    LazyFunction,
    SelfAttribute,
    Sequence,
    SubFactory,
)
from factory.django import DjangoModelFactory

from deployments import models
from tests.factories import (
    ApprovalRequestFactory,
    ClusterFactory,
    ReleaseFactory,
    TeamFactory,
    UserFactory,
)


class OwnEngineProfileFactory(DjangoModelFactory[models.OwnEngineProfile]):
    """A profile by name only; its document is empty."""

    class Meta:
        model = models.OwnEngineProfile

    name = Sequence(lambda n: f"vllm==0.32.0+acme{n}")
    engine = "vllm"
    source = "acme.whl"
    document = LazyFunction(dict)


class TeamSecretFactory(DjangoModelFactory[models.TeamSecret]):
    """A secret whose value nobody can open: what is sealed is no sealed text."""

    class Meta:
        model = models.TeamSecret

    team = SubFactory(TeamFactory)
    name = Sequence(lambda n: f"key-{n}")
    sealed = "unreadable"
    changed_by = SubFactory(UserFactory)


class PolicyVersionFactory(DjangoModelFactory[models.PolicyVersion]):
    """The default rules, kept as a version."""

    class Meta:
        model = models.PolicyVersion

    cluster = SubFactory(ClusterFactory)
    number = Sequence(lambda n: n + 2)
    rules = LazyFunction(dict)
    changed_by = SubFactory(UserFactory)


class DeviceQuotaFactory(DjangoModelFactory[models.DeviceQuota]):
    """Eight devices."""

    class Meta:
        model = models.DeviceQuota

    cluster = SubFactory(ClusterFactory)
    team = SelfAttribute("cluster.team")
    devices = 8
    changed_by = SubFactory(UserFactory)


class ClusterShareFactory(DjangoModelFactory[models.ClusterShare]):
    """A cluster that another team may deploy on."""

    class Meta:
        model = models.ClusterShare

    cluster = SubFactory(ClusterFactory)
    team = SubFactory(TeamFactory)
    access = models.ShareAccess.DEPLOY
    changed_by = SubFactory(UserFactory)


class FreezeWindowFactory(DjangoModelFactory[models.FreezeWindow]):
    """A window of one cluster that denies, from midnight in UTC on 1 January 2026, for a day."""

    class Meta:
        model = models.FreezeWindow

    cluster = SubFactory(ClusterFactory)
    team = SelfAttribute("cluster.team")
    name = Sequence(lambda n: f"freeze-{n}")
    kind = models.FreezeKind.DENY
    time_zone = "UTC"
    first_day = datetime(2026, 1, 1, tzinfo=UTC).date()
    begins = datetime(2026, 1, 1, tzinfo=UTC).time()
    minutes = 24 * 60
    repeat = models.FreezeRepeat.ONCE
    created_by = SubFactory(UserFactory)


class RequestCommentFactory(DjangoModelFactory[models.RequestComment]):
    """A question."""

    class Meta:
        model = models.RequestComment

    request = SubFactory(ApprovalRequestFactory)
    author = SubFactory(UserFactory)
    author_name = "bob"
    text = "Why three tokens?"


class ChangesReadFactory(DjangoModelFactory[models.ChangesRead]):
    """Somebody who was shown what a request changes."""

    class Meta:
        model = models.ChangesRead

    request = SubFactory(ApprovalRequestFactory)
    user = SubFactory(UserFactory)
    digest = SelfAttribute("request.digest")


def shown_changes(user: models.User, request: models.ApprovalRequest) -> None:
    """The person looked at what the request changes, so that they may approve it at high risk."""
    models.ChangesRead.objects.get_or_create(
        request=request, user=user, digest=request.digest
    )


class BreakGlassFactory(DjangoModelFactory[models.BreakGlass]):
    """A release that somebody started without approval, not reviewed."""

    class Meta:
        model = models.BreakGlass

    release = SubFactory(ReleaseFactory)
    request = SelfAttribute("release.request")
    used_by = SubFactory(UserFactory)
    reason = "Nothing answers."
    incident = Sequence(lambda n: f"INC-{n}")
    state_before = "open"


class InvitationFactory(DjangoModelFactory[models.Invitation]):
    """A link that nobody used and that holds for a day; nobody knows its token."""

    class Meta:
        model = models.Invitation

    team = SubFactory(TeamFactory)
    roles = LazyFunction(lambda: ["viewer"])
    token_hash = Sequence(lambda n: f"{n:064x}")
    invited_by = SubFactory(UserFactory)
    expires_at = LazyFunction(lambda: timezone.now() + timedelta(days=1))


class ApiTokenFactory(DjangoModelFactory[models.ApiToken]):
    """A robot's key for reading, for a day; nobody knows it."""

    class Meta:
        model = models.ApiToken

    owner = SubFactory(UserFactory)
    name = Sequence(lambda n: f"robot-{n}")
    scope = models.TokenScope.READ
    key_hash = Sequence(lambda n: f"{n:064x}")
    hint = "abcd"
    expires_at = LazyFunction(lambda: timezone.now() + timedelta(days=1))


class WizardDraftFactory(DjangoModelFactory[models.WizardDraft]):
    """A plan that one person left at the hardware."""

    class Meta:
        model = models.WizardDraft

    user = SubFactory(UserFactory)
    model = Sequence(lambda n: f"Qwen/Qwen3-{n}B")
    query = LazyAttribute(lambda draft: f"step=hardware&model={draft.model}")
    changed_at = LazyFunction(timezone.now)
