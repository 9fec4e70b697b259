"""The permission manifest: every URL name, who may use it, and with which methods.

A name that is missing here is refused at run time and fails the tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from deployments.models import TeamRole, TokenScope

READ = frozenset({"GET", "HEAD"})
CHANGE = frozenset({"POST"})
BOTH = READ | CHANGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What one URL name needs.

    ``role`` is the role that a change needs in the team of the object; ``None`` means that being a
    member, or for pages without an object being logged in, is enough. ``token`` is the scope that a
    program's key needs; ``None`` is open to no key, as all that decides, breaks glass or administers.
    ``shared`` lets guests of a cluster read it.
    """

    methods: frozenset[str]
    public: bool = False
    role: TeamRole | None = None
    token: TokenScope | None = None
    shared: bool = False


_read = Permission(methods=READ)
_data = Permission(methods=READ, token=TokenScope.READ)
_operate = Permission(methods=CHANGE, role=TeamRole.OPERATOR)
_request_by_key = Permission(
    methods=CHANGE, role=TeamRole.OPERATOR, token=TokenScope.REQUEST
)
_deploy_by_key = Permission(
    methods=CHANGE, role=TeamRole.OPERATOR, token=TokenScope.DEPLOY
)
# Looking on changes what a worker reads and nothing else: being a member is enough.
_look_on = Permission(methods=CHANGE)

