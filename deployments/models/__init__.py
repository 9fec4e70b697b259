"""The tables, by noun; constraints make wrong states impossible."""

from deployments.models.alarm import Alarm, AlarmEnd, AlarmKind
from deployments.models.api_token import ApiToken, TokenScope
from deployments.models.approval import (
    Approval,
    ApprovalRequest,
    Decision,
    RequestState,
    RiskClass,
)
from deployments.models.audit import AuditAction, AuditEntry, AuditHead, AuditKind
from deployments.models.benchmark import MOST_KEPT_RUNS, BenchmarkResult
from deployments.models.benchmark_job import (
    OPEN_BENCHMARKS,
    BenchmarkJob,
    BenchmarkSegment,
    BenchmarkState,
    SegmentState,
)
from deployments.models.benchmark_pair import (
    OPEN_PAIRS,
    PAIR_ENDS,
    BenchmarkPair,
    PairState,
)
from deployments.models.break_glass import BreakGlass
from deployments.models.catalog import Checkpoint, Drafter, TargetModel
from deployments.models.changes_read import ChangesRead
from deployments.models.cluster_share import ClusterShare, ShareAccess
from deployments.models.command import Command, CommandKind, CommandState
from deployments.models.comment import RequestComment
from deployments.models.delegation import DelegatedVote, Delegation
from deployments.models.deployment import (
    Deployment,
    DeploymentEnvironment,
    Plan,
    Revision,
)
from deployments.models.device_probe import HostProbe, ProbeSettings
from deployments.models.device_queue import QueuedBooking
from deployments.models.engine_profile import OwnEngineProfile
from deployments.models.file_log import FileLog, FileLogCursor
from deployments.models.fleet import (
    ANSWERING,
    Cluster,
    Device,
    Host,
    HostAccess,
    Platform,
    Reachability,
)
from deployments.models.freeze import FreezeKind, FreezeRepeat, FreezeWindow
from deployments.models.host_slot import HostSlot
from deployments.models.invitation import Invitation
from deployments.models.logs import MOST_TAIL_LINES, LogRequest, LogRun, LogTail
from deployments.models.metrics import (
    CounterCursor,
    Serving,
    ServingDay,
    ServingHour,
    ServingMinute,
)
from deployments.models.model_directory import (
    ModelDirectory,
    ModelDirectoryState,
    ModelListing,
)
from deployments.models.notice import (
    ChannelKind,
    DeliveryState,
    Notice,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
)
from deployments.models.policy import PolicyVersion
from deployments.models.preflight import Preflight, PreflightCheck, PreflightState
from deployments.models.proposal_schedule import EVERY_DAYS, ProposalSchedule
from deployments.models.quota import DeviceQuota
from deployments.models.release import (
    CHANGING_STATES,
    FINAL_STATES,
    Booking,
    DriftKind,
    EventKind,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.models.reminder import RequestReminder
from deployments.models.rollup import (
    DAY_S,
    HOUR_S,
    MINUTE_S,
    AcceptanceStanding,
    DayRollup,
    HourRollup,
    MinuteRollup,
    Rollup,
    RollupRound,
    Standing,
)
from deployments.models.saved_view import SavedView, TableKey
from deployments.models.team import Membership, RoleGrant, Team, TeamRole
from deployments.models.team_secret import TeamSecret
from deployments.models.telemetry import AcceptanceSample, LogCursor, LogGap
from deployments.models.user import Density, Theme, User
from deployments.models.wizard_draft import LONGEST_DRAFT, WizardDraft

__all__ = [
    "ANSWERING",
    "CHANGING_STATES",
    "DAY_S",
    "EVERY_DAYS",
    "FINAL_STATES",
    "HOUR_S",
    "LONGEST_DRAFT",
    "MINUTE_S",
    "MOST_KEPT_RUNS",
    "MOST_TAIL_LINES",
    "OPEN_BENCHMARKS",
    "OPEN_PAIRS",
    "PAIR_ENDS",
    "AcceptanceSample",
    "AcceptanceStanding",
    "Alarm",
    "AlarmEnd",
    "AlarmKind",
    "ApiToken",
    "Approval",
    "ApprovalRequest",
    "AuditAction",
    "AuditEntry",
    "AuditHead",
    "AuditKind",
    "BenchmarkJob",
    "BenchmarkPair",
    "BenchmarkResult",
    "BenchmarkSegment",
    "BenchmarkState",
    "Booking",
    "BreakGlass",
    "ChangesRead",
    "ChannelKind",
    "Checkpoint",
    "Cluster",
    "ClusterShare",
    "Command",
    "CommandKind",
    "CommandState",
    "CounterCursor",
    "DayRollup",
    "Decision",
    "DelegatedVote",
    "Delegation",
    "DeliveryState",
    "Density",
    "Deployment",
    "DeploymentEnvironment",
    "Device",
    "DeviceQuota",
    "Drafter",
    "DriftKind",
    "EventKind",
    "FileLog",
    "FileLogCursor",
    "FreezeKind",
    "FreezeRepeat",
    "FreezeWindow",
    "Host",
    "HostAccess",
    "HostProbe",
    "HostSlot",
    "HourRollup",
    "Invitation",
    "LogCursor",
    "LogGap",
    "LogRequest",
    "LogRun",
    "LogTail",
    "Membership",
    "MinuteRollup",
    "ModelDirectory",
    "ModelDirectoryState",
    "ModelListing",
    "Notice",
    "NoticeChannel",
    "NoticeDelivery",
    "NoticeKind",
    "OwnEngineProfile",
    "PairState",
    "Plan",
    "Platform",
    "PolicyVersion",
    "Preflight",
    "PreflightCheck",
    "PreflightState",
    "ProbeSettings",
    "ProposalSchedule",
    "QueuedBooking",
    "Reachability",
    "Release",
    "ReleaseEvent",
    "ReleaseState",
    "Replica",
    "ReplicaState",
    "RequestComment",
    "RequestReminder",
    "RequestState",
    "Revision",
    "RiskClass",
    "RoleGrant",
    "Rollup",
    "RollupRound",
    "SavedView",
    "SegmentState",
    "Serving",
    "ServingDay",
    "ServingHour",
    "ServingMinute",
    "ShareAccess",
    "Standing",
    "TableKey",
    "TargetModel",
    "Team",
    "TeamRole",
    "TeamSecret",
    "Theme",
    "TokenScope",
    "User",
    "WizardDraft",
]
