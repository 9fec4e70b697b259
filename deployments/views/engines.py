"""Engine profiles: what each engine version accepts, and what changes between two of them."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from deployments.models import OwnEngineProfile
from deployments.planning.engines.changes import NameChanges, profile_changes
from deployments.planning.engines.profile import EngineProfile, shipped_profiles
from deployments.planning.errors import PlanningError
from deployments.selectors.engine_profiles import known_profile
from deployments.selectors.texts import say_error

ENGINES_SHOWN = ("vllm", "vllm-ascend")
COMMANDS = """manage.py profile_engine --wheel vllm-0.32.0.whl --keep acme
manage.py profile_engine --image registry.example/vllm:patched --host gpu-1 --keep acme"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup:
    """Names of one kind that differ."""

    title: str
    names: NameChanges


@require_safe
def engines(request: HttpRequest) -> HttpResponse:
    """List the profiles, and compare the two that the address names."""
    own = list(OwnEngineProfile.objects.defer("document"))
    shipped = shipped_profiles()
    newest = {engine: _of(engine) for engine in ENGINES_SHOWN}
    before = request.GET.get("from", newest["vllm"][1].name)
    after = request.GET.get("to", newest["vllm"][0].name)
    context = {
        "own": own,
        "groups": [(engine, newest[engine]) for engine in ENGINES_SHOWN],
        "names": [row.name for row in own] + [one.name for one in reversed(shipped)],
        "commands": COMMANDS,
        "before": before,
        "after": after,
    }
    try:
        old, new = known_profile(before), known_profile(after)
    except PlanningError as error:
        context["problem"] = say_error(error)
        return render(request, "catalog/engines.html", context, status=422)
    changes = profile_changes(old, new)
    context["changes"] = changes
    context["compared"] = [
        ChangeGroup(title=_("Flags"), names=changes.flags),
        ChangeGroup(title=_("Keys of the speculative config"), names=changes.keys),
        ChangeGroup(title=_("Methods"), names=changes.methods),
        ChangeGroup(title=_("Metrics"), names=changes.metrics),
    ]
    return render(request, "catalog/engines.html", context)


def _of(engine: str) -> list[EngineProfile]:
    return [one for one in reversed(shipped_profiles()) if one.engine == engine]
