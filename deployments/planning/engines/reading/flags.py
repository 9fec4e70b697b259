"""The flags of ``vllm serve`` as Flag values."""

from deployments.planning.engines.accepted import Flag, ValueKind
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)
from deployments.planning.engines.reading.values import Member
from deployments.planning.engines.reading.walk import AddedArgument, CommandLine

SWITCH_ACTIONS = frozenset({"store_true", "store_false", "store_const", "count"})
MANY = frozenset({"+", "*"})
_KINDS = {
    "int": ValueKind.INTEGER,
    "float": ValueKind.NUMBER,
    "loads": ValueKind.JSON,
    "dict": ValueKind.JSON,
    "record": ValueKind.JSON,
    "from_cli": ValueKind.JSON,
    "from_json": ValueKind.JSON,
    "from_dict": ValueKind.JSON,
    "human_readable_int": ValueKind.SIZE,
    "human_readable_int_or_auto": ValueKind.SIZE,
    "union_dict_and_str": ValueKind.TEXT_OR_JSON,
}


def read_flags(tree: SourceTree) -> tuple[Flag, ...]:
    """Every flag, by name; a flag that is added twice keeps the later settings."""
    found: dict[str, Flag] = {}
    for added in CommandLine(tree).read():
        flag = _flag(added)
        found[flag.name] = flag
    return tuple(found[name] for name in sorted(found))


def _flag(added: AddedArgument) -> Flag:
    settings = added.settings
    long = [name for name in added.names if name.startswith("--")]
    name = (long or list(added.names))[0]
    nargs = settings.get("nargs")
    return Flag(
        name=name,
        kind=kind_of(settings),
        aliases=tuple(one for one in added.names if one != name),
        choices=choices_of(settings.get("choices")),
        many=nargs in MANY
        or (isinstance(nargs, int) and nargs > 1)
        or settings.get("action") == "append",
        optional=nargs == "?",
    )


def kind_of(settings: dict[str, object]) -> ValueKind:
    """What follows the flag, from argparse's ``action`` and ``type``."""
    action, kind = settings.get("action"), settings.get("type")
    if isinstance(action, str) and action in SWITCH_ACTIONS:
        return ValueKind.SWITCH
    if isinstance(action, Symbol) and action.last == "BooleanOptionalAction":
        return ValueKind.BOOLEAN
    name = kind.last if isinstance(kind, Symbol) else ""
    if isinstance(kind, Definition):
        name = kind.title
    return _KINDS.get(name, ValueKind.TEXT)


def choices_of(value: object) -> tuple[str, ...]:
    """The list of allowed values as text; empty if there is none or it is not settled."""
    if not isinstance(value, list):
        return ()
    plain = [one.value if isinstance(one, Member) else one for one in value]
    if any(isinstance(one, Symbol | Definition) for one in plain):
        return ()
    return tuple(sorted({"None" if one is None else str(one) for one in plain}))
