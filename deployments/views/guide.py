"""The guide: the list of its chapters, and one of them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from deployments.selectors.guide import SLUGS, chapters
from deployments.selectors.guide_contents import corrections, headings


@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    """Every chapter with its summary, and everything that the guide corrects."""
    listed = chapters()
    context = {
        "chapters": listed,
        "introduction": f"guide/{listed[0].folder}/introduction.html",
        "corrections": corrections(get_language() or "en"),
    }
    return render(request, "guide/guide.html", context)


@require_safe
def guide_chapter(request: HttpRequest, slug: str) -> HttpResponse:
    """One chapter in the language of the page.

    Raises:
        Http404: there is no such chapter.
    """
    if slug not in SLUGS:
        raise Http404
    listed = chapters()
    place = SLUGS.index(slug)
    body = render_to_string(listed[place].body)
    context = {
        "chapter": listed[place],
        "chapters": listed,
        "body": body,
        "headings": headings(body),
        "earlier": listed[place - 1] if place else None,
        "later": listed[place + 1] if place + 1 < len(listed) else None,
    }
    return render(request, "guide/chapter.html", context)
