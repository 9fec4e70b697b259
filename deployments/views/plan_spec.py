"""A deployment spec in YAML brought into the wizard."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from deployments.forms.wizard.spec_file import SpecForm
from deployments.forms.wizard.specification import address_of_text
from deployments.planning.errors import PlanningError
from deployments.selectors.texts import say_error
from deployments.views.people import person


@require_http_methods(["GET", "HEAD", "POST"])
def plan_spec(request: HttpRequest) -> HttpResponse:
    """Ask for a spec, and open the wizard with its answers; nothing is stored."""
    if request.method != "POST":
        return render(request, "plan/spec.html", {"form": SpecForm(label_suffix="")})
    form = SpecForm(request.POST, request.FILES, label_suffix="")
    if form.is_valid():
        try:
            address = address_of_text(person(request), form.cleaned_data["written"])
        except PlanningError as error:
            form.add_error("file" if request.FILES else "text", say_error(error))
        else:
            return redirect(f"{reverse('plan')}?{address}")
    return render(request, "plan/spec.html", {"form": form}, status=422)
