"""The finder: whatever the person may see, by a word of its name or the beginning of a digest."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Case, Q, QuerySet, Value, When
from django.urls import reverse
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Deployment,
    Host,
    Release,
    TargetModel,
    User,
)
from deployments.selectors.search_places import Place, guide_places, pages

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

SHOWN = 6
LONGEST = 160
MOST_WORDS = 6
_DIGEST = re.compile(r"(?:sha256:)?(?P<hex>[0-9a-f]{6,64})")
_RELEASE = re.compile(r"(?P<name>\S+)\s+(?:\D+\s+)?#?(?P<number>\d{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that fits, with its address; ``note`` says where it belongs."""

    url: str
    text: str
    note: str = ""
    practice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Things of one kind; ``all_url`` leads to all of them where a table can show them."""

    title: "StrOrPromise"
    found: tuple[Found, ...]
    all_url: str = ""


def find(user: User, asked: str) -> tuple[Group, ...]:
    """What fits, best kind first, in at most seven queries; pages alone where nothing was asked."""
    words = asked.lower().split()[:MOST_WORDS]
    if not words:
        return (Group(title=_("Pages"), found=tuple(map(_place, pages()))),)
    groups = (
        Group(title=_("Digest"), found=tuple(_by_digest(user, words))),
        Group(
            title=_("Deployments"),
            found=tuple(_deployments(user, words)),
            all_url=_all("deployment-list", asked),
        ),
        Group(
            title=_("Hosts"),
            found=tuple(_hosts(user, words)),
            all_url=_all("host-list", asked),
        ),
        Group(
            title=_("Models"),
            found=tuple(_models(user, words)),
            all_url=_all("catalog", asked),
        ),
        Group(title=_("Releases"), found=tuple(_releases(user, asked))),
        Group(title=_("Clusters"), found=tuple(_clusters(user, words))),
        Group(title=_("Pages"), found=tuple(map(_place, _fitting(pages(), words)))),
        Group(title=_("Rules and guide"), found=tuple(_guide(words))),
    )
    return tuple(group for group in groups if group.found)


def _all(url_name: str, asked: str) -> str:
    return f"{reverse(url_name)}?{urlencode({'q': asked})}"


def _place(place: Place) -> Found:
    return Found(url=place.url, text=place.text, note=place.note)


def _fitting(places: Iterable[Place], words: Sequence[str]) -> list[Place]:
    """Places that every word fits, those that begin with the first on top."""
    fitting = [place for place in places if all(place.fits(word) for word in words)]
    fitting.sort(key=lambda place: not place.text.lower().startswith(words[0]))
    return fitting[:SHOWN]


def _guide(words: Sequence[str]) -> Iterator[Found]:
    for place in _fitting(guide_places(get_language() or "en"), words):
        yield _place(place)


def _named(
    rows: QuerySet[Any], words: Sequence[str], *paths: str, name: str = "name"
) -> QuerySet[Any]:
    """Rows in which every word fits one of the paths, those that begin with the first on top."""
    for word in words:
        fits = Q()
        for path in paths:
            fits |= Q(**{f"{path}__icontains": word})
        rows = rows.filter(fits)
    begins = When(**{f"{name}__istartswith": words[0]}, then=Value(0))
    return rows.order_by(Case(begins, default=Value(1)), name)[:SHOWN]


def _deployments(user: User, words: Sequence[str]) -> Iterator[Found]:
    rows = _named(
        Deployment.objects.for_user(user), words, "name", "cluster__name"
    ).values_list("pk", "name", "cluster__name")
    for pk, name, cluster in rows:
        yield Found(url=reverse("deployment", args=[pk]), text=name, note=cluster)


def _hosts(user: User, words: Sequence[str]) -> Iterator[Found]:
    rows = _named(
        Host.objects.for_user_or_guest(user), words, "name", "cluster__name", "address"
    ).values_list("pk", "name", "cluster__name")
    for pk, name, cluster in rows:
        yield Found(url=reverse("host", args=[pk]), text=name, note=cluster)


def _models(user: User, words: Sequence[str]) -> Iterator[Found]:
    rows = _named(
        TargetModel.objects.for_user(user), words, "name", "key", "family"
    ).values_list("pk", "name", "key")
    for pk, name, key in rows:
        yield Found(url=reverse("catalog-model", args=[pk]), text=name, note=key)


def _clusters(user: User, words: Sequence[str]) -> Iterator[Found]:
    rows = _named(Cluster.objects.for_user_or_guest(user), words, "name").values_list(
        "pk", "name", "team__name"
    )
    for pk, name, team in rows:
        yield Found(url=reverse("cluster", args=[pk]), text=name, note=team)


def _releases(user: User, asked: str) -> Iterator[Found]:
    """By deployment and number: ``chat 3``, ``chat release 3``."""
    named = _RELEASE.fullmatch(asked.strip())
    if named is None:
        return
    rows = Release.objects.for_user(user).filter(
        deployment__name__icontains=named["name"], number=int(named["number"])
    )
    for row in _release_values(rows):
        yield _release(*row)


def _by_digest(user: User, words: Sequence[str]) -> Iterator[Found]:
    """Plans whose digest begins so: their releases, else their requests."""
    digest = _DIGEST.fullmatch(words[0]) if len(words) == 1 else None
    if digest is None:
        return
    begin = f"sha256:{digest['hex']}"
    requests = (
        ApprovalRequest.objects.for_user(user)
        .filter(digest__startswith=begin)
        .order_by("-created_at")
        .values_list(
            "pk",
            "digest",
            "plan__revision__deployment__name",
            "plan__revision__number",
            "plan__practice",
        )[:SHOWN]
    )
    for pk, whole, name, revision, practice in requests:
        yield Found(
            url=reverse("approval", args=[pk]),
            text=gettext("Request of %(name)s r%(revision)s")
            % {"name": name, "revision": revision},
            note=whole[:19],
            practice=practice,
        )
    releases = Release.objects.for_user(user).filter(plan__digest__startswith=begin)
    for row in _release_values(releases):
        yield _release(*row)


def _release_values(
    rows: QuerySet[Release],
) -> QuerySet[Release, tuple[uuid.UUID, int, str, str, bool]]:
    return rows.order_by("-created_at").values_list(
        "pk",
        "number",
        "deployment__name",
        "deployment__cluster__name",
        "plan__practice",
    )[:SHOWN]


def _release(
    pk: uuid.UUID,
    number: int,
    name: str,
    cluster: str,
    practice: bool,  # noqa: FBT001
) -> Found:
    return Found(
        url=reverse("release", args=[pk]),
        text=gettext("%(name)s release %(number)s") % {"name": name, "number": number},
        note=cluster,
        practice=practice,
    )
