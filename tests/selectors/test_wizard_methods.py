"""Methods in short, and side by side."""

import pytest

from deployments.planning.plan import Role
from deployments.selectors.wizard_methods import (
    compare,
    method_cards,
    pinned_methods,
    speculation_text,
)
from tests.planning.builders import apart, combined, decode, gpu, plan, prefill, shipped
from tests.wizard_values import GLM, QWEN

TIMES = "\u00d7"


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        ((), ("mtp", "eagle3")),
        (("ngram",), ("ngram", "mtp")),
        (("eagle3",), ("eagle3", "mtp")),
        (("off", "ngram"), ("off", "ngram")),
    ],
)
def test_two_methods_always_stand_side_by_side(
    pins: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert pinned_methods(pins) == expected


def test_one_count_is_said_once() -> None:
    made = plan(combined(QWEN, "gpu-1"), gpu())

    assert speculation_text(made) == f"EAGLE-3 {TIMES}3"


def test_counts_that_differ_are_said_by_role() -> None:
    spec = apart(
        QWEN,
        prefill("gpu-1", num_speculative_tokens=0),
        decode("gpu-2", num_speculative_tokens=5),
    )

    made = plan(spec, gpu("gpu-1"), gpu("gpu-2"))

    assert [replica.role for replica in made.replicas] == [
        Role.PREFILL,
        Role.DECODE,
        Role.ROUTER,
    ]
    assert speculation_text(made) == f"EAGLE-3: prefill {TIMES}0, decode {TIMES}5"


def test_the_answer_of_the_tree_comes_first_and_closed_methods_last() -> None:
    made = plan(combined(QWEN, "gpu-1"), gpu())

    cards = method_cards(made, made, shipped(QWEN), "auto")

    assert cards[0].method == "eagle3"
    assert cards[0].best
    assert not any(card.chosen for card in cards)
    states = [card.open for card in cards]
    assert states == sorted(states, reverse=True)
    assert [card.method for card in cards if card.open][-1] == "off"
    assert all(card.count is None for card in cards if not card.open)


def test_facts_that_nobody_knows_stay_empty() -> None:
    made = plan(combined(QWEN, "gpu-1"), gpu())
    entry = shipped(QWEN)

    table = compare(method_cards(made, made, entry, "auto"), entry, ("mtp", "eagle3"))

    rows = dict(table.rows)
    assert table.titles == ("MTP", "EAGLE-3")
    assert rows["Speed-up"] == ("", "")
    assert rows["Drafter"][0] == "none"
    assert rows["Here"] == ("closed", "the decision tree's answer")


def test_layers_inside_the_checkpoint_need_no_mount() -> None:
    entry = shipped(GLM)
    made = plan(combined(GLM, "gpu-1"), gpu())

    table = compare(method_cards(made, made, entry, "auto"), entry, ("mtp", "off"))

    rows = dict(table.rows)
    assert rows["Drafter"] == ("inside the checkpoint", "none needed")
    assert rows["Must be mounted"][1] == "Nothing."
