"""Drawings: their geometry, and what they say to people who cannot see them."""

from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from django.template import Context, Template


def drawn(source: str, **context: object) -> Tag:
    """The SVG that a tag draws."""
    text = Template("{% load drawings %}" + source).render(Context(context))
    svg = BeautifulSoup(text, "lxml").svg
    assert svg is not None
    return svg


def test_the_strip_fills_each_position_by_its_share() -> None:
    """The first cell is the target's own token and always full."""
    svg = drawn("{% strip rates %}", rates=(1.0, 0.5, 0.0))
    assert [cell["height"] for cell in svg.select(".got")] == ["17.0", "8.5", "0.0"]
    assert svg["aria-label"] == (
        "Accepted by position: 100\u00a0%, 50\u00a0%, 0\u00a0%"
    )
    own = svg.select_one(".own")
    assert own is not None
    assert own["height"] == "17"


def test_a_strip_without_measurements_says_so() -> None:
    """Empty cells, as many as are drafted."""
    svg = drawn("{% strip None 5 %}")
    assert len(svg.select(".cell")) == 5
    assert svg["aria-label"] == "5 draft positions, nothing measured"


def test_a_gap_in_a_line_is_drawn_as_a_gap() -> None:
    """No traffic is no zero: the line breaks and a dotted one stands there."""
    svg = drawn("{% spark values low=1 %}", values=(3.0, 2.0, None, None, 1.0))
    lines = [path["d"] for path in svg.select("path:not(.gap)")]
    assert lines == ["M0.0 4.0L33.0 15.0M132.0 26.0"]
    gap = svg.select_one(".gap")
    assert gap is not None
    assert gap["d"] == "M66.0 15H99.0"


def test_a_line_without_any_value_is_one_gap() -> None:
    """Nothing is invented."""
    svg = drawn("{% spark values %}", values=(None,) * 4)
    assert svg.select("circle") == []
    assert len(svg.select("path")) == 1


@dataclass(frozen=True)
class Part:
    """A part of a device's memory."""

    kind: str
    label: str
    size_bytes: int


def test_the_memory_bar_is_to_scale() -> None:
    """Three quarters of the capacity are three quarters of the width."""
    parts = [Part("weights", "Weights", 48 * 1024**3), Part("kv", "KV", 4 * 1024**3)]
    svg = drawn("{% memory_bar parts total %}", parts=parts, total=64 * 1024**3)
    boxes = [(box["x"], box["width"]) for box in svg.select("rect:not(.edge)")]
    assert boxes == [("0.00%", "75.00%"), ("75.00%", "6.25%")]
    assert svg["aria-label"] == "Weights 48\u00a0GiB, KV 4\u00a0GiB"


def test_an_unknown_capacity_draws_nothing() -> None:
    """A bar without a scale would lie."""
    source = "{% load drawings %}{% memory_bar parts None %}"
    text = Template(source).render(Context({"parts": [Part("kv", "KV", 1)]}))
    assert "<svg" not in text
    assert "not known" in text