MANIFEST: Mapping[str, Permission] = {
    "healthz": Permission(methods=READ, public=True),
    "account_login": Permission(methods=BOTH, public=True),
    "account_logout": Permission(methods=BOTH),
    "account_reauthenticate": Permission(methods=BOTH),
    "account_change_password": Permission(methods=BOTH),
    "mfa_index": _read,
    "mfa_authenticate": Permission(methods=BOTH, public=True),
    "mfa_reauthenticate": Permission(methods=BOTH),
    "mfa_activate_totp": Permission(methods=BOTH),
    "mfa_deactivate_totp": Permission(methods=BOTH),
    "mfa_generate_recovery_codes": Permission(methods=BOTH),
    "mfa_view_recovery_codes": _read,
    "mfa_download_recovery_codes": _read,
    "openid_connect_login": Permission(methods=READ, public=True),
    "openid_connect_callback": Permission(methods=READ, public=True),
    "socialaccount_signup": Permission(methods=READ, public=True),
    "socialaccount_login_cancelled": Permission(methods=READ, public=True),
    "socialaccount_login_error": Permission(methods=READ, public=True),
    "set_language": Permission(methods=CHANGE, public=True),
    "overview": _read,
    "search": _read,
    "style": _read,
    # Prometheus has no session: the view asks for one or for a key.
    "service-discovery": Permission(methods=READ, public=True, token=TokenScope.READ),
    # A person's own views: no team has a say in them.
    "table-view-save": Permission(methods=CHANGE),
    "table-view-remove": Permission(methods=CHANGE),
    "plan": _read,
    "plan-preview": _read,
    "plan-files": _read,
    # Reads a file into an address and changes nothing.
    "plan-spec": Permission(methods=BOTH),
    "plan-submit": _request_by_key,
    "plan-draft-keep": Permission(methods=CHANGE),
    "plan-draft-drop": Permission(methods=CHANGE),
    "deployment-list": _read,
    "deployment-list-file": _data,
    "deployment-list-stop": _operate,
    "deployment": _read,
    "deployment-configuration": _read,
    "deployment-releases": _read,
    "deployment-engine": _read,
    # Operators, approvers and admins may: the service asks for one of the three.
    "deployment-emergency-stop": Permission(methods=BOTH),
    "alarm-list": _read,
    "alarm-list-file": _data,
    "alarm-list-acknowledge": _operate,
    "alarm": _read,
    "alarm-acknowledge": _operate,
    "deployment-acceptance": _read,
    "deployment-acceptance-data": _data,
    "deployment-acceptance-file": _data,
    "deployment-revisions": _read,
    "deployment-serving": _read,
    "deployment-serving-file": _data,
    "deployment-change": _read,
    "deployment-advice": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "deployment-place": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "deployment-proposals": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "deployment-logs": _read,
    "deployment-log-file": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "deployment-logs-lines": _read,
    "deployment-logs-download": _read,
    "deployment-logs-tail": _look_on,
    "approval-list": _read,
    "approval-list-file": _data,
    "approval-list-withdraw": _operate,
    "approval": _read,
    "approval-decide": Permission(methods=CHANGE, role=TeamRole.APPROVER),
    "approval-read": Permission(methods=CHANGE, role=TeamRole.APPROVER),
    "approval-withdraw": _request_by_key,
    # Whoever holds a role in the team may: the service asks.
    "approval-comment": Permission(methods=CHANGE),
    # Operators and approvers may: the service asks for one of the two.
    "approval-preflight": Permission(methods=BOTH),
    "approval-release": _deploy_by_key,
    "approval-start": _operate,
    "approval-break-glass": Permission(methods=BOTH, role=TeamRole.BREAK_GLASS),
    # Approvers and admins may, but for whoever started it: the service asks.
    "approval-review": Permission(methods=CHANGE),
    "stored-plan-files": _read,
    "release-list": _read,
    "release-list-file": _data,
    "release": _read,
    "release-progress": _read,
    "release-tail": _look_on,
    "release-cancel": _deploy_by_key,
    "release-acknowledge": _operate,
    "release-again": _operate,
    "release-stop": _deploy_by_key,
    "release-remove": _operate,
    "catalog": _read,
    "catalog-file": _data,
    "catalog-engines": _read,
    "catalog-model": _read,
    "catalog-model-edit": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "catalog-model-remove": _operate,
    "catalog-model-yaml": _data,
    # The team stands in the form; the service asks for the role in it.
    "catalog-import": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "catalog-entries": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "catalog-entries-file": _data,
    "fleet": _read,
    "host-list": _read,
    "host-list-file": _data,
    "host": Permission(methods=BOTH, role=TeamRole.ADMIN, shared=True),
    # The cluster stands in the form; the service asks for the role in its team.
    "host-add": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "host-connection": _read,
    "host-devices": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "host-models": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "host-probe": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "host-test": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "host-edit": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "host-key": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "host-engine": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "host-remove": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "cluster": Permission(methods=BOTH, role=TeamRole.ADMIN, shared=True),
    "cluster-rules": Permission(methods=BOTH, role=TeamRole.ADMIN, shared=True),
    "cluster-shares": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "cluster-share-end": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "cluster-quota": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "cluster-freezes": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "cluster-freeze-end": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "cluster-probe": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "cluster-secret-store": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "cluster-secret-remove": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    # Judges text and changes nothing.
    "check": Permission(methods=BOTH),
    "check-log": Permission(methods=BOTH),
    "check-corrected": _look_on,
    "calculator": _read,
    "calculator-file": _data,
    "rule-list": _read,
    "rule": _read,
    "benchmark-list": _read,
    "benchmark-add": _operate,
    "benchmark-compare": _read,
    "benchmark-data": _data,
    "benchmark-file": _data,
    "benchmark-prompts-file": _data,
    "benchmark": _read,
    "benchmark-remove": _operate,
    "deployment-benchmarks": Permission(methods=BOTH, role=TeamRole.OPERATOR),
    "measuring-cancel": _operate,
    "pair": _read,
    "pair-cancel": _operate,
    "guide": _read,
    "guide-chapter": _read,
    "audit": _read,
    "audit-file": _data,
    "audit-lines": _data,
    "audit-entry": _read,
    "settings": Permission(methods=BOTH),
    "settings-density": Permission(methods=CHANGE),
    # Approvers and admins may, the service asks; anybody may look at their own.
    "absence": Permission(methods=BOTH),
    "absence-end": Permission(methods=CHANGE),
    # A person's own channels: no team has a say in them. Those of a team need its admin.
    "notices": Permission(methods=BOTH),
    "team-notices": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "team-notices-language": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "channel": Permission(methods=BOTH, role=TeamRole.ADMIN),
    "channel-test": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "channel-remove": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "delivery-retry": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "delivery-discard": Permission(methods=CHANGE, role=TeamRole.ADMIN),
    "settings-theme": Permission(methods=CHANGE),
    # A person's own: no team has a say in them.
    "settings-tokens": Permission(methods=BOTH),
    "settings-token-revoke": Permission(methods=CHANGE),
    "settings-sessions": _read,
    "settings-session-end": Permission(methods=CHANGE),
    "team-list": _read,
    "team": _read,
    # Admins of the team and of the panel may: the service asks for one of the two.
    "team-roles": Permission(methods=CHANGE),
    "team-add": Permission(methods=CHANGE),
    "team-member-remove": Permission(methods=CHANGE),
    "team-invite": Permission(methods=CHANGE),
    "team-token-revoke": Permission(methods=CHANGE),
    "team-invitation-revoke": Permission(methods=CHANGE),
    "platform-admin": Permission(methods=CHANGE),
    # Admins of the panel alone: the service asks, and the page shows others nothing.
    "account-list": _read,
    "account-disable": Permission(methods=CHANGE),
    "account-enable": Permission(methods=CHANGE),
    # Whoever has the link: it is the key.
    "invitation": Permission(methods=BOTH, public=True),
}
