"""Every statement of the advice can be said in another language."""

import pytest

from deployments.planning.text import text
from deployments.selectors.advice_words import sentence
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.advice import Statement, advise

CASES = [
    (
        "mtp",
        3,
        Counts(accepted=580, drafted=609, num_drafts=203, per_position=(200, 195, 185)),
    ),
    (
        "mtp",
        3,
        Counts(accepted=406, drafted=609, num_drafts=203, per_position=(183, 132, 91)),
    ),
    (
        "mtp",
        3,
        Counts(accepted=100, drafted=609, num_drafts=203, per_position=(90, 8, 2)),
    ),
    ("mtp", 3, Counts(accepted=0, drafted=900, num_drafts=300, per_position=(0, 0, 0))),
    ("mtp", None, Counts(accepted=0, drafted=900, num_drafts=300)),
    ("mtp", 3, Counts(accepted=6, drafted=9, num_drafts=3, per_position=(3, 2, 1))),
    ("mtp", None, Counts(accepted=6, drafted=9)),
    ("ngram", 5, Counts(accepted=600, drafted=1500, num_drafts=300)),
    ("mtp", 3, Counts(num_drafts=0)),
]


@pytest.mark.parametrize(("method", "count", "counts"), CASES)
def test_every_statement_has_a_sentence_that_says_the_same(
    method: str, count: int | None, counts: Counts
) -> None:
    advice = advise(method, count, counts)
    assert advice.statements
    for statement in advice.statements:
        said = sentence(statement).replace("\N{NO-BREAK SPACE}%", "%")
        assert said.replace(",", "") == statement.text.replace(",", "")


def test_numbers_are_grouped() -> None:
    measured = Statement(
        code="measured_rate",
        text=text(
            "{accepted} of {drafted} drafted tokens were accepted: {rate}.",
            accepted="12345",
            drafted="20000",
            rate="61.7%",
        ),
    )
    assert sentence(measured) == (
        "12,345 of 20,000 drafted tokens were accepted: 61.7\N{NO-BREAK SPACE}%."
    )
