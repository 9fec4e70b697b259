"""Approval requests and the decisions of people on them."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.deployment import DeploymentEnvironment, Plan
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class RequestState(models.TextChoices):
    """Where a request stands: open -> approved -> released, with side exits."""

    OPEN = "open", _("Waiting for a decision")
    APPROVED = "approved", _("Approved")
    RELEASED = "released", _("Released")
    REJECTED = "rejected", _("Rejected")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    EXPIRED = "expired", _("Expired")
    STALE = "stale", _("Out of date")
    SUPERSEDED = "superseded", _("Replaced by a newer request")


class RiskClass(models.TextChoices):
    """The classes of ``planning.approval_rules``."""

    LOW = "low", _("Low risk")
    NORMAL = "normal", _("Normal risk")
    HIGH = "high", _("High risk")


class ApprovalRequest(Row):
    """One plan digest put to the vote under one policy version.

    ``requires_other_approver``, ``policy_version``, ``approvals_needed`` and ``approved_hours`` (how
    long an approval lasts) are those of the cluster at the time of submission, within the
    ``environment`` that the deployment had; a later, weaker policy or environment does not apply to
    an open request. ``risk_reasons`` are sentences about the class.

    ``wait_minutes`` pass between approval and start. Nothing starts before ``start_from`` or from
    ``start_until`` on, where somebody asked for that; the page shows them in ``start_zone``.
    ``starts_itself`` needs no operator; ``start_problem`` says why it has not started yet.
    """

    TEAM_PATH = "plan__revision__deployment__team"
    DECIDED_ON = "plan__revision__deployment__cluster__team"

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="requests")
    digest = models.CharField(max_length=71)
    state = models.CharField(
        max_length=12, choices=RequestState.choices, default=RequestState.OPEN
    )
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    comment = models.TextField(blank=True, default="")
    requires_other_approver = models.BooleanField()
    policy_version = models.PositiveIntegerField()
    environment = models.CharField(
        max_length=12,
        choices=DeploymentEnvironment.choices,
        blank=True,
        default="",
        db_default="",
    )
    risk = models.CharField(max_length=8, choices=RiskClass.choices, default="normal")
    risk_reasons = models.JSONField(default=list, blank=True)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    approved_hours = models.PositiveSmallIntegerField(default=168)
    wait_minutes = models.PositiveIntegerField(default=0)
    starts_itself = models.BooleanField(default=False)
    start_from = models.DateTimeField(null=True, blank=True)
    start_until = models.DateTimeField(null=True, blank=True)
    start_zone = models.CharField(max_length=64, blank=True, default="")
    start_problem = SentenceField(blank=True, default="")
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["created_at", "id"], name="request_by_time"),
            models.Index(
                Coalesce("decided_at", "created_at"), name="request_by_change"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="request_state_known", condition=Q(state__in=RequestState.values)
            ),
            models.CheckConstraint(
                name="request_risk_known", condition=Q(risk__in=RiskClass.values)
            ),
            models.CheckConstraint(
                name="request_environment_known",
                condition=Q(environment__in=["", *DeploymentEnvironment.values]),
            ),
            models.CheckConstraint(
                name="request_needs_somebody", condition=Q(approvals_needed__gte=1)
            ),
            models.CheckConstraint(
                name="request_start_has_both_ends",
                condition=Q(start_from__isnull=True, start_until__isnull=True)
                | Q(start_until__gt=F("start_from")),
            ),
            models.UniqueConstraint(
                fields=["plan"],
                condition=Q(state__in=[RequestState.OPEN, RequestState.APPROVED]),
                name="one_live_request_per_plan",
            ),
            models.CheckConstraint(
                name="request_decided_has_time",
                condition=Q(state=RequestState.OPEN) | Q(decided_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan}: {self.state}"


class Decision(models.TextChoices):
    """What a person decided."""

    APPROVE = "approve", _("Approved")
    REJECT = "reject", _("Rejected")


class Approval(Row):
    """One person's decision on one request; insert-only.

    ``digest`` is the digest on the page that the person saw, ``user_name`` their name then.
    """

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, related_name="approvals"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    user_name = models.CharField(max_length=160)
    decision = models.CharField(max_length=8, choices=Decision.choices)
    comment = models.TextField(blank=True, default="")
    digest = models.CharField(max_length=71)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["request", "user"], name="one_vote_each"),
            models.CheckConstraint(
                name="decision_known", condition=Q(decision__in=Decision.values)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_name}: {self.decision}"
