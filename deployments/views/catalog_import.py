"""Import a model: its files are read, what they leave open is asked, and a team keeps the entry."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.catalog.entry import DrafterForm, EntryForm, TargetForm
from deployments.forms.catalog.upload import ModelFilesForm
from deployments.models import TargetModel, TeamRole, User
from deployments.planning.documents import from_document, to_document
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.model_config.reading import ModelReading
from deployments.selectors.access import teams_with_role
from deployments.selectors.model_directories import readable_directory
from deployments.selectors.model_import import Candidate, candidates
from deployments.selectors.texts import say_error
from deployments.services.catalog_entries import import_drafter, import_target
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.catalog_facts import read_facts
from deployments.views.people import person

SALT = "draftboard.model-reading"
LONGEST_STAY_S = 24 * 3600
NOT_NAMED: Mapping[str, object] = {}
"""Files that somebody gave say neither what they are called nor where they lie."""


@require_http_methods(["GET", "HEAD", "POST"])
def catalog_import(request: HttpRequest) -> HttpResponse:
    """Read files, show what they say, and keep the entry; nothing is stored before."""
    if request.method != "POST":
        if "directory" in request.GET:
            return _from_host(request, request.GET["directory"])
        return _page(request, files=ModelFilesForm(label_suffix=""))
    if "reading" not in request.POST:
        return _read(request)
    try:
        document = signing.loads(
            request.POST["reading"], salt=SALT, max_age=LONGEST_STAY_S
        )
        reading = from_document(ModelReading, document)
    except (signing.BadSignature, PlanningError):
        problem = _("What was read is too old or was changed; give the files again.")
        files = ModelFilesForm(label_suffix="")
        return _page(request, files=files, problem=problem, status=422)
    return _keep(request, reading)


def _from_host(request: HttpRequest, key: str) -> HttpResponse:
    """What a worker read in a directory of a host."""
    row = readable_directory(person(request), key)
    try:
        reading = from_document(ModelReading, row.reading if row else None)
    except PlanningError:
        problem = _(
            "That directory is no longer listed, or its config.json says nothing. Read the host again."
        )
        files = ModelFilesForm(label_suffix="")
        return _page(request, files=files, problem=problem, status=404)
    draft = not reading.target
    return _entry_page(request, reading, draft=draft, named=_named(request))


def _named(request: HttpRequest) -> Mapping[str, object]:
    """What the directory of a host says besides its files, where the address names one."""
    row = readable_directory(person(request), request.GET.get("directory", ""))
    if row is None:
        return NOT_NAMED
    name = PurePosixPath(row.path).name
    return {
        "team": str(row.host.cluster.team_id),
        "key": name,
        "directory": name,
        "platforms": [row.host.platform],
    }


def _read(request: HttpRequest) -> HttpResponse:
    files = ModelFilesForm(request.POST, request.FILES, label_suffix="")
    if not files.is_valid():
        return _page(request, files=files, status=422)
    return _entry_page(request, files.reading, draft=not files.reading.target)


def _keep(request: HttpRequest, reading: ModelReading) -> HttpResponse:
    draft = not reading.target or request.POST.get("use") == "draft"
    if "switch" in request.POST:
        return _entry_page(request, reading, draft=draft, named=_named(request))
    user = person(request)
    form, offered = _form(user, reading, request.POST, draft=draft)
    if not form.is_valid():
        return _entry_page(request, reading, draft=draft, form=form, status=422)
    try:
        row = _stored(user, reading, form, offered)
    except (UseCaseError, PlanningError) as error:
        return _entry_page(
            request,
            reading,
            draft=draft,
            form=form,
            problem=say_error(error),
            status=refusal_status(error),
        )
    messages.success(
        request, _("%(model)s is in your team's catalog.") % {"model": row.name}
    )
    return redirect("catalog-model", pk=row.pk)


def _stored(
    user: User, reading: ModelReading, form: EntryForm, offered: list[Candidate]
) -> TargetModel:
    if isinstance(form, TargetForm):
        return import_target(user, form.chosen_team, form.answered, form.naming)
    if not isinstance(form, DrafterForm):
        raise TypeError(type(form).__name__)
    key = form.cleaned_data["target"]
    target = next(one.row for one in offered if str(one.row.pk) == key)
    return import_drafter(user, form.chosen_team, reading, target, form.drafter)


def _form(
    user: User,
    reading: ModelReading,
    data: QueryDict | None,
    *,
    draft: bool,
    named: Mapping[str, object] = NOT_NAMED,
) -> tuple[EntryForm, list[Candidate]]:
    teams = teams_with_role(user, TeamRole.OPERATOR)
    if not draft:
        return TargetForm(data, reading, teams, initial=dict(named)), []
    method = reading.method or Method.DRAFT_MODEL
    asked = data.get("method") if data is not None else None
    if isinstance(asked, str) and asked in set(Method):
        method = Method(asked)
    found = candidates(user, reading, method)
    offered = [one for one in found if one.fit.good is not False]
    form = DrafterForm(
        data,
        reading,
        teams,
        targets=[
            ("", _("Choose one")),
            *((str(one.row.pk), _option(one)) for one in offered),
        ],
        initial={
            **named,
            "target": _trained_for(reading, offered),
            "method": method.value,
            "num_speculative_tokens": reading.num_speculative_tokens,
        },
    )
    return form, found


def _trained_for(reading: ModelReading, offered: list[Candidate]) -> str:
    """The model that the drafter's own file names, where the catalog has it."""
    named = [one.row for one in offered if one.row.key == reading.verifier]
    return str(named[0].pk) if named else ""


def _option(one: Candidate) -> str:
    name = str(one.row.key)
    if one.row.team is not None:
        name = f"{name} ({one.row.team.name})"
    if one.fit.good:
        return _("%(model)s: fits") % {"model": name}
    return _("%(model)s: not known whether it fits") % {"model": name}


def _entry_page(
    request: HttpRequest,
    reading: ModelReading,
    *,
    draft: bool,
    named: Mapping[str, object] = NOT_NAMED,
    **again: Any,  # noqa: ANN401 - context of a template
) -> HttpResponse:
    """The page of what was read; ``again`` holds the refused form, its problem and status."""
    fresh, found = _form(person(request), reading, None, draft=draft, named=named)
    return _page(
        request,
        **{
            "form": fresh,
            "reading": reading,
            "carried": signing.dumps(to_document(reading), salt=SALT, compress=True),
            "facts": read_facts(reading),
            "draft": draft,
            "found": [one for one in found if one.fit.good],
            "refused": sum(one.fit.good is False for one in found),
            **again,
        },
    )


def _page(request: HttpRequest, **context: Any) -> HttpResponse:  # noqa: ANN401 - context
    status = context.pop("status", 200)
    teams = teams_with_role(person(request), TeamRole.OPERATOR)
    context["may_keep"] = bool(teams)
    return render(request, "catalog/import.html", context, status=status)
