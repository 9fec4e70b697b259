"""Figures with units; nothing known is "no data", never zero."""

from collections.abc import Callable

import pytest
from django.utils import translation

from deployments.templatetags import figures

NARROW = figures.SPACE


@pytest.mark.parametrize(
    "show",
    [
        figures.count,
        figures.figure,
        figures.parameters,
        figures.size,
        figures.percent,
        figures.signed,
        figures.duration,
        figures.offset,
        figures.tokens,
    ],
)
def test_unknown_is_no_data(show: Callable[[None], str]) -> None:
    """Zero and unknown are different things."""
    assert show(None) == "no data"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (figures.count(0), "0"),
        (figures.count(1_048_576), "1,048,576"),
        (figures.figure(2.865), "2.87"),
        (figures.figure(1), "1.00"),
        (figures.parameters(743_000_000_000), "743 B"),
        (figures.parameters(1_000_000_000_000), "1 T"),
        (figures.parameters(600_000_000), "0.6 B"),
        (figures.parameters(350_000_000), "350 M"),
        (figures.size(64 * 1024**3), "64 GiB"),
        (figures.size(16_000_000_000), "14.9 GiB"),
        (figures.size(0), "0 B"),
        (figures.size(1023), "1,023 B"),
        (figures.percent(0), "0 %"),
        (figures.percent(0.0052), "0.5 %"),
        (figures.percent(2 / 3), "67 %"),
        (figures.percent(1), "100 %"),
        (figures.signed(0.03), "+0.03"),
        (figures.signed(-0.31), "\u22120.31"),
        (figures.signed(0.001), "0.00"),
        (figures.signed(-0.001), "0.00"),
        (figures.offset(4), "+4 ms"),
        (figures.offset(-11), "\u221211 ms"),
        (figures.offset(0), "0 ms"),
        (figures.offset(4100), "+4.1 s"),
        (figures.tokens(1), "1 token"),
        (figures.tokens(40_960), "40,960 tokens"),
    ],
)
def test_figures_carry_their_unit_and_are_rounded(shown: str, expected: str) -> None:
    """Units stick to their number; half rounds up, as people do."""
    assert shown.replace(NARROW, " ") == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (41, "41 s"),
        (60, "1 min"),
        (250, "4 min 10 s"),
        (3600, "1 h"),
        (3605, "1 h"),
        (9600, "2 h 40 min"),
        (597_600, "6 d 22 h"),
    ],
)
def test_durations_show_their_two_largest_units(seconds: float, expected: str) -> None:
    """Whoever reads hours does not read seconds."""
    assert figures.duration(seconds).replace(NARROW, " ") == expected


def test_unknown_facts_are_not_no() -> None:
    """Nobody looked is a third answer."""
    assert [figures.known(value) for value in (True, False, None)] == [
        "yes",
        "no",
        "not known",
    ]


def test_methods_and_platforms_have_titles() -> None:
    """Unknown ones keep their own spelling."""
    assert figures.method_name("eagle3") == "EAGLE-3"
    assert figures.method_name("off") == "Off"
    assert figures.method_name("ouija") == "ouija"
    assert figures.platform_name("ascend-a3") == "Ascend Atlas A3"
    assert figures.platform_name("abacus") == "abacus"


def test_short_digests_are_twelve_digits() -> None:
    """The whole digest stands beside them to copy."""
    assert figures.short_digest("sha256:" + "ab" * 32) == "abababababab"


def test_figures_follow_the_language() -> None:
    """The language of the page decides how digits are grouped."""
    with translation.override("zh-hans"):
        assert figures.figure(2.5) == "2.50"
