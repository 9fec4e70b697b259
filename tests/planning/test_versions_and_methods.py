"""Versions compare as releases do; methods are spelt as each engine wants them."""

import pytest

from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, Method, normalise_method, spelling_for
from deployments.planning.versions import parse_version


def test_versions_sort_as_they_were_released() -> None:
    words = ["0.9.2", "0.11", "v0.23.0rc1", "0.23.0", "0.23.0.post1", "0.32.0"]
    versions = [parse_version(word) for word in words]
    assert versions == sorted(versions)
    assert [str(version) for version in versions] == [
        "0.9.2",
        "0.11.0",
        "0.23.0rc1",
        "0.23.0",
        "0.23.0.post1",
        "0.32.0",
    ]


@pytest.mark.parametrize("word", ["", "latest", "1", "0.32.x", "0.32.0 "[:-1] + "!"])
def test_other_words_are_no_versions(word: str) -> None:
    with pytest.raises(PlanningError, match="is not an engine version"):
        parse_version(word)


@pytest.mark.parametrize(
    "spelling", ["mtp", "deepseek_mtp", "qwen3_5_mtp", "GLM4_MOE_MTP", "deepseek-mtp"]
)
def test_every_mtp_spelling_is_mtp(spelling: str) -> None:
    assert normalise_method(spelling) is Method.MTP


def test_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(
        PlanningError, match=r"'eagle4' is not a speculative method.*eagle3"
    ):
        normalise_method("eagle4")


@pytest.mark.parametrize(
    ("method", "version", "expected"),
    [
        (Method.MTP, "0.10.2", "deepseek_mtp"),
        (Method.MTP, "0.11.0", "mtp"),
        (Method.MTP, "0.32.0", "mtp"),
        (Method.EAGLE3, "0.10.2", "eagle3"),
    ],
)
def test_method_is_spelt_as_the_release_wants_it(
    method: Method, version: str, expected: str
) -> None:
    assert spelling_for(method, parse_version(version)) == expected


def test_every_method_has_facts() -> None:
    assert set(FACTS) == set(Method)
