"""What is wrong with text that is no YAML, said alike for both parsers."""

import pytest
import yaml

from deployments.planning.importing.yaml_nodes import YamlBrokenError, read_documents
from deployments.planning.yaml_problems import yaml_line, yaml_problem

BROKEN = {
    "a: b: c": "a colon stands where no value may begin",
    "a: 1\nb\nc: 2": "has no colon and space after it",
    "a: - b": "a list entry stands where none may begin",
    "a: ? x": "a key stands where none may begin",
    "a:\n  b: 1\n c: 2": "does not fit the lines before",
    "- a\nb: 1": "does not fit the lines before",
    "a: [1, 2\nb: 3": "lacks a comma or its closing bracket",
    "a: {x: 1\nb: 3": "lacks a comma or its closing brace",
    "a: 'x": "is never closed",
    'a: "\\q"': "an escape that YAML does not know",
    "a: *x": "begins with *, &, ! or %",
    "a: !x!y z": "begins with *, &, ! or %",
    "a: @x": "a sign that YAML keeps for itself",
    "a: |x\n  b": "only a line break may follow",
    "a: \x00b": "a character that is no text",
}


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
@pytest.mark.parametrize("written", BROKEN)
def test_both_parsers_are_understood(written: str, loader: type) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        list(yaml.compose_all(written, Loader=loader))
    assert BROKEN[written] in str(yaml_problem(caught.value))
    assert 1 <= yaml_line(caught.value) <= written.count("\n") + 1


def test_what_no_pattern_knows_is_quoted() -> None:
    error = yaml.MarkedYAMLError(problem="something new")
    assert str(yaml_problem(error)) == "the parser says “something new”"
    assert str(yaml_problem(yaml.YAMLError())) == "it is not YAML"
    assert yaml_line(yaml.YAMLError()) == 1


def test_the_sentence_names_the_line() -> None:
    with pytest.raises(YamlBrokenError, match=r"^The YAML cannot be read at line 2: "):
        read_documents("a: 1\nb: c: d")
