"""The addresses of the pages."""

from django.urls import URLPattern, path

from deployments.views import catalog, fleet, overview, plan, settings

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
    path("settings/", settings.settings, name="settings"),
    path("settings/theme/", settings.theme, name="settings-theme"),
]
