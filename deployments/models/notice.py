"""Notices: who wants to be told of what over which channel, and what became of each telling."""

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.sealed import SealedField
from deployments.models.sentences import SentenceField
from deployments.models.team import Membership, Team
from deployments.models.user import User


class NoticeKind(models.TextChoices):
    """What somebody may want to be told of."""

    REQUESTED = "requested", _("Approval asked for")
    REMINDER = "reminder", _("A request is running out")
    COMMENTED = "commented", _("Somebody wrote about a request")
    APPROVED = "approved", pgettext_lazy("notice", "Approved")
    REJECTED = "rejected", pgettext_lazy("notice", "Rejected")
    EXPIRED = "expired", _("A request ran out")
    DEPLOYED = "deployed", pgettext_lazy("notice", "Deployed")
    FAILED = "failed", _("A release failed")
    ROLLED_BACK = "rolled_back", _("An earlier release serves again")
    ALARM = "alarm", pgettext_lazy("notice", "Alarm")
    BYPASSED = "bypassed", _("Started without approval")
    TEST = "test", _("Test")


class ChannelKind(models.TextChoices):
    """How a notice travels."""

    EMAIL = "email", _("E-mail")
    WEBHOOK = "webhook", _("Signed webhook")
    DINGTALK = "dingtalk", _("DingTalk")
    FEISHU = "feishu", _("Feishu")
    WECOM = "wecom", _("WeCom")
    SLACK = "slack", _("Slack")
    TEAMS = "teams", _("Microsoft Teams")


class DeliveryState(models.TextChoices):
    """Life of one telling over one channel; ``sending`` rows whose lease ran out are taken over."""

    WAITING = "waiting", _("Waiting")
    SENDING = "sending", _("On its way")
    DELIVERED = "delivered", _("Delivered")
    DEAD = "dead", _("Given up")
    DISCARDED = "discarded", _("Discarded")


class ChannelQuerySet(ScopedQuerySet["NoticeChannel"]):
    """Channels of teams are seen by their members, a person's own by that person alone."""

    def for_user(self, user: User | AnonymousUser) -> "ChannelQuerySet":
        """What the person may see."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        teams = Membership.objects.filter(user=user).values("team")
        return self.filter(Q(team__in=teams) | Q(user=user))


class NoticeChannel(Row):
    """One way to tell a team or a person; exactly one of the two owns it.

    ``sealed`` holds the address with all its secrets, and the key that signs, together: neither is
    read back by anybody, and a new address needs a new key. ``events`` are values of
    ``NoticeKind``.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="notice_channels",
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="notice_channels",
    )
    kind = models.CharField(max_length=10, choices=ChannelKind.choices)
    name = models.CharField(max_length=60)
    sealed = SealedField()
    events = models.JSONField(default=list, blank=True)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ChannelQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                name="channel_kind_known", condition=Q(kind__in=ChannelKind.values)
            ),
            models.CheckConstraint(
                name="channel_has_one_owner",
                condition=Q(team__isnull=True, user__isnull=False)
                | Q(team__isnull=False, user__isnull=True),
            ),
            models.UniqueConstraint(
                fields=["team", "name"], name="channel_name_once_in_team"
            ),
            models.UniqueConstraint(
                fields=["user", "name"], name="channel_name_once_of_person"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Notice(Row):
    """Something that happened and that somebody wants to know, written in its transaction.

    ``said`` is one line without anybody's free text, ``actor_name`` the name of that day, or empty
    for the panel itself. ``place`` and ``place_id`` name the page. ``facts`` are for machines.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=12, choices=NoticeKind.choices)
    said = SentenceField(blank=True, default="")
    actor_name = models.CharField(max_length=160, blank=True, default="")
    place = models.CharField(max_length=40, blank=True, default="")
    place_id = models.UUIDField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], name="notice_by_time")]
        constraints = [
            models.CheckConstraint(
                name="notice_kind_known", condition=Q(kind__in=NoticeKind.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.said}"


class DeliveryQuerySet(ScopedQuerySet["NoticeDelivery"]):
    """Deliveries are seen by whoever sees their channel."""

    def for_user(self, user: User | AnonymousUser) -> "DeliveryQuerySet":
        """What the person may see."""
        return self.filter(channel__in=NoticeChannel.objects.for_user(user))


class NoticeDelivery(Row):
    """One notice over one channel: the row is the truth, messages only wake.

    Claimed by a conditional UPDATE that sets ``lease_until`` and adds one to ``attempts``; what the
    owner writes later carries that count. ``not_before`` is the next attempt. The id is the same in
    every attempt, so that a receiver can tell a repeat.
    """

    TEAM_PATH = "channel__team"

    notice = models.ForeignKey(
        Notice, on_delete=models.CASCADE, related_name="deliveries"
    )
    channel = models.ForeignKey(
        NoticeChannel, on_delete=models.CASCADE, related_name="deliveries"
    )
    state = models.CharField(
        max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = SentenceField(blank=True, default="")

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["state", "not_before"], name="delivery_due"),
        ]
        constraints = [
            models.CheckConstraint(
                name="delivery_state_known", condition=Q(state__in=DeliveryState.values)
            ),
            models.CheckConstraint(
                name="delivery_sending_has_lease",
                condition=~Q(state=DeliveryState.SENDING)
                | Q(lease_until__isnull=False, attempts__gte=1),
            ),
            models.UniqueConstraint(
                fields=["notice", "channel"], name="delivery_once_each"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.notice} over {self.channel}: {self.state}"
