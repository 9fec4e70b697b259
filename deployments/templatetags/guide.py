"""What chapters of the guide are written with, and the links that lead to them."""

import re
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from deployments.selectors.guide import FIELDS, FieldHelp, place_of
from deployments.selectors.guide_commands import COMMANDS

register = template.Library()

REPOSITORIES = {
    "vllm": "vllm-project/vllm",
    "vllm-ascend": "vllm-project/vllm-ascend",
    "speculators": "vllm-project/speculators",
    "sglang": "sgl-project/sglang",
}
_ISSUE = re.compile(r"(?P<name>[a-z-]+)#(?P<number>\d+)")
_PAPER = re.compile(r"arXiv (?P<number>\d{4}\.\d{5})\b.*")


def _address(reference: str) -> str:
    issue = _ISSUE.fullmatch(reference)
    if issue and issue["name"] in REPOSITORIES:
        return (
            f"https://github.com/{REPOSITORIES[issue['name']]}/issues/{issue['number']}"
        )
    paper = _PAPER.fullmatch(reference)
    return f"https://arxiv.org/abs/{paper['number']}" if paper else ""


@register.simple_tag
def cite(reference: str) -> SafeString:
    """A source: ``vllm#25993`` and ``arXiv 2503.01840`` are links, anything else is text."""
    address = _address(reference)
    if not address:
        return format_html("<cite>{}</cite>", reference)
    return format_html(
        '<cite><a href="{}" rel="noreferrer">{}</a></cite>', address, reference
    )


@register.inclusion_tag("components/code.html")
def command(key: str, name: str, note: str = "") -> dict[str, Any]:
    """A command or a log line by its key, with a button to copy it.

    Raises:
        KeyError: there is none of that key.
    """
    return {"text": COMMANDS[key], "name": name, "note": note, "wrap": True}


@register.filter
def why(code: str, category: str = "") -> str:
    """The address of what the guide says about a code, else about its category; empty for none."""
    place = place_of(code, category)
    if place is None:
        return ""
    return f"{reverse('guide-chapter', args=[place.chapter])}#{place.anchor}"


@register.filter
def field_help(name: str) -> FieldHelp | None:
    """Who says so, and where the guide says more, for a field of the wizard."""
    return FIELDS.get(name.removeprefix("combined_"))


@register.filter
def guide_address(help_of_field: FieldHelp) -> str:
    """The address of the section that explains a field."""
    place = help_of_field.place
    return f"{reverse('guide-chapter', args=[place.chapter])}#{place.anchor}"
