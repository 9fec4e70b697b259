"""vLLM's own argument parser takes what the planner renders, and knows what the profile says."""

from collections import Counter

from deployments.planning.engines.profile import find_profile
from tests.real.engine import RealEngine
from tests.real.rendered import ENGINE, everything

OTHER_WAYS = {"-h", "--help"}
BY_PLATFORM = {"--mm-processor-device"}
"""Its choices name the accelerator of the machine that parses, so the profile lists none."""


def test_every_rendered_command_is_accepted(engine: RealEngine) -> None:
    """All models, methods and topologies."""
    commands = everything()
    assert len(commands) > 500
    for template in {name for one in commands for name in one.templates}:
        # The official image begins in a folder with vLLM's examples; the wheel has none.
        stand_in = engine.configs / template
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text("{{ messages }}", encoding="utf-8")
    refused = Counter(
        refusal[-300:]
        for rendered in commands
        if (refusal := engine.refusal(rendered.words[1:])) is not None
    )
    assert refused == {}


def test_profile_has_the_flags_of_the_parser(engine: RealEngine) -> None:
    """Names, aliases, switches, choices, several values."""
    profile = find_profile(ENGINE)
    shown = {
        flag.name: (
            sorted({*flag.names, *filter(None, [flag.negated])}),
            sorted(flag.choices),
            flag.many,
        )
        for flag in profile.arguments
    }
    real = {}
    for flag in engine.flags():
        names = [name for name in flag["names"] if name not in OTHER_WAYS]
        if names:
            main = next((name for name in names if name in shown), names[0])
            many = flag["repeated"] or flag["values"] in ("+", "*")
            listed = [] if main in BY_PLATFORM else flag["choices"] or []
            choices = sorted(listed)
            real[main] = (sorted(names), choices, many)
    assert shown == real


def test_profile_has_the_keys_and_methods_of_the_speculative_config(
    engine: RealEngine,
) -> None:
    """With their defaults; what the engine itself fills in is no key of a person's."""
    profile = find_profile(ENGINE)
    real = engine.keys()
    shown = {key.name for key in profile.keys}
    assert shown <= set(real["keys"])
    assert {one.name for one in profile.spellings} == set(real["methods"])
    assert set(real["keys"]) - shown == {
        *("target_model_config", "target_parallel_config", "draft_parallel_config"),
        # Only there to be refused with a hint at draft_tensor_parallel_size.
        "tensor_parallel_size",
    }
    for key in profile.keys:
        if key.default is not None:
            assert (key.name, key.default) == (key.name, real["keys"][key.name])
