"""The steps of an acceptance history as rows of a table, written at once: there are hundreds.

A step that is over stays as it is, so its row is kept for everybody who reads it in the same language
and time zone.
"""

from datetime import tzinfo
from functools import lru_cache

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import get_language, gettext

from deployments.selectors.acceptance import History, State, Step
from deployments.templatetags.figures import count, figure, percent, shares

register = template.Library()

ROW = '<tr><th scope="row" class="num"><time datetime="{}">{}</time></th>{}</tr>'
FIGURE = '<td class="fig">{}</td>'
MOST_ROWS = 8192
"""Half a kilobyte each."""


@register.simple_tag
def bucket_rows(history: History) -> SafeString:
    """A row for each step, newest first: its counts, or why there are none."""
    language, zone = get_language(), get_current_timezone()
    columns = 6 if history.most_positions > 1 else 5
    rows = (_row(language, zone, step, columns) for step in history.rows)
    return format_html_join("", "{}", ((row,) for row in rows))


@lru_cache(maxsize=MOST_ROWS)
def _row(language: str | None, zone: tzinfo, step: Step, columns: int) -> SafeString:
    del language
    start = localtime(step.start, zone)
    shown = date_format(start, "SHORT_DATETIME_FORMAT")
    return format_html(ROW, start.isoformat(), shown, _cells(step, columns))


def _cells(step: Step, columns: int) -> SafeString:
    counts = step.counts
    if not counts:
        said = {
            State.NO_TRAFFIC: gettext("no traffic"),
            State.NOT_SEEN: gettext("not seen"),
        }
        absent = said.get(step.state, gettext("not running"))
        return format_html(
            '<td class="fig quiet" colspan="{}">{}</td>', columns, absent
        )
    figures = (
        count(counts.accepted),
        count(counts.drafted),
        count(counts.num_drafts),
        percent(counts.acceptance_rate),
        figure(counts.mean_acceptance_length),
        shares(counts.per_position_rates),
    )
    return format_html_join("", FIGURE, ((one,) for one in figures[:columns]))
