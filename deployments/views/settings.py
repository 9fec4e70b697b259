"""The person's settings, and the theme switch of the bar."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.settings import DensityForm, SettingsForm, ThemeForm
from deployments.models import Density, Theme, User
from deployments.services.settings import (
    change_density,
    change_settings,
    change_theme,
)
from deployments.views.people import person


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """Show the settings, and keep changed ones."""
    user = person(request)
    form = SettingsForm(request.POST or None, initial=_current(user))
    if request.method == "POST" and form.is_valid():
        change_settings(
            user,
            language=form.cleaned_data["language"],
            time_zone=form.cleaned_data["time_zone"],
            theme=Theme(form.cleaned_data["theme"]),
            density=Density(form.cleaned_data["density"]),
        )
        messages.success(request, _("Your settings are kept."))
        return redirect("settings")
    status = 422 if form.is_bound else 200
    return render(request, "settings/settings.html", {"form": form}, status=status)


def _current(user: User) -> dict[str, str]:
    names = ("language", "time_zone", "theme", "density")
    return {name: getattr(user, name) for name in names}


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme and go back to the page that asked; 204 for the script of the bar."""
    form = ThemeForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=422)
    change_theme(person(request), Theme(form.cleaned_data["theme"]))
    return redirect(_asked_from(request))


@require_POST
def density(request: HttpRequest) -> HttpResponse:
    """Keep how close the rows of tables stand and go back to the page that asked."""
    form = DensityForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=422)
    change_density(person(request), Density(form.cleaned_data["density"]))
    return redirect(_asked_from(request))


def _asked_from(request: HttpRequest) -> str:
    """The page of this panel that a switch stood on, else the overview."""
    back = request.POST.get("next", "/")
    own = url_has_allowed_host_and_scheme(back, {request.get_host()})
    return back if own else "/"
