"""The YAML text of a deployment spec or a catalog entry as plain values, and back."""

from typing import Any

import yaml

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.text import text
from deployments.planning.yaml_problems import yaml_line, yaml_problem


class StrictLoader(yaml.SafeLoader):
    """YAML without surprises: duplicate keys and aliases are refused, decimals stay text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases, which can blow a small file up."""
        if self.check_event(yaml.AliasEvent):
            raise PlanningError(
                text("The spec uses a YAML alias; write the value out.")
            )
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML's own
    ) -> dict[Any, Any]:
        """Build a mapping, refusing a key that comes twice."""
        keys = [key.value for key, _value in node.value]
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise PlanningError(
                    text(
                        "The key {key} comes twice in the block at line {line}.",
                        key=repr(key),
                        line=line,
                    )
                )
        return super().construct_mapping(node, deep=deep)


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


for _tag in ("float", "timestamp"):
    StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _decimal)


def read_document_text(written: str) -> Json:
    """Read the text of a spec; decimals come as text.

    Raises:
        PlanningError: it is no YAML, or has aliases, repeated keys or values out of range.
    """
    loader = StrictLoader(written)
    try:
        document: Json = loader.get_single_data()
    except PlanningError:
        raise
    except yaml.YAMLError as error:
        raise PlanningError(
            text(
                "The spec cannot be read at line {line}: {problem}.",
                line=yaml_line(error),
                problem=yaml_problem(error),
            )
        ) from error
    except (RecursionError, ValueError) as error:
        raise PlanningError(
            text("The spec cannot be read: a value is out of range.")
        ) from error
    finally:
        loader.dispose()
    return document


def written_spec(document: Json) -> str:
    """The document as YAML that ``read_document_text`` reads back as it was."""
    return yaml.safe_dump(
        document,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=10_000,
    )
