"""The addresses of the pages."""

from django.urls import URLPattern, path

from deployments.views import (
    acceptance,
    approvals,
    catalog,
    deployments,
    fleet,
    guide,
    logs,
    overview,
    plan,
    releases,
    settings,
)

urlpatterns: list[URLPattern] = [
    path("", overview.overview, name="overview"),
    path("catalog/", catalog.catalog, name="catalog"),
    path("catalog/<uuid:pk>/", catalog.model, name="catalog-model"),
    path("fleet/", fleet.fleet, name="fleet"),
    path("fleet/hosts/<uuid:pk>/", fleet.host, name="host"),
    path("fleet/clusters/<uuid:pk>/", fleet.cluster, name="cluster"),
    path("plan/", plan.plan, name="plan"),
    path("plan/preview/", plan.plan_preview, name="plan-preview"),
    path("plan/files/", plan.plan_files, name="plan-files"),
    path("plan/submit/", plan.plan_submit, name="plan-submit"),
    path("guide/", guide.guide, name="guide"),
    path("guide/<slug:slug>/", guide.guide_chapter, name="guide-chapter"),
    path("settings/", settings.settings, name="settings"),
    path("settings/theme/", settings.theme, name="settings-theme"),
    path("deployments/", deployments.deployment_list, name="deployment-list"),
    path("deployments/<uuid:pk>/", acceptance.acceptance, name="deployment"),
    path(
        "deployments/<uuid:pk>/acceptance/",
        acceptance.acceptance,
        name="deployment-acceptance",
    ),
    path(
        "deployments/<uuid:pk>/acceptance.json",
        acceptance.acceptance_data,
        name="deployment-acceptance-data",
    ),
    path(
        "deployments/<uuid:pk>/configuration/",
        deployments.configuration,
        name="deployment-configuration",
    ),
    path(
        "deployments/<uuid:pk>/releases/",
        deployments.releases,
        name="deployment-releases",
    ),
    path("deployments/<uuid:pk>/logs/", logs.logs, name="deployment-logs"),
    path(
        "deployments/<uuid:pk>/logs/lines/", logs.lines, name="deployment-logs-lines"
    ),
    path(
        "deployments/<uuid:pk>/logs/download/",
        logs.download,
        name="deployment-logs-download",
    ),
    path("deployments/<uuid:pk>/logs/tail/", logs.tail, name="deployment-logs-tail"),
    path("approvals/", approvals.approval_list, name="approval-list"),
    path("approvals/<uuid:pk>/", approvals.approval, name="approval"),
    path(
        "approvals/<uuid:pk>/decide/", approvals.approval_decide, name="approval-decide"
    ),
    path(
        "approvals/<uuid:pk>/withdraw/",
        approvals.approval_withdraw,
        name="approval-withdraw",
    ),
    path(
        "approvals/<uuid:pk>/release/",
        approvals.approval_release,
        name="approval-release",
    ),
    path(
        "approvals/<uuid:pk>/files/",
        approvals.stored_plan_files,
        name="stored-plan-files",
    ),
    path("releases/<uuid:pk>/", releases.release, name="release"),
    path("releases/<uuid:pk>/progress/", releases.progress, name="release-progress"),
    path("releases/<uuid:pk>/tail/", logs.release_tail, name="release-tail"),
    path("releases/<uuid:pk>/cancel/", releases.cancel, name="release-cancel"),
    path("releases/<uuid:pk>/stop/", releases.stop, name="release-stop"),
    path("releases/<uuid:pk>/remove/", releases.remove, name="release-remove"),
]
