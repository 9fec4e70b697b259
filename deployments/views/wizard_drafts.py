"""Keep what is unfinished in the wizard in the account, go on with it, or drop it."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deployments.forms.wizard.form import ONLY_ON, WizardForm
from deployments.models import User
from deployments.selectors.texts import say_error
from deployments.selectors.wizard import WizardChoices
from deployments.selectors.wizard_drafts import drafts_of
from deployments.services.errors import UseCaseError
from deployments.services.wizard_drafts import drop_draft, keep_draft
from deployments.views.people import person
from deployments.views.plan_page import titles

NEEDS_CHOICES = frozenset(
    {"model", "checkpoint", "drafter", "cluster", "engine"}
    | {"host", "prefill_host", "decode_host"}
)
"""Fields that are right or wrong by what the fleet and the catalog have; read when it goes on."""


@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep an address of the wizard; a script gets 204, a browser without scripts the wizard again.

    Values that cannot be read stay out: one of them may be a secret, which no plan may hold.
    """
    given = request.POST.get("query", "")
    form = WizardForm(QueryDict(given), WizardChoices())
    form.is_valid()
    left_out = (form.errors.keys() - NEEDS_CHOICES) | ONLY_ON.keys()
    unread: dict[str, str | list[str]] = dict.fromkeys(left_out, "")
    address = form.address(form.step, **unread)
    scripted = "application/json" in request.headers.get("Accept", "")
    try:
        draft = keep_draft(person(request), _model_of(form), address)
    except UseCaseError as error:
        if scripted:
            return HttpResponse(say_error(error), status=409, content_type="text/plain")
        messages.error(request, say_error(error))
        return redirect(f"{reverse('plan')}?{form.address(form.step)}")
    if scripted:
        return HttpResponse(status=204)
    messages.success(
        request,
        _("%(model)s is kept in your account; the overview leads back to it.")
        % {"model": draft.model},
    )
    return redirect(f"{reverse('plan')}?{address}")


@require_POST
def drop(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Drop one of the person's.

    Raises:
        Http404: it is not theirs.
    """
    draft = drop_draft(person(request), pk)
    if draft is None:
        raise Http404
    messages.success(
        request,
        _("What you had begun for %(model)s is dropped.") % {"model": draft.model},
    )
    return redirect("overview" if request.POST.get("back") == "overview" else "plan")


def _model_of(form: WizardForm) -> str:
    """The key of the chosen model, whether the catalog has it or not; empty where it is none."""
    try:
        return str(form.fields["model"].clean("".join(form.raw("model"))) or "")
    except ValidationError:
        return ""


def draft_lines(user: User) -> list[dict[str, Any]]:
    """What a page lists: the row, its address, the step where it was left, and a name if it has one."""
    lines = []
    for row in drafts_of(user):
        query = QueryDict(row.query)
        lines.append(
            {
                "row": row,
                "address": f"{reverse('plan')}?{row.query}",
                "step": titles()[WizardForm.step_of(query)],
                "name": query.get("name", ""),
                "hosts": query.getlist("host"),
            }
        )
    return lines
