"""A person's absences, and those in which they decide for others."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.delegations import AbsenceForm
from deployments.models import Delegation
from deployments.selectors.delegations import own_delegations, possible_delegates
from deployments.selectors.texts import say_error
from deployments.services.delegations import delegate_votes, end_delegation
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person


@require_http_methods(["GET", "HEAD", "POST"])
def absence(request: PanelRequest) -> HttpResponse:
    """The absences, and a form for another."""
    user = person(request)
    members = possible_delegates(user)
    if request.method != "POST":
        return _page(request, AbsenceForm(members=members))
    form = AbsenceForm(request.POST, members=members)
    if not form.is_valid():
        return _page(request, form, status=422)
    chosen = form.chosen
    try:
        delegate_votes(user, chosen.team, chosen.user, form.ends_at)
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _page(request, form, status=refusal_status(error))
    messages.success(
        request, _("%(name)s decides for you until then.") % {"name": chosen.user}
    )
    return redirect("absence")


@require_POST
def end(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """End an absence at once."""
    rows = Delegation.objects.for_user(request.user)
    row = get_object_or_404(rows.select_related("team", "approver", "delegate"), pk=pk)
    try:
        end_delegation(person(request), row)
    except UseCaseError as error:
        form = AbsenceForm(members=possible_delegates(person(request)))
        status, said = refusal_status(error), say_error(error)
        return _page(request, form, status=status, error=said)
    messages.success(request, _("The absence is ended; votes given in it stay."))
    return redirect("absence")


def _page(
    request: PanelRequest, form: AbsenceForm, *, status: int = 200, error: str = ""
) -> HttpResponse:
    user = person(request)
    context = {
        "form": form,
        "error": error,
        "absences": own_delegations(user),
        "me": user,
        "may": bool(form.fields["member"].choices),  # type: ignore[attr-defined]
    }
    return render(request, "settings/absence.html", context, status=status)
