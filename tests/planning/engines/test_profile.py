"""The profiles that ship, how one is found, and what it answers."""

import time
from collections.abc import Callable

import pytest

from deployments.planning.engines.accepted import Flag, ValueKind
from deployments.planning.engines.differences import pack, unpack, written
from deployments.planning.engines.document import profile_document
from deployments.planning.engines.lives import why_unsupported
from deployments.planning.engines.profile import (
    VLLM,
    VLLM_ASCEND,
    EngineProfile,
    find_profile,
    parse_engine_profile,
    profiles_of,
    shipped_profiles,
)
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.versions import parse_version

MOST_S = 0.05
RELEASES = {
    VLLM: "0.8.5 0.8.5.post1 0.9.0 0.9.0.1 0.9.1 0.9.2 0.10.0 0.10.1 0.10.1.1 0.10.2 0.11.0 0.11.1 "
    "0.11.2 0.12.0 0.13.0 0.14.0 0.14.1 0.15.0 0.15.1 0.16.0 0.17.0 0.17.1 0.18.0 0.18.1 0.19.0 "
    "0.19.1 0.20.0 0.20.1 0.20.2 0.21.0 0.22.0 0.22.1 0.23.0 0.24.0 0.25.0 0.25.1 0.26.0 0.27.0 "
    "0.27.1 0.28.0 0.29.0 0.30.0 0.31.0 0.32.0 0.33.0",
    VLLM_ASCEND: "0.8.5rc1 0.9.0rc1 0.9.0rc2 0.9.1rc1 0.9.1rc2 0.9.1rc3 0.9.1 0.9.2rc1 0.10.0rc1 "
    "0.10.1rc1 0.10.2rc1 0.11.0rc0 0.11.0rc1 0.11.0rc2 0.11.0rc3 0.11.0 0.12.0rc1 0.13.0rc1 "
    "0.13.0rc2 0.13.0rc3 0.13.0 0.14.0rc1 0.15.0rc1 0.16.0rc1 0.17.0rc1 0.18.0rc1 0.18.0 "
    "0.19.1rc1 0.20.2rc1 0.21.0rc1 0.22.1rc1 0.23.0rc1 0.23.0 0.23.0.post1 0.24.0rc1 0.25.1rc1 "
    "0.26.0rc1 0.27.1rc1 0.28.0rc1 0.29.0rc1 0.30.0rc1 0.30.0rc2",
}


@pytest.mark.parametrize("engine", [VLLM, VLLM_ASCEND])
def test_every_published_release_ships_oldest_first(engine: str) -> None:
    assert [one.version for one in profiles_of(engine)] == RELEASES[engine].split()


def test_loading_all_profiles_takes_no_time() -> None:
    def fastest(act: Callable[[], object]) -> float:
        times = []
        for _attempt in range(5):
            start = time.perf_counter()
            act()
            times.append(time.perf_counter() - start)
        return min(times)

    assert fastest(shipped_profiles.__wrapped__) < MOST_S


@pytest.mark.parametrize("engine", [VLLM, VLLM_ASCEND])
def test_shipped_profiles_are_what_a_strict_reading_gives(engine: str) -> None:
    for profile in profiles_of(engine):
        assert parse_engine_profile(profile_document(profile)) == profile


def test_packed_profiles_unpack_to_the_same() -> None:
    vllm = [profile_document(one) for one in profiles_of(VLLM)]
    plugin = [profile_document(one) for one in profiles_of(VLLM_ASCEND)]
    under = {str(one["version"]): one for one in vllm}
    assert unpack(pack(vllm, {}), {}) == vllm
    assert unpack(pack(plugin, under), under) == plugin


def test_packed_text_holds_one_entry_a_line() -> None:
    documents = [profile_document(one) for one in profiles_of(VLLM)[:2]]
    text = written(pack(documents, {}))
    assert '   {"name": "--tensor-parallel-size", ' in text
    assert max(map(len, text.splitlines())) < 2000


@pytest.mark.parametrize("engine", [VLLM, VLLM_ASCEND])
def test_names_within_a_profile_are_its_own(engine: str) -> None:
    for profile in profiles_of(engine):
        names = (*profile.flags, *profile.switches, *profile.negated)
        doubled = {name for name in names if names.count(name) > 1}
        assert not doubled, profile.name
        assert len(set(profile.speculative_keys)) == len(profile.keys)


def test_plugin_names_a_vllm_that_ships() -> None:
    vllm = {one.version for one in profiles_of(VLLM)}
    assert {one.vllm_version for one in profiles_of(VLLM_ASCEND)} <= vllm


