"""The engine profiles that the panel knows: shipped ones, and those people made."""

from django.db import DatabaseError

from deployments.models import OwnEngineProfile
from deployments.planning.engines.profile import (
    EngineProfile,
    find_profile,
    is_own_reference,
    parse_engine_profile,
)


def own_engine_names(reference: str | None = None) -> tuple[str, ...]:
    """Names of the profiles that people made, in order; only that of ``reference`` where given.

    Nothing is read for a reference without a local part: it names a shipped profile.
    """
    if reference is not None and not is_own_reference(reference):
        return ()
    rows = OwnEngineProfile.objects.values_list("name", flat=True)
    return tuple(rows if reference is None else rows.filter(name=reference))


def own_profiles_for(reference: str | None) -> tuple[EngineProfile, ...]:
    """The profile that an engine reference with a local part names; nothing is read for others.

    Raises:
        PlanningError: the stored profile cannot be read by this version of the panel.
    """
    if reference is None or not is_own_reference(reference):
        return ()
    rows = OwnEngineProfile.objects.filter(name=reference.replace(" ", ""))
    return tuple(parse_engine_profile(row.document) for row in rows)


def own_profiles_if_any(reference: str | None) -> tuple[EngineProfile, ...]:
    """Like ``own_profiles_for``; none where there is no database yet. For the command line.

    Raises:
        PlanningError: the stored profile cannot be read by this version of the panel.
    """
    try:
        return own_profiles_for(reference)
    except DatabaseError:
        return ()


def known_profile(reference: str) -> EngineProfile:
    """A profile by name, shipped or own.

    Raises:
        PlanningError: there is none of that name.
    """
    return find_profile(reference, own_profiles_for(reference))
