"""What a notice says: one line of intent, who, and the link, in the language of whoever is told."""

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from deployments.models import Notice, NoticeChannel, NoticeKind
from deployments.planning.canonical import Json
from deployments.selectors.texts import say


def language_of(channel: NoticeChannel) -> str:
    """The person's language, or the team's for its channels; English where neither is chosen."""
    if channel.user is not None:
        return channel.user.language or settings.LANGUAGE_CODE
    return (channel.team.notice_language if channel.team else "") or "en"


def link_of(notice: Notice) -> str:
    """The address of the page; empty where this panel was not told its own address."""
    if not settings.PANEL_URL or not notice.place:
        return ""
    args = [notice.place_id] if notice.place_id else []
    return settings.PANEL_URL.rstrip("/") + reverse(notice.place, args=args)


def title_and_body(notice: Notice, language: str) -> tuple[str, str]:
    """A title of a few words, and a body of at most three lines."""
    with translation.override(language):
        said = say(notice.said)
        kind = NoticeKind(notice.kind).label
        name = str(notice.facts.get("deployment", ""))
        title = f"{kind}: {name}" if name else str(kind)
        lines = [said]
        if notice.actor_name:
            lines.append(_("By %(name)s") % {"name": notice.actor_name})
        link = link_of(notice)
        if link:
            lines.append(link)
        return title, "\n".join(lines)


def document_of(notice: Notice, delivery: str, language: str) -> dict[str, Json]:
    """The body of a webhook; ``docs/notifications.md`` describes it."""
    with translation.override(language):
        said = say(notice.said)
    return {
        "version": 1,
        "delivery": delivery,
        "event": notice.kind,
        "at": notice.created_at.isoformat(),
        "said": said,
        "by": notice.actor_name or None,
        "team": notice.team.name if notice.team else None,
        "link": link_of(notice) or None,
        "facts": notice.facts,
    }