@pytest.mark.parametrize(
    ("reference", "method", "told"),
    [
        ("vllm==0.32.0", Method.MEDUSA, None),
        ("vllm==0.33.0", Method.MEDUSA, "no longer runs Medusa; 0.32.0 was the last"),
        ("vllm==0.32.0", Method.MLP_SPECULATOR, "0.9.2 was the last"),
        ("vllm-ascend==0.23.0", Method.DSPARK, "does not run DSpark yet"),
        ("vllm-ascend==v0.23.0", Method.MTP, None),
    ],
)
def test_profile_says_why_a_method_does_not_run(
    reference: str, method: Method, told: str | None
) -> None:
    why = why_unsupported(find_profile(reference), method)
    assert (why is None) == (told is None)
    assert told is None or told in (why or "")


@pytest.mark.parametrize(
    "flag",
    [
        "--max-num-seqs",
        "--trust-remote-code",
        "--no-enforce-eager",
        "-tp",
        "--headless",
    ],
)
def test_profile_knows_real_flags(flag: str) -> None:
    assert find_profile("vllm==0.32.0").knows(flag)


@pytest.mark.parametrize("flag", ["--num-speculative-tokens", "--no-headless", "-xx"])
def test_profile_does_not_know_other_flags(flag: str) -> None:
    assert not find_profile("vllm==0.32.0").knows(flag)


def test_flag_is_found_by_any_of_its_spellings() -> None:
    profile = find_profile("vllm==0.32.0")
    expected = profile.flag("--enable-expert-parallel")
    assert expected is not None
    assert expected.kind is ValueKind.BOOLEAN
    assert (
        profile.flag("-ep") == profile.flag("--no-enable-expert-parallel") == expected
    )


def test_keys_may_hold_dashes_only_where_the_version_says_so() -> None:
    assert find_profile("vllm==0.26.0").knows_key("num-speculative-tokens")
    assert not find_profile("vllm==0.25.1").knows_key("num-speculative-tokens")


def test_choices_take_another_case_and_dashes() -> None:
    flag = Flag(name="--moe-backend", choices=("deep_gemm", "triton"))
    assert flag.accepts("deep-gemm")
    assert not flag.accepts("marlin")
    assert Flag(name="--host").accepts("anything")


@pytest.mark.parametrize(
    ("reference", "model_type", "spelling"),
    [
        ("vllm==0.32.0", "deepseek_v3", "mtp"),
        ("vllm==0.11.0", "qwen3_next", "mtp"),
        ("vllm==0.10.2", "qwen3_next", "qwen3_next_mtp"),
        ("vllm==0.10.2", "ernie4_5_moe", "ernie_mtp"),
        ("vllm==0.10.2", "deepseek_v3", "deepseek_mtp"),
        ("vllm==0.10.1", "qwen3_next", "deepseek_mtp"),
        ("vllm-ascend==0.9.1", None, "deepseek_mtp"),
    ],
)
def test_mtp_is_spelt_as_the_version_wants_it(
    reference: str, model_type: str | None, spelling: str
) -> None:
    profile = find_profile(reference)
    assert profile.spell(Method.MTP, model_type) == spelling
    assert profile.spelling(spelling) is not None


def test_other_methods_have_one_spelling() -> None:
    assert find_profile("vllm==0.10.2").spell(Method.EAGLE3) == "eagle3"


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("vllm", "does not name an engine"),
        ("vllm==9.9.9", "No profile of vllm==9.9.9 ships .* vllm 0.8.5 to 0.33.0"),
        ("vllm==new", "is not an engine version"),
        ("sglang==0.5.0", "is not an engine that this panel knows; use vllm or"),
    ],
)
def test_unknown_engine_is_one_sentence(reference: str, sentence: str) -> None:
    with pytest.raises(PlanningError, match=sentence):
        find_profile(reference)


@pytest.mark.parametrize("change", [{}, {"engine": 3}, {"colour": "red"}])
def test_profile_document_is_read_strictly(change: dict[str, str | int]) -> None:
    document = {**profile_document(find_profile("vllm==0.32.0")), **change}
    if not change:
        del document["arguments"]
    with pytest.raises(PlanningError, match="engine profile cannot be read"):
        parse_engine_profile(document)


def test_profiles_are_sorted_as_versions_compare() -> None:
    ordered: list[EngineProfile] = sorted(
        shipped_profiles(), key=lambda one: (one.engine, parse_version(one.version))
    )
    assert list(shipped_profiles()) == ordered
