"""Deployments: the list, and the configuration and releases of one of them."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.releases import new_key
from deployments.forms.wizard.spec import address_of_spec
from deployments.models import (
    Alarm,
    Deployment,
    DeploymentEnvironment,
    TableKey,
    TeamRole,
)
from deployments.planning.canary import with_speculation
from deployments.planning.decision import OFF
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.launch.files import launch_files
from deployments.planning.revision import RevisionSpec, SpeculationChoice
from deployments.selectors.access import has_role
from deployments.selectors.alarms import alarms_of
from deployments.selectors.configuration import effective_settings
from deployments.selectors.deployments import (
    DeploymentPage,
    deployment_page,
    deployments_for,
    release_history,
    revision_history,
    shown_release,
)
from deployments.selectors.earlier_releases import repeatable_releases
from deployments.selectors.tables.deployments import DEPLOYMENTS
from deployments.services.errors import ConflictError
from deployments.services.proposing import changed_spec
from deployments.services.releases import stop_release
from deployments.telemetry.next_changes import Proposal
from deployments.views.people import PanelRequest, person
from deployments.views.tables import act_on_rows, show_table, stopped


@require_safe
def deployment_list(request: PanelRequest) -> HttpResponse:
    """Every deployment of the person's teams as a table."""
    return show_table(request, DEPLOYMENTS, "deployments/list.html")


@require_POST
def stop_selected(request: HttpRequest) -> HttpResponse:
    """Stop what runs of each selected deployment."""
    user = person(request)

    def stop(pk: uuid.UUID, key: str) -> None:
        row = deployments_for(user).filter(pk=pk).first()
        release = shown_release(row) if row else None
        if release is None:
            raise ConflictError(_("One of them is no longer there, or never ran."))
        stop_release(user, release, key)

    return act_on_rows(request, TableKey.DEPLOYMENTS, stop, stopped)


@require_safe
def configuration(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """What runs, setting by setting, and the files it was started from."""
    row = find(request, pk)
    page = deployment_page(person(request), row)
    files = [
        (path, text)
        for path, text in (launch_files(page.plan) if page.plan else ())
        if path != "plan.json"
    ]
    settings = effective_settings(page.plan) if page.plan else ()
    context = {
        **head(page, "configuration"),
        "settings": [one for one in settings if not one.setting.detail],
        "details": [one for one in settings if one.setting.detail],
        "files": files,
        "environments": DeploymentEnvironment.choices,
        "may_place": has_role(person(request), row.cluster.team, TeamRole.ADMIN),
    }
    return render(request, "deployments/configuration.html", context)


@require_safe
def releases(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Every release and every revision that was put to the vote."""
    row = find(request, pk)
    page = deployment_page(person(request), row)
    history = list(release_history(row))
    context = {
        **head(page, "releases"),
        "releases": history,
        "repeatable": repeatable_releases(page.shown, history)
        if page.may_operate
        else (),
        "requests": revision_history(row),
    }
    return render(request, "deployments/releases.html", context)


def find(request: HttpRequest, pk: uuid.UUID) -> Deployment:
    """The deployment, if it is of one of the person's teams."""
    return get_object_or_404(deployments_for(person(request)), pk=pk)


def head(
    page: DeploymentPage, tab: str, alarms: Sequence[Alarm] | None = None
) -> dict[str, Any]:
    """What every tab shows above itself; ``alarms`` where the tab has read them already."""
    alarms = alarms_of(page.row) if alarms is None else alarms
    names = {
        "acceptance": _("Acceptance"),
        "serving": _("Serving"),
        "logs": _("Logs"),
        "configuration": _("Configuration"),
        "releases": _("Releases"),
        "benchmarks": _("Benchmarks"),
    }
    return {
        "page": page,
        "alarms": [row for row in alarms if row.closed_at is None],
        "tabs": [
            (title, reverse(f"deployment-{key}", args=[page.row.pk]), key == tab)
            for key, title in names.items()
        ],
        "new_revision": wizard_address(page),
        "key": new_key(),
    }


def wizard_address(page: DeploymentPage, count: int | None = None) -> str:
    """The wizard with the shown revision in it, with another num_speculative_tokens if given.

    A count of 0 turns speculation off.
    """
    spec = _shown_spec(page)
    if spec is None:
        return ""
    if count == 0:
        spec = with_speculation(spec, SpeculationChoice(method=OFF))
    elif count is not None:
        method = page.shown.plan.method if page.shown else spec.speculation.method
        choice = replace(spec.speculation, method=method, num_speculative_tokens=count)
        spec = with_speculation(spec, choice)
    return _address(page, spec)


def prepared_address(page: DeploymentPage, proposal: Proposal) -> str:
    """The wizard with the shown revision and a proposed change in it."""
    spec = _shown_spec(page)
    if spec is None:
        return ""
    return _address(page, changed_spec(spec, proposal))


def _shown_spec(page: DeploymentPage) -> RevisionSpec | None:
    if page.revision is None:
        return None
    try:
        return from_document(RevisionSpec, page.revision.document)
    except PlanningError:
        return None


def _address(page: DeploymentPage, spec: RevisionSpec) -> str:
    return f"{reverse('plan')}?{address_of_spec(spec, page.row.cluster)}"
