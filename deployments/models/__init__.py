"""The tables, by noun; constraints make wrong states impossible."""

from deployments.models.approval import (
    Approval,
    ApprovalRequest,
    Decision,
    RequestState,
)
from deployments.models.catalog import Checkpoint, Drafter, TargetModel
from deployments.models.command import Command, CommandKind, CommandState
from deployments.models.deployment import Deployment, Plan, Revision
from deployments.models.fleet import Cluster, Device, Host, Platform, Reachability
from deployments.models.logs import MOST_TAIL_LINES, LogRequest, LogRun, LogTail
from deployments.models.release import (
    CHANGING_STATES,
    FINAL_STATES,
    Booking,
    EventKind,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.models.saved_view import SavedView, TableKey
from deployments.models.team import Membership, RoleGrant, Team, TeamRole
from deployments.models.telemetry import AcceptanceSample, LogCursor, LogGap
from deployments.models.user import Density, Theme, User

__all__ = [
    "CHANGING_STATES",
    "FINAL_STATES",
    "MOST_TAIL_LINES",
    "AcceptanceSample",
    "Approval",
    "ApprovalRequest",
    "Booking",
    "Checkpoint",
    "Cluster",
    "Command",
    "CommandKind",
    "CommandState",
    "Decision",
    "Density",
    "Deployment",
    "Device",
    "Drafter",
    "EventKind",
    "Host",
    "LogCursor",
    "LogGap",
    "LogRequest",
    "LogRun",
    "LogTail",
    "Membership",
    "Plan",
    "Platform",
    "Reachability",
    "Release",
    "ReleaseEvent",
    "ReleaseState",
    "Replica",
    "ReplicaState",
    "RequestState",
    "Revision",
    "RoleGrant",
    "SavedView",
    "TableKey",
    "TargetModel",
    "Team",
    "TeamRole",
    "Theme",
    "User",
]
