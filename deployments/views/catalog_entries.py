"""A team's own entries of the catalog: edited as YAML, removed, taken out and brought in as files."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from deployments.forms.catalog.edit import EntriesFileForm, EntryTextForm
from deployments.models import TargetModel, Team, TeamRole
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.entry import documents_of
from deployments.planning.spec_text import written_spec
from deployments.selectors.access import has_role, teams_with_role
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.texts import say_error
from deployments.services.catalog_entries import (
    change_entry,
    import_documents,
    remove_entry,
)
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Show an entry of a team as YAML, and keep the edited one."""
    row = _own(request, pk)
    if request.method != "POST":
        form = EntryTextForm(initial={"text": _text(row)}, label_suffix="")
        return _edit_page(request, row, form)
    refuse_without_role(request, _team(row))
    form = EntryTextForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _edit_page(request, row, form, status=422)
    try:
        change_entry(person(request), row, form.document)
    except (UseCaseError, PlanningError) as error:
        form.add_error("text", say_error(error))
        return _edit_page(request, row, form, status=refusal_status(error))
    messages.success(request, _("The entry is changed; new plans follow it."))
    return redirect("catalog-model", pk=row.pk)


@require_POST
def remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Take an entry of a team out of the catalog."""
    row = _own(request, pk)
    refuse_without_role(request, _team(row))
    remove_entry(person(request), row)
    messages.success(request, _("%(model)s is removed.") % {"model": row.name})
    return redirect("catalog")


@require_safe
def file(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One entry as YAML, shipped ones too."""
    row = get_object_or_404(TargetModel.objects.for_user(request.user), pk=pk)
    name = row.key.rsplit("/", maxsplit=1)[-1]
    return _yaml(f"{name}.yaml", _text(row))


@require_safe
def all_own(request: HttpRequest) -> HttpResponse:
    """Every entry of the person's teams as one YAML file."""
    rows = TargetModel.objects.for_user(request.user).exclude(team=None)
    entries = tuple(catalog_entry(row) for row in rows.order_by("key", "pk"))
    return _yaml("catalog.yaml", written_spec(documents_of(entries)))


@require_http_methods(["GET", "HEAD", "POST"])
def bring_in(request: HttpRequest) -> HttpResponse:
    """Bring in entries from a file that the export wrote."""
    teams = teams_with_role(person(request), TeamRole.OPERATOR)
    if request.method != "POST":
        form = EntriesFileForm(None, None, teams)
        return render(request, "catalog/entries.html", {"form": form})
    form = EntriesFileForm(request.POST, request.FILES, teams)
    status = 422
    if form.is_valid():
        team = form.teams[form.cleaned_data["team"]]
        try:
            rows = import_documents(person(request), team, form.document)
        except (UseCaseError, PlanningError) as error:
            form.add_error("file", say_error(error))
            status = refusal_status(error)
        else:
            count = len(rows)
            said = ngettext("%d entry is in.", "%d entries are in.", count) % count
            messages.success(request, said)
            return redirect("catalog")
    return render(request, "catalog/entries.html", {"form": form}, status=status)


def _own(request: HttpRequest, pk: uuid.UUID) -> TargetModel:
    rows = TargetModel.objects.for_user(request.user).exclude(team=None)
    return get_object_or_404(rows.select_related("team"), pk=pk)


def _team(row: TargetModel) -> Team:
    if row.team is None:
        raise TypeError("a shipped entry has no team")
    return row.team


def _text(row: TargetModel) -> str:
    (document,) = documents_of((catalog_entry(row),))
    return written_spec(document)


def _yaml(name: str, text: str) -> HttpResponse:
    answer = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _edit_page(
    request: HttpRequest, row: TargetModel, form: EntryTextForm, *, status: int = 200
) -> HttpResponse:
    may = has_role(person(request), _team(row), TeamRole.OPERATOR)
    context = {"model": row, "form": form, "may_change": may}
    return render(request, "catalog/edit.html", context, status=status)
