"""The addresses of the pages."""

from django.urls import URLPattern, path

from deployments.views import fleet, settings

urlpatterns: list[URLPattern] = [
    path("fleet/", fleet.fleet, name="fleet"),
    path("fleet/hosts/<uuid:pk>/", fleet.host, name="host"),
    path("fleet/clusters/<uuid:pk>/", fleet.cluster, name="cluster"),
    path("settings/", settings.settings, name="settings"),
    path("settings/theme/", settings.theme, name="settings-theme"),
]
