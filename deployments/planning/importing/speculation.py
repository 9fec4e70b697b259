"""How a launch drafts: the speculative config in every way that it can be written."""

import difflib
import re
from dataclasses import dataclass, replace

from deployments.planning.canonical import Json
from deployments.planning.importing.arguments import Argument, Arguments
from deployments.planning.importing.commands import Scope
from deployments.planning.importing.flag_table import OLD_SPECULATIVE
from deployments.planning.importing.json_repair import Damage, JsonValue, read_json
from deployments.planning.methods import Method

FLAG = "--speculative-config"
SHORTCUTS = {
    "--spec-method": "method",
    "--spec-model": "model",
    "--spec-tokens": "num_speculative_tokens",
}
_BY_PATH = (
    ("eagle3", "eagle3"),
    ("eagle-3", "eagle3"),
    ("eagle-", "eagle"),
    ("dflash", "dflash"),
    ("dspark", "dspark"),
    ("medusa", "medusa"),
    ("mlp-speculator", "mlp_speculator"),
    ("mlp_speculator", "mlp_speculator"),
)
_GEMMA_ASSISTANT = re.compile(r"gemma-?4.*assistant", re.IGNORECASE)
_MTP_BY_ITSELF = re.compile(r"deepseek[-_]?(?:v3|r1)", re.IGNORECASE)
_SPECULATORS = re.compile(r"speculator", re.IGNORECASE)
_DASHED = re.compile(r"[a-z]+(?:-[a-z]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """What a launch asks for.

    ``method`` is normalised, ``None`` where nobody can tell. ``drafter`` is as written, ``None``
    when it is the target itself; ``drafter_resolved`` has variables of the same input replaced.
    ``config`` holds the keys as written, old flags under the names that they have today.
    ``old_flags`` is true for the flags up to vLLM 0.8.2, ``implied`` when the served model
    itself carries the config. ``dashed`` are keys that were written with ``-`` for ``_``.
    """

    method: str | None
    method_as_written: str | None
    num_speculative_tokens: int | None
    drafter: str | None
    drafter_resolved: str | None
    config: dict[str, Json]
    damage: Damage | None = None
    argument: Argument | None = None
    old_flags: bool = False
    implied: bool = False
    repeated: tuple[str, ...] = ()
    dashed: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Json]:
        """The object that ``lint_launch`` prints."""
        return {
            "method": self.method,
            "method_as_written": self.method_as_written,
            "num_speculative_tokens": self.num_speculative_tokens,
            "drafter": self.drafter,
            "drafter_resolved": self.drafter_resolved,
            "config": self.config,
        }


def read_speculation(
    arguments: Arguments, model: str | None, scope: Scope | None
) -> Speculation | None:
    """Return how the launch drafts, ``None`` when it does not."""
    given = arguments.last(FLAG)
    read = _given(given, scope)
    written = read.value if isinstance(read.value, dict) else {}
    dashed = tuple(one for one in written if _DASHED.fullmatch(one))
    config = {
        key.replace("-", "_") if key in dashed else key: value
        for key, value in written.items()
    }
    shortcuts = _shortcuts(arguments)
    repeated = tuple(sorted(set(config) & set(shortcuts)))
    config.update(shortcuts)
    old = _old(arguments)
    if given is None and not config and not old:
        return _implied(model)
    config.update({key: value for key, value in old.items() if key not in config})
    return replace(
        speculation_of(config, model, scope),
        damage=read.damage,
        argument=given,
        old_flags=bool(old),
        repeated=repeated,
        dashed=dashed,
    )


def speculation_of(
    config: dict[str, Json], model: str | None, scope: Scope | None
) -> Speculation:
    """Read a config object."""
    written = config.get("method")
    method = str(written) if isinstance(written, str) else None
    draft = config.get("model")
    path = draft if isinstance(draft, str) else None
    resolved = scope.resolve(path) if scope and path else path
    own = path is None or path == model or _names_ngram(path)
    return Speculation(
        method=normalised(method) if method else _guess(resolved, model, config),
        method_as_written=method,
        num_speculative_tokens=_count(config.get("num_speculative_tokens"), scope),
        drafter=None if own else path,
        drafter_resolved=None if own else resolved,
        config=config,
    )


def normalised(written: str) -> str:
    """Return the method that a spelling means; an unknown one comes back in lower case."""
    lowered = written.strip().lower().replace("-", "_")
    if lowered.endswith("_mtp") or lowered == "nextn":
        return Method.MTP.value
    return {"eagle_3": "eagle3", "draft": "draft_model"}.get(lowered, lowered)


def _names_ngram(path: str) -> bool:
    return path in ("ngram", "[ngram]") or bracketed(path) is not None


def bracketed(path: str) -> str | None:
    """Return the method that a name in brackets stands for or comes near to, as ``[ngram]``."""
    if not (path.startswith("[") and path.endswith("]")):
        return None
    near = difflib.get_close_matches(path[1:-1], ["ngram"], n=1, cutoff=0.6)
    return near[0] if near else None


def _guess(path: str | None, model: str | None, config: dict[str, Json]) -> str | None:
    """What vLLM itself would take when no method is given, by the drafter's path."""
    if path is None:
        by_itself = model and _MTP_BY_ITSELF.search(model)
        return "mtp" if by_itself and "num_speculative_tokens" in config else None
    if _names_ngram(path):
        return "ngram"
    lowered = path.lower()
    for part, method in _BY_PATH:
        if part in lowered:
            return method
    if path == model or _GEMMA_ASSISTANT.search(path):
        return "mtp"
    return "draft_model"


def _count(value: Json, scope: Scope | None) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        text = scope.resolve(value) if scope else value
        return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None
    return None


def _given(argument: Argument | None, scope: Scope | None) -> JsonValue:
    if argument is None:
        return JsonValue(None)
    if argument.value is None:
        return JsonValue(None, Damage.OTHER)
    word = argument.value_word
    read = read_json(argument.value)
    if read.damage is not None and scope is not None and "$" in argument.value:
        read = _resolved(argument.value, scope, read)
    if read.damage is Damage.OTHER and word is not None and word.damaged:
        return JsonValue(read.value, Damage.QUOTES_EATEN)
    return _as_object(read, argument) if read.damage is None else read


def _as_object(read: JsonValue, argument: Argument) -> JsonValue:
    """Sound JSON that is no object, or that a shell handed over in pieces, is damaged all the same."""
    if isinstance(read.value, str):
        return JsonValue(read_json(read.value).value, Damage.QUOTES_INSIDE)
    if not isinstance(read.value, dict):
        return JsonValue(None, Damage.OTHER)
    pieces = len(argument.words) - (0 if argument.attached else 1)
    return JsonValue(read.value, Damage.SPLIT if pieces > 1 else None)


def _resolved(text: str, scope: Scope, before: JsonValue) -> JsonValue:
    value = scope.resolve(text)
    read = read_json(value)
    if read.damage is None:
        return read
    numbers = re.sub(r":\s*\$\{?[A-Za-z_]\w*\}?(?=\s*[,}])", ":null", value)
    unknown = read_json(numbers)
    if unknown.damage is None:
        return unknown
    if value.startswith("$"):
        return JsonValue({}, None)
    return read if before.value is None else before


def _shortcuts(arguments: Arguments) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for one in arguments.flags:
        base, dot, key = one.name.partition(".")
        if base == FLAG and dot and one.value is not None:
            found[key.replace("-", "_")] = _typed(one.value)
        elif one.name in SHORTCUTS and one.value is not None:
            found[SHORTCUTS[one.name]] = _typed(one.value)
    return found


def _old(arguments: Arguments) -> dict[str, Json]:
    return {
        OLD_SPECULATIVE[one.name]: _typed(one.value)
        for one in arguments.flags
        if one.name in OLD_SPECULATIVE and one.value is not None
    }


def _typed(text: str) -> Json:
    if re.fullmatch(r"-?\d{1,9}", text):
        return int(text)
    if text in ("true", "false"):
        return text == "true"
    if text.startswith(("[[", "{")) or re.fullmatch(r"-?\d{1,9}\.\d{1,9}", text):
        return read_json(text).value
    return text


def _implied(model: str | None) -> Speculation | None:
    """A speculators checkpoint served directly carries its own config (vLLM 0.11.0 and later)."""
    if model is None or not _SPECULATORS.search(model):
        return None
    lowered = model.lower()
    method = next((name for part, name in _BY_PATH if part in lowered), None)
    return Speculation(
        method=method,
        method_as_written=None,
        num_speculative_tokens=None,
        drafter=None,
        drafter_resolved=None,
        config={},
        implied=True,
    )
