"""How many people must approve a plan: risk classes with their reasons, and the rules of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.decision import OFF
from deployments.planning.plan import Plan, Severity
from deployments.planning.text import Text, text

WEEK_HOURS = 168
MOST_APPROVALS = 9
MOST_HOURS = 24 * 90
MOST_WAIT_MINUTES = 60 * 24 * 7
ASSUMED = "assumed"
MEMORY = "memory"


class Risk(StrEnum):
    """How much can go wrong for people who depend on the deployment."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class Environment(StrEnum):
    """What a deployment is for, where one cluster serves several ends."""

    PRODUCTION = "production"
    STAGING = "staging"
    DEVELOPMENT = "development"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A risk class and why; a normal plan has no reason to be anything else."""

    risk: Risk
    reasons: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class WhoRule:
    """Of the approvals of a plan, so many come from these people or holders of these roles.

    ``risk`` is the class that it holds for; ``None`` is every class. ``people`` are user names,
    ``roles`` those of the team that owns the cluster. One person's approval may meet several.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    count: int = 1
    risk: Risk | None = None
    people: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


OWNERS = WhoRule(roles=("approver",))
"""What holds for plans of guests: an approver of the team whose hosts they would use is among them."""


@dataclass(frozen=True, kw_only=True)
class ApprovalRules:
    """What a cluster asks of a plan.

    ``approvals_*`` are the approvals that a plan of the class needs. A request that nobody decides
    ends after ``open_hours``; an approved one that nobody deploys after ``approved_hours``.
    Between approval and start pass ``wait_minutes``. ``proof_before_vote`` asks who votes to prove
    once more who they are; production always does. ``who`` says whose approvals must be among them;
    ``guests_decide`` lets plans of guests do without one of the cluster's own team.
    ``environments`` hold instead of these for deployments of that environment.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    production: bool = False
    approvals_low: int = 1
    approvals_normal: int = 1
    approvals_high: int = 1
    open_hours: int = WEEK_HOURS
    approved_hours: int = WEEK_HOURS
    wait_minutes: int = 0
    proof_before_vote: bool = False
    who: tuple[WhoRule, ...] = ()
    guests_decide: bool = False
    environments: Mapping[Environment, "ApprovalRules"] = field(default_factory=dict)

    def within(self, environment: Environment | None) -> "ApprovalRules":
        """What holds for a deployment of this environment; ``None`` is one of which nobody said any.

        An environment without rules of its own follows the others. Production is production.
        """
        own = None if environment is None else self.environments.get(environment)
        found = replace(own or self, environments={})
        if environment is Environment.PRODUCTION:
            return replace(found, production=True)
        return found

    def with_own(
        self, environment: Environment, rules: "ApprovalRules | None"
    ) -> "ApprovalRules":
        """The same with other rules for one environment; ``None`` lets it follow the others."""
        kept = {
            key: one for key, one in self.environments.items() if key != environment
        }
        if rules is not None:
            kept[environment] = replace(rules, environments={})
        ordered = {key: kept[key] for key in Environment if key in kept}
        return replace(self, environments=ordered)

    def asked_of(self, risk: Risk, *, guest: bool = False) -> tuple[WhoRule, ...]:
        """Whose approvals a plan of this class needs, of a guest's or of the own team's."""
        named = tuple(one for one in self.who if one.risk in {None, risk})
        return (*named, OWNERS) if guest and not self.guests_decide else named

    @property
    def asks_proof(self) -> bool:
        """Whether who votes has just proved who they are."""
        return self.production or self.proof_before_vote

    def needed(self, risk: Risk) -> int:
        """The approvals that a plan of this class needs."""
        return {
            Risk.LOW: self.approvals_low,
            Risk.NORMAL: self.approvals_normal,
            Risk.HIGH: self.approvals_high,
        }[risk]

    @property
    def most_needed(self) -> int:
        """The most approvals that any class needs."""
        return max(self.needed(risk) for risk in Risk)


def assess(
    plan: Plan,
    before: Plan | None,
    rules: ApprovalRules,
    environment: Environment | None = None,
) -> Assessment:
    """Put a plan into a class; ``before`` is the plan that runs now, if any.

    ``rules`` are those within its ``environment``. What the cluster's baseline accepts (host network on Ascend and the like) is no reason.
    """
    if plan.practice:
        why = text("The practice image serves no real model.")
        return Assessment(risk=Risk.LOW, reasons=(why,))
    reasons = tuple(_reasons(plan, before, rules, environment))
    if reasons:
        return Assessment(risk=Risk.HIGH, reasons=reasons)
    if before is not None and _same_but_speculation(plan, before):
        why = text("Only the speculation changes: image, hosts and devices stay.")
        return Assessment(risk=Risk.LOW, reasons=(why,))
    return Assessment(risk=Risk.NORMAL, reasons=())


def _reasons(
    plan: Plan,
    before: Plan | None,
    rules: ApprovalRules,
    environment: Environment | None,
) -> list[Text]:
    hosts = {one.host for one in plan.replicas}
    found = []
    if environment is Environment.PRODUCTION:
        found.append(text("The deployment serves production."))
    elif rules.production:
        found.append(text("The cluster serves production."))
    if len(hosts) > 1:
        found.append(text("It runs on {count} hosts together.", count=len(hosts)))
    if _is_tight(plan):
        found.append(text("Its memory leaves no head room, or is not known."))
    if before is None:
        found.append(text("Nothing runs under this name that it could go back to."))
    if _is_assumed(plan):
        found.append(text("What its method gains is assumed, not measured."))
    return found


def _is_tight(plan: Plan) -> bool:
    """Whether a rule warns of memory, or a role's free bytes are unknown or none."""
    warned = any(
        one.category == MEMORY and one.severity is not Severity.INFO
        for one in plan.findings
    )
    return warned or any((one.headroom_bytes or 0) <= 0 for one in plan.memory)


def _is_assumed(plan: Plan) -> bool:
    if plan.decision.method == OFF:
        return False
    if plan.gain is not None:
        return plan.gain.kind == ASSUMED
    chosen = [
        one for one in plan.decision.methods if one.method == plan.decision.method
    ]
    return all(one.evidence == ASSUMED for one in chosen)


def _same_but_speculation(plan: Plan, before: Plan) -> bool:
    def around(one: Plan) -> list[tuple[object, ...]]:
        return [
            (
                replica.role,
                replica.rank,
                replica.host,
                replica.devices,
                replica.container.image,
                replica.container.ports,
            )
            for replica in one.replicas
        ]

    same = (plan.model, plan.checkpoint, plan.engine, plan.engine_version)
    return around(plan) == around(before) and same == (
        before.model,
        before.checkpoint,
        before.engine,
        before.engine_version,
    )
