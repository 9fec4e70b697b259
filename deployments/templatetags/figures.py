"""Figures as people read them: each with its unit, and "no data" where nothing is known."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from django import template
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, ngettext

from deployments.models import Platform, TeamRole
from deployments.planning.methods import FACTS, Method
from deployments.planning.sizing.counting import parameter_count
from deployments.selectors.texts import say

register = template.Library()

Number = float | Decimal
SPACE = "\u00a0"
MINUS = "\u2212"
BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
DIGEST_LENGTH = 12


def no_data() -> str:
    """What stands where a figure is unknown."""
    return gettext("no data")


def _figure(value: Number, decimals: int = 0) -> str:
    """Round half up to a fixed number of decimals; Django alone would cut them off."""
    return _written(get_language(), value, decimals)


@lru_cache(maxsize=8192)
def _written(language: str | None, value: Number, decimals: int) -> str:
    """Lists show the same small numbers again and again."""
    del language
    step = Decimal(1).scaleb(-decimals)
    rounded = Decimal(str(value)).quantize(step, rounding=ROUND_HALF_UP)
    text = number_format(abs(rounded), decimals, use_l10n=True, force_grouping=True)
    return f"{MINUS}{text}" if rounded < 0 else text


@register.filter
def count(value: Number | None) -> str:
    """A whole number with grouped digits."""
    return no_data() if value is None else _figure(value)


@register.filter
def figure(value: Number | None, decimals: int = 2) -> str:
    """A decimal number with a fixed number of decimals, such as a mean acceptance length."""
    return no_data() if value is None else _figure(value, decimals)


@register.filter
def parameters(value: int | None) -> str:
    """A parameter count: 753 B, 0.6 B, 350 M."""
    return no_data() if value is None else parameter_count(value)


@register.filter
def size(value: int | None) -> str:
    """Bytes in binary units: 64 GiB, 14.2 GiB."""
    if value is None:
        return no_data()
    scaled, unit = float(value), BINARY_UNITS[0]
    for unit in BINARY_UNITS:
        if scaled < 1024 or unit == BINARY_UNITS[-1]:
            break
        scaled /= 1024
    whole = unit == "B" or scaled >= 100 or scaled == int(scaled)
    return f"{_figure(scaled, 0 if whole else 1)}{SPACE}{unit}"


@register.filter
def shares(values: Sequence[float] | None) -> str:
    """Fractions side by side as whole per cent: 73 / 52 / 35 %."""
    if values is None:
        return no_data()
    return f"{' / '.join(_figure(100 * value) for value in values)}{SPACE}%"


@register.filter
def percent(value: float | None) -> str:
    """A fraction from 0 to 1 as per cent; one decimal below one per cent."""
    if value is None:
        return no_data()
    share = value * 100
    said = gettext("%(number)s\u00a0%%")
    return said % {"number": _figure(share, 1 if 0 < share < 1 else 0)}


@register.filter
def signed(value: float | None, decimals: int = 2) -> str:
    """A difference with its sign."""
    if value is None:
        return no_data()
    text = _figure(value, decimals)
    return (
        f"+{text}" if value > 0 and any(sign in "123456789" for sign in text) else text
    )


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds as the two largest units: 41 s, 4 min 10 s, 2 h 40 min, 6 d 22 h."""
    if seconds is None:
        return no_data()
    left = max(0, round(seconds))
    parts: list[str] = []
    units = ((86400, gettext("d")), (3600, gettext("h")), (60, gettext("min")))
    for length, unit in (*units, (1, gettext("s"))):
        amount, left = divmod(left, length)
        if amount or (parts and len(parts) < 2):
            parts.append(f"{amount}{SPACE}{unit}" if amount else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part) or f"0{SPACE}{gettext('s')}"


@register.filter
def offset(milliseconds: int | None) -> str:
    """A clock offset with its sign: +4 ms, +4.1 s."""
    if milliseconds is None:
        return no_data()
    if abs(milliseconds) < 1000:
        return f"{signed(milliseconds, 0)}{SPACE}ms"
    return f"{signed(milliseconds / 1000, 1)}{SPACE}s"


@register.filter
def tokens(value: int | None) -> str:
    """A number of tokens with its word."""
    if value is None:
        return no_data()
    text = ngettext("%(count)s token", "%(count)s tokens", value)
    return text % {"count": _figure(value)}


@register.filter
def known(value: bool | None) -> str:  # noqa: FBT001
    """Yes, no, or that nobody knows."""
    if value is None:
        return gettext("not known")
    return gettext("yes") if value else gettext("no")


@register.filter
def short_digest(digest: str) -> str:
    """The first twelve hexadecimal digits of ``sha256:...``; the whole stands beside it to copy."""
    return digest.removeprefix("sha256:")[:DIGEST_LENGTH]


@register.filter
def method_name(method: str) -> str:
    """The title of a speculative method; "Off" where there is none."""
    if method in {"", "off", "none"}:
        return gettext("Off")
    known_methods = {member.value for member in Method}
    return say(FACTS[Method(method)].title) if method in known_methods else method


@register.filter
def platform_name(platform: str) -> str:
    """The title of a hardware family."""
    return Platform(platform).label if platform in Platform.values else platform


@register.filter
def team_role(role: str) -> str:
    """What a role in a team is called."""
    return str(TeamRole(role).label) if role in TeamRole.values else role
