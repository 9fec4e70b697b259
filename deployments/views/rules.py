"""The reference of rules: the list, and one rule with its examples."""

from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.forms.launch_link import link_query
from deployments.forms.rules import RuleFilter
from deployments.planning.plan import Finding
from deployments.planning.rules.launch.examples import Sample, example_of
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.rule import LaunchFinding
from deployments.planning.rules.plan_examples import PlanExample, plan_examples
from deployments.selectors.rules import known_models, rule_entries, rule_groups
from deployments.views.people import PanelRequest, person


@require_safe
def rule_list(request: PanelRequest) -> HttpResponse:
    """Every rule that fits, by subject; an htmx request gets the rules alone."""
    form = RuleFilter(request.GET)
    wished = form.wished()
    groups = rule_groups(
        tuple(wished["q"].lower().split()),
        wished["severity"],
        wished["category"],
        wished["kind"],
    )
    context = {
        "form": form,
        "asked": wished["q"],
        "groups": groups,
        "count": sum(len(group.rules) for group in groups),
        "total": len(rule_entries()),
    }
    name = "rules/list.html" + ("#found" if request.htmx else "")
    return render(request, name, context, status=422 if form.errors else 200)


@require_safe
def rule(request: PanelRequest, code: str) -> HttpResponse:
    """One rule: what it is about, why, how to mend it, an example and a near miss.

    Raises:
        Http404: no rule has that code.
    """
    entry = rule_entries().get(code)
    if entry is None:
        raise Http404
    example = example_of(code) if entry.launch else None
    planned = plan_examples().get(code) if entry.plan else None
    known = known_models(person(request)) if example or planned else KnownModels()
    context = {
        "rule": entry,
        "fires": _shown(example.fires, code, known) if example else None,
        "misses": _shown(example.misses, code, known) if example else None,
        "planned": planned,
        "plan_finding": _told(planned, known) if planned else None,
    }
    return render(request, "rules/rule.html", context)


def _told(example: PlanExample, known: KnownModels) -> Finding | None:
    """What the plan of an example is told, ``None`` where the person may not see its model."""
    found = example.fires.findings(known) or ()
    return next((one for one in found if one.code == example.code), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSample:
    """An input of an example with what the rule says about it; ``query`` opens it for checking."""

    content: str
    said: str
    finding: LaunchFinding | None
    query: str


def _shown(sample: Sample, code: str, known: KnownModels) -> ShownSample:
    settings = sample.settings
    found = sample.report(known).findings
    said = (settings.platform, settings.engine, settings.engine_version)
    return ShownSample(
        content=sample.content,
        said=" ".join(word for word in said if word),
        finding=next((one for one in found if one.code == code), None),
        query="" if sample.catalog else link_query(sample.content, settings),
    )
