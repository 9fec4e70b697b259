"""Start a request without approval, after proving again who one is; and review such a start."""

import uuid

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.break_glass import BreakGlassForm, ReviewForm
from deployments.forms.releases import new_key
from deployments.models import ApprovalRequest, BreakGlass, TeamRole
from deployments.planning.errors import PlanningError
from deployments.selectors.approvals import requests_for
from deployments.selectors.break_glass import BREAKABLE
from deployments.selectors.texts import say_error
from deployments.selectors.votes import roles_on, team_of
from deployments.services.break_glass import break_glass, close_review
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def start_now(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """What it means, and the form; sent, it is carried out once the person has proved who they are."""
    row = _find(request, pk)
    if request.method != "POST":
        return _page(request, row, BreakGlassForm(initial={"key": new_key()}))
    refuse_without_role(request, team_of(row))
    form = BreakGlassForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    answer: HttpResponse = _proved(request, row, form)
    return answer


@reauthentication_required  # type: ignore[untyped-decorator]
def _proved(
    request: HttpRequest, row: ApprovalRequest, form: BreakGlassForm
) -> HttpResponse:
    value = form.cleaned_data
    try:
        release = break_glass(
            person(request),
            row,
            str(value["key"]),
            reason=value["reason"],
            incident=value["incident"],
        )
    except (UseCaseError, PlanningError) as error:
        form.add_error(None, say_error(error))
        return _page(request, row, form, status=refusal_status(error))
    messages.warning(
        request, _("It starts without approval. Somebody else has to review that.")
    )
    return redirect("release", pk=release.pk)


@require_POST
def review(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Close the review of the start without approval of this request."""
    row = _find(request, pk)
    use = get_object_or_404(
        BreakGlass.objects.for_user(request.user).select_related("release"), request=row
    )
    form = ReviewForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say in a few words what came of it."))
        return redirect("approval", pk=row.pk)
    try:
        close_review(person(request), use, form.cleaned_data["review"])
    except UseCaseError as error:
        return _refused(request, row, error)
    messages.success(request, _("The review is closed; the mark stays."))
    return redirect("approval", pk=row.pk)


def _refused(
    request: HttpRequest, row: ApprovalRequest, error: UseCaseError
) -> HttpResponse:
    context = {"row": row, "error": say_error(error)}
    status = refusal_status(error)
    return render(request, "approvals/review_refused.html", context, status=status)


def _find(request: HttpRequest, pk: uuid.UUID) -> ApprovalRequest:
    return get_object_or_404(requests_for(person(request)), pk=pk)


def _page(
    request: HttpRequest,
    row: ApprovalRequest,
    form: BreakGlassForm,
    *,
    status: int = 200,
) -> HttpResponse:
    holds = TeamRole.BREAK_GLASS in roles_on(person(request), row)
    context = {
        "row": row,
        "form": form,
        "holds": holds,
        "possible": row.state in BREAKABLE,
    }
    return render(request, "approvals/break_glass.html", context, status=status)
