"""Figures, times and plurals in the language and the zone of whoever reads them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone, translation

from deployments.planning.text import text
from deployments.selectors.texts import say
from deployments.templatetags import figures, moments

NOON = datetime(2026, 11, 27, 12, 0, 5, tzinfo=UTC)


@pytest.fixture
def chinese() -> Iterator[None]:
    """Read as somebody does who chose Chinese and lives in Shanghai."""
    with translation.override("zh-hans"), timezone.override(ZoneInfo("Asia/Shanghai")):
        yield


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (lambda: figures.count(1234567), "1,234,567"),
        (lambda: figures.figure(3.14159), "3.14"),
        (lambda: figures.percent(0.784), "78%"),
        (lambda: figures.percent(0.004), "0.4%"),
        (lambda: figures.percent(None), "无数据"),
        (lambda: figures.signed(-0.5, 1), "\u22120.5"),
        (lambda: figures.duration(2 * 3600 + 40 * 60), "2\u00a0小时 40\u00a0分钟"),
        (lambda: figures.duration(0), "0\u00a0秒"),
        (lambda: figures.tokens(1), "1 个 token"),
        (lambda: figures.tokens(12000), "12,000 个 token"),
        (lambda: figures.known(None), "未知"),
        (lambda: figures.method_name("off"), "关闭"),
    ],
)
def test_figures_are_written_as_in_china(said: object, expected: str) -> None:
    """Digits stand in threes, and the per cent sign without a space."""
    assert callable(said)
    assert said() == expected


@pytest.mark.usefixtures("chinese")
def test_times_are_relative_and_exact_in_the_reader_s_zone() -> None:
    """Shanghai is eight hours ahead of UTC all year."""
    assert moments.relative(NOON, NOON + timedelta(hours=2)) == "2\u00a0小时前"
    assert moments.relative(NOON, NOON - timedelta(minutes=3)) == "3\u00a0分钟后"
    assert moments.relative(NOON, NOON + timedelta(days=90)) == "2026年11月27日"
    assert moments.exact(NOON) == "2026-11-27 20:00:05 CST"
    shown = Template('{{ at|date:"SHORT_DATETIME_FORMAT" }}').render(
        Context({"at": NOON})
    )
    assert shown == "11月27日 20:00"


def test_times_of_a_range_name_the_month_in_english() -> None:
    """Numbers alone would be read in two ways."""
    with translation.override("en"):
        page = Template('{{ at|date:"SHORT_DATETIME_FORMAT" }}')
        assert page.render(Context({"at": NOON})) == "27 Nov 12:00"
        assert figures.percent(0.784) == "78\u00a0%"


@pytest.mark.usefixtures("chinese")
def test_texts_of_the_core_are_said_with_their_values() -> None:
    """Also a text within a text; what is nobody's sentence stays as it is."""
    inner = text("the host ran out of memory and its kernel killed the container")
    outer = text("Starting {what}: {cause}", what="chat-0", cause=inner)
    assert say(outer) == "启动 chat-0：主机内存不足，内核杀掉了容器"  # noqa: RUF001
    assert say("unrecognized arguments") == "unrecognized arguments"
