"""What people write for an engine version, and the profiles that it means."""

import pytest

from deployments.planning.engines.resolution import Fit, resolve_version
from deployments.planning.errors import PlanningError


@pytest.mark.parametrize(
    ("engine", "written", "version", "fit"),
    [
        ("vllm", "0.32.0", "0.32.0", Fit.EXACT),
        ("vllm", "v0.32.0", "0.32.0", Fit.EXACT),
        ("vllm", " 0.8.5.post1 ", "0.8.5.post1", Fit.EXACT),
        ("vllm", "v0.28.0-cu129-ubuntu2404", "0.28.0", Fit.EXACT),
        ("vllm", "0.32.0+cpu", "0.32.0", Fit.EXACT),
        ("vllm", "0.11.0+", "0.11.0", Fit.RANGE),
        ("vllm", "0.15+", "0.15.0", Fit.RANGE),
        ("vllm", "0.11.0 or later", "0.11.0", Fit.RANGE),
        ("vllm", "0.20.x", "0.20.2", Fit.RANGE),
        ("vllm", "v0.20.*", "0.20.2", Fit.RANGE),
        ("vllm", "0.12", "0.12.0", Fit.EXACT),
        ("vllm", "0.9", "0.9.2", Fit.RANGE),
        ("vllm", "0", "0.33.0", Fit.RANGE),
        ("vllm", "0.4.3", "0.8.5", Fit.OLDER),
        ("vllm", "0.4.x", "0.8.5", Fit.OLDER),
        ("vllm", "0.34.0", "0.33.0", Fit.NEWER),
        ("vllm", "1.2", "0.33.0", Fit.NEWER),
        ("vllm", "0.40+", "0.33.0", Fit.NEWER),
        ("vllm", "0.18.5", "0.18.1", Fit.NEAREST),
        ("vllm", "0.19.2rc1.dev21+gabc", "0.19.1", Fit.NEAREST),
        ("vllm", "0.34.1rc1.dev21+gabc", "0.33.0", Fit.NEWER),
        ("vllm", "latest", "0.33.0", Fit.NEWEST),
        ("vllm", "nightly-aarch64", "0.33.0", Fit.NEWEST),
        ("vllm-ascend", "v0.23.0rc1-a3", "0.23.0rc1", Fit.EXACT),
        ("vllm-ascend", "v0.23.0-a3-openeuler", "0.23.0", Fit.EXACT),
        ("vllm-ascend", "0.13.x", "0.13.0", Fit.RANGE),
        ("vllm-ascend", "0.30.x", "0.30.0rc2", Fit.RANGE),
        ("vllm-ascend", "0.19.1", "0.19.1rc1", Fit.NEAREST),
        ("vllm-ascend", "0.31.0rc1", "0.30.0rc2", Fit.NEWER),
    ],
)
def test_version_means_a_profile(
    engine: str, written: str, version: str, fit: Fit
) -> None:
    found = resolve_version(engine, written)
    assert (found.profile.version, found.fit) == (version, fit)
    assert found.profile in found.profiles
    assert (found.note is None) == (fit is Fit.EXACT)


def test_range_names_every_release_that_it_covers() -> None:
    assert [one.version for one in resolve_version("vllm", "0.20.x").profiles] == [
        "0.20.0",
        "0.20.1",
        "0.20.2",
    ]
    upward = resolve_version("vllm", "0.31.0+").profiles
    assert [one.version for one in upward] == ["0.31.0", "0.32.0", "0.33.0"]


def test_note_says_what_was_checked_against() -> None:
    note = resolve_version("vllm", "0.40.0").note
    assert note == "0.40.0 is newer than all profiles; checked against vllm 0.33.0."


@pytest.mark.parametrize(
    ("engine", "written", "sentence"),
    [
        ("vllm", "new", "is not an engine version"),
        ("vllm", "", "is not an engine version"),
        ("vllm", "0.1.2.3.4.5", "is not an engine version"),
        ("sglang", "0.5.0", "is not an engine that this panel knows"),
    ],
)
def test_what_is_no_version_is_one_sentence(
    engine: str, written: str, sentence: str
) -> None:
    with pytest.raises(PlanningError, match=sentence):
        resolve_version(engine, written)
