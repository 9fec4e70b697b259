"""Extra flags: one a line, in any quoting that means one thing."""

import pytest
from django.core.exceptions import ValidationError

from deployments.forms.wizard.flags import FlagsField, read_flags, write_flags


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", ()),
        ("--enforce-eager", (("--enforce-eager", ""),)),
        ("--seed 7\n--enforce-eager\n", (("--seed", "7"), ("--enforce-eager", ""))),
        ("--seed=7", (("--seed", "7"),)),
        ("  --seed   7  \\\n  --a b \\", (("--seed", "7"), ("--a", "b"))),
        ("--name 'two words'", (("--name", "two words"),)),
        ('--name "two words"', (("--name", "two words"),)),
        ("--c '{\"a\": 1}'", (("--c", '{"a": 1}'),)),
        ('--c {"a": "b c"}', (("--c", '{"a": "b c"}'),)),
        ("--seed -1", (("--seed", "-1"),)),
    ],
)
def test_lines_become_flags(text: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert read_flags(text) == pairs
    assert read_flags(write_flags(pairs)) == pairs


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed 7", "“seed 7” is no flag"),
        ("-s 7", "is no flag"),
        ("--a b --c d", "--a is followed by several words"),
        ("--a 'b", "The quotes after --a do not close"),
        ("--a ''", "empty quotes"),
        ("--a 1\n--a 2", "--a stands twice"),
        ("--a {", "The JSON after --a cannot be read"),
        ('--a {"x":NaN}', "The JSON after --a cannot be read"),
        ('--a \'{"x":1,"x":2}\'', "no key stands twice"),
        ("--a " + "[" * 1400, "The JSON after --a cannot be read"),
        ("\n".join(f"--f{n}" for n in range(41)), "keep it to 40"),
        ("--a b\x07", "control or invisible character"),
        ("--a " + "b" * 1500, "keep it to 1500"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, sentence: str) -> None:
    field = FlagsField(longest=1500, label="Extra flags", help_text="")

    with pytest.raises(ValidationError) as refused:
        field.clean(text)

    assert sentence in refused.value.messages[0]
