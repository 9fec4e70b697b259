"""Write about a request: questions to its author, answers to who decides."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deployments.forms.approvals import CommentForm
from deployments.selectors.approvals import requests_for
from deployments.selectors.texts import say_error
from deployments.services.comments import comment_on
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import person


@require_POST
def comment(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep what was written and go back to it."""
    row = get_object_or_404(requests_for(person(request)), pk=pk)
    form = CommentForm(request.POST)
    words = form.cleaned_data["text"] if form.is_valid() else ""
    try:
        comment_on(person(request), row, words)
    except UseCaseError as error:
        context = {"row": row, "error": say_error(error)}
        status = refusal_status(error)
        return render(request, "approvals/comment_refused.html", context, status=status)
    messages.success(request, _("Everybody who sees this request can read it."))
    return redirect("approval", pk=pk)
