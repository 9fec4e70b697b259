"""The addresses of the pages."""

from django.urls import URLPattern, path

from deployments.views import settings

urlpatterns: list[URLPattern] = [
    path("settings/", settings.settings, name="settings"),
    path("settings/theme/", settings.theme, name="settings-theme"),
]
