"""YAML as nodes with places: bounded, anchors and merge keys followed, nothing constructed."""

from collections.abc import Iterator

import yaml

from deployments.planning.importing.limits import (
    DEEPEST_VALUE,
    LARGEST_YAML_CHARACTERS,
    MOST_NODES,
    Budget,
    UnreadableLaunchError,
)
from deployments.planning.importing.words import Word
from deployments.planning.text import Text, text
from deployments.planning.yaml_problems import yaml_line, yaml_problem

Node = yaml.nodes.Node
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_MERGED = 100
"""Mappings that one mapping takes its values from."""


class YamlBrokenError(UnreadableLaunchError):
    """The text is no YAML; ``line`` is where, counted from 1."""

    def __init__(self, message: Text, line: int) -> None:
        """Keep the line."""
        super().__init__(message)
        self.line = line


def read_documents(source: str) -> list[Node]:
    """Return the top nodes of every document.

    Raises:
        UnreadableLaunchError: it is too large or too deep, or (YamlBrokenError) no YAML.
    """
    if len(source) > LARGEST_YAML_CHARACTERS:
        raise UnreadableLaunchError(
            text(
                "The YAML has more than {most} characters; give one compose file.",
                most=LARGEST_YAML_CHARACTERS,
            )
        )
    _refuse_deep(source)
    try:
        return list(yaml.compose_all(source, Loader=_Loader))
    except yaml.YAMLError as error:
        line = yaml_line(error)
        raise YamlBrokenError(
            text(
                "The YAML cannot be read at line {line}: {problem}.",
                line=line,
                problem=yaml_problem(error),
            ),
            line,
        ) from error
    except RecursionError as error:
        raise UnreadableLaunchError(_too_deep()) from error


def _too_deep() -> Text:
    return text("The YAML is nested too deeply to be a compose file.")


def _refuse_deep(source: str) -> None:
    depth = deepest = 0
    for character in source:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth = max(0, depth - 1)
    indents = max(
        (len(line) - len(line.lstrip(" -")) for line in source.split("\n")), default=0
    )
    if deepest > DEEPEST_VALUE * 4 or indents > 400:
        raise UnreadableLaunchError(_too_deep())


def entries(node: Node | None) -> dict[str, Node]:
    """Return a mapping's values by key, merge keys applied; {} for anything else.

    A mapping that is merged in more than one way counts once, so anchors cannot blow it up.

    Raises:
        UnreadableLaunchError: it merges more mappings than any compose file does.
    """
    found: dict[str, Node] = {}
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, yaml.MappingNode) or id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > MOST_MERGED:
            raise UnreadableLaunchError(_too_deep())
        own, merged = _own(one)
        found = {**own, **found}
        waiting.extend(reversed(merged))
    return found


def _own(node: yaml.MappingNode) -> tuple[dict[str, Node], list[Node | None]]:
    """A mapping's own values, and what it merges, first what counts most."""
    own: dict[str, Node] = {}
    merged: list[Node | None] = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value == "<<" and key.tag != "tag:yaml.org,2002:str":
            merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
        else:
            own[key.value] = value
    return own, merged


def items(node: Node | None) -> list[Node]:
    """Return a sequence's members; [] for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def scalar(node: Node | None) -> str | None:
    """Return a scalar's text; ``None`` for anything else and for null."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)


def word(node: Node | None, offset: int) -> Word | None:
    """Return a scalar as an argument with its place; compose's ``$$`` is one dollar."""
    text = scalar(node)
    if text is None or node is None:
        return None
    return Word(
        text=text.replace("$$", "$"),
        start=node.start_mark.index + offset,
        end=node.end_mark.index + offset,
        form="yaml" if getattr(node, "style", None) not in ("|", ">") else "block",
    )


def walk(top: Node, budget: Budget) -> Iterator[Node]:
    """Yield every mapping below a node once, anchors included.

    Raises:
        UnreadableLaunchError: there are too many.
    """
    seen: set[int] = set()
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if len(seen) > MOST_NODES:
            raise UnreadableLaunchError(
                text(
                    "The YAML has more than {most} values; give one compose file.",
                    most=MOST_NODES,
                )
            )
        budget.spend(1)
        if isinstance(node, yaml.MappingNode):
            yield node
            waiting.extend(value for _key, value in reversed(node.value))
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(reversed(node.value))
