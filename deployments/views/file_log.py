"""The log file of a deployment: where its engines write to, and how far each was read."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from deployments.forms.file_log import FileLogForm
from deployments.selectors.deployments import deployment_page
from deployments.selectors.file_logs import file_log_of
from deployments.services.errors import NotAllowedError
from deployments.services.file_log_setting import set_file_log
from deployments.views.deployments import find, head
from deployments.views.people import person


@require_http_methods(["GET", "HEAD", "POST"])
def file_log(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show the file that was named, or name another or none."""
    row = find(request, pk)
    form = FileLogForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                set_file_log(person(request), row, form.cleaned_data["path"])
            except NotAllowedError as error:
                form.add_error(None, str(error))
                status = 403
            else:
                return redirect("deployment-log-file", pk=pk)
    state = file_log_of(row)
    if not form.is_bound:
        form = FileLogForm(initial={"path": state.path})
    context = {
        **head(deployment_page(person(request), row), "logs"),
        "state": state,
        "form": form,
    }
    return render(request, "logs/file.html", context, status=status)
