"""The speed-up curve: to scale, honest about what nobody measured, and readable without eyes."""

from dataclasses import replace

from bs4 import BeautifulSoup, Tag
from django.template import Context, Template

from deployments.planning.speedup.benefit import CountBenefit
from deployments.selectors.speed_curves import (
    CurvePoint,
    SpeedCurve,
    break_even_text,
    count_lines,
)


def point(concurrency: int, speedup: float, spread: float | None = 0.2) -> CurvePoint:
    return CurvePoint(
        concurrency=concurrency,
        speedup=speedup,
        low=None if spread is None else speedup - spread,
        high=None if spread is None else speedup + spread,
        best_count=3,
    )


CURVE = SpeedCurve(
    count=3,
    asked=4,
    points=(point(1, 2.0), point(4, 1.5), point(16, 1.0), point(64, 0.8, None)),
    reach=16,
    break_even=16,
    break_even_low=8,
    break_even_high=32,
)


def drawn(curve: SpeedCurve) -> BeautifulSoup:
    text = Template("{% load curves %}{% speed_curve curve %}").render(
        Context({"curve": curve})
    )
    return BeautifulSoup(text, "lxml")


def one(page: BeautifulSoup, selector: str) -> Tag:
    found = page.select_one(selector)
    assert found is not None, selector
    return found


def test_concurrency_is_drawn_by_its_logarithm_and_speed_up_to_scale() -> None:
    """1, 4, 16 and 64 are evenly apart; 2.0 to 0.5 is the height of the drawing."""
    page = drawn(CURVE)

    line = one(page, ".series:not(.guess)")["d"]
    assert line == "M0.00 56.0L33.33 98.0L66.67 140.0"
    assert [tick.get_text() for tick in page.select("text")][-6:-1] == [
        "1",
        "4",
        "16",
        "64",
        "requests at once",
    ]


def test_what_nobody_measured_is_dashed_hatched_and_without_a_band() -> None:
    page = drawn(CURVE)

    assert str(one(page, ".series.guess")["d"]).startswith("M66.67 140.0L100.00")
    assert one(page, "rect.none")["x"] == "66.67%"
    assert str(one(page, "path.band")["d"]).count("L") == 5
    assert "above 16 nothing like it is measured" in page.get_text()


def test_break_even_is_a_range_on_the_line_of_plain_decoding() -> None:
    page = drawn(CURVE)

    need, base = one(page, ".need"), one(page, "line.base")
    assert (need["x1"], need["x2"]) == ("50.00%", "83.33%")
    assert need["y1"] == base["y1"]
    assert break_even_text(CURVE) == "8 to 32"


def test_break_even_that_never_comes_is_not_drawn() -> None:
    far = replace(CURVE, break_even=None, break_even_low=None, break_even_high=None)

    assert drawn(far).select_one(".need") is None
    assert break_even_text(far) == "beyond 4096"
    never = replace(CURVE, break_even=0, break_even_low=0, break_even_high=0)
    assert break_even_text(never) == "never pays"


def test_the_drawing_has_a_name_a_description_and_its_numbers_in_a_table() -> None:
    page = drawn(CURVE)

    svg = one(page, "svg.chart")
    assert svg["aria-labelledby"] == "curve-title curve-desc"
    said = one(page, "desc").get_text()
    assert said.startswith("From 2.00 times as fast with 1 at once to 0.80 times")
    rows = [
        [cell.get_text() for cell in row.select("th, td")]
        for row in page.select("tbody tr")
    ]
    assert rows[0] == ["1", "2.00\u00d7", "1.80 to 2.20", "3"]
    assert rows[-1] == ["64", "0.80\u00d7", "not measured", "3"]


def test_an_unknown_device_gives_no_drawing_and_no_zero() -> None:
    nothing = replace(
        CURVE,
        points=tuple(
            replace(one, speedup=None, low=None, high=None, best_count=None)
            for one in CURVE.points
        ),
    )
    page = drawn(nothing)

    assert page.select_one("svg.chart") is None
    assert "No curve" in page.get_text()
    assert "no data" in one(page, "tbody tr").get_text()


def test_the_chosen_and_the_best_count_are_marked() -> None:
    benefits = [
        CountBenefit(count=count, tokens_per_step=1 + count / 2, speedup=speedup)
        for count, speedup in ((1, 1.2), (2, 1.6), (3, 1.4))
    ]
    text = Template("{% load curves %}{% count_benefit lines 8 %}").render(
        Context({"lines": count_lines(benefits, 3)})
    )
    page = BeautifulSoup(text, "lxml")

    assert [row.get_text(" ", strip=True) for row in page.select("tbody th")] == [
        "1",
        "2 best",
        "3 chosen",
    ]
    widths = [rect["width"] for rect in page.select("rect.bar")]
    assert widths == ["75.0%", "100.0%", "87.5%"]


def test_no_count_is_best_where_plain_decoding_is_faster() -> None:
    slow = [CountBenefit(count=1, tokens_per_step=1.1, speedup=0.9)]

    assert [one.best for one in count_lines(slow, 1)] == [False]
