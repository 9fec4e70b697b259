"""The engine's own words about its speculation, however the log arrives."""

import pytest

from deployments.telemetry.logs.startup import StartupFacts, StartupReader

ENGINE = (
    "(EngineCore pid=26) INFO 11-29 16:05:34 [core.py:133] Initializing a V1 LLM engine "
    "(v0.32.0) with config: model='/models/t', speculative_config={config}, tokenizer='/models/t'\n"
)


def facts(text: str) -> StartupFacts:
    return StartupReader().feed(text)


@pytest.mark.parametrize(
    ("config", "method", "count", "drafter"),
    [
        (
            "SpeculativeConfig(method='mtp', model='/models/t', num_spec_tokens=3)",
            *("mtp", 3, None),
        ),
        (
            "SpeculativeConfig(method='eagle3', model='org/head', num_spec_tokens=5)",
            *("eagle3", 5, "org/head"),
        ),
        (
            "SpeculativeConfig(method='ngram', model=None, num_spec_tokens=4)",
            *("ngram", 4, None),
        ),
        (  # V0 to 0.8
            "SpeculativeConfig(draft_model='org/draft', num_spec_tokens=2)",
            *(None, 2, "org/draft"),
        ),
    ],
)
def test_configuration_is_read(
    config: str, method: str | None, count: int, drafter: str | None
) -> None:
    found = facts(ENGINE.format(config=config))
    assert found == StartupFacts(
        speculation=True,
        method=method,
        num_speculative_tokens=count,
        drafter=drafter,
        engine_version="0.32.0",
        line=1,
    )


def test_no_configuration_means_speculation_is_off() -> None:
    found = facts(ENGINE.format(config="None"))
    assert found.speculation is False
    assert found.method is None


def test_before_the_engine_speaks_nothing_is_known() -> None:
    banner = (
        "(APIServer pid=1) INFO 11-29 16:05:34 [api_utils.py:347]  █  version 0.32.0\n"
    )
    found = facts(banner)
    assert found.speculation is None
    assert found.engine_version == "0.32.0"


def test_pieces_of_any_size_give_the_same_facts() -> None:
    config = "SpeculativeConfig(method='mtp', model='/models/t', num_spec_tokens=3)"
    text = "first line\n" + ENGINE.format(config=config)
    reader = StartupReader()
    for character in text:
        reader.feed(character)
    assert reader.facts == facts(text)
    assert reader.facts.line == 2


def test_last_start_counts() -> None:
    first = ENGINE.format(config="None")
    config = "SpeculativeConfig(method='suffix', model=None, num_spec_tokens=8)"
    assert facts(first + ENGINE.format(config=config)).method == "suffix"


def test_seed_line_is_read() -> None:
    found = facts(
        "INFO: Enabling speculative decoding with method deepseek_mtp, "
        "num_speculative_tokens=3\n"
    )
    assert (found.method, found.num_speculative_tokens) == ("deepseek_mtp", 3)


def test_endless_line_does_not_grow() -> None:
    reader = StartupReader()
    for _ in range(50):
        reader.feed("x" * 10_000)
    assert reader.feed("\n").speculation is None
