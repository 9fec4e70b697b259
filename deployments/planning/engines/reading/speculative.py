"""The speculative config of a version: its keys, the spellings of ``method``, unknown keys."""

import ast
import json
from dataclasses import dataclass

from deployments.planning.engines.accepted import (
    SpeculativeKey,
    Spelling,
    UnknownKeys,
    ValueKind,
)
from deployments.planning.engines.reading.arguments import (
    ENGINE_ARGUMENTS,
    GetKwargsRules,
    field_settings,
)
from deployments.planning.engines.reading.evaluate import Evaluator
from deployments.planning.engines.reading.flags import choices_of, kind_of
from deployments.planning.engines.reading.hints import hints, literal_options
from deployments.planning.engines.reading.records import (
    RecordField,
    fields_of,
    method_of,
)
from deployments.planning.engines.reading.sources import (
    Definition,
    SourceTree,
    Symbol,
)
from deployments.planning.engines.reading.values import UNKNOWN, Member
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method, normalise_method
from deployments.planning.text import text

CONFIG = "vllm.config"
SET_BY_ENGINE = frozenset(
    {"target_model_config", "target_parallel_config", "draft_parallel_config"}
)
DRAFT_MODEL_CONFIG = "draft_model_config"
HIDDEN_STATES = "extract_hidden_states"
NOT_A_KEY = "'{name}' is not a valid argument"
REPLACED = "is deprecated and replaced with mtp"
DASHES = "replace('-', '_')"
OLD_CORE = "vllm/spec_decode/spec_decode_worker.py"
NEW_CORE = "vllm/v1/spec_decode/"
SECOND_RUNNER = "vllm/v1/worker/gpu/spec_decode/"
_EAGLE = (f"{NEW_CORE}eagle.py", f"{NEW_CORE}llm_base_proposer.py")
PROPOSERS: dict[Method, tuple[str, ...]] = {
    Method.MTP: _EAGLE,
    Method.EAGLE: _EAGLE,
    Method.EAGLE3: _EAGLE,
    Method.NGRAM: (f"{NEW_CORE}ngram_proposer.py",),
    Method.NGRAM_GPU: (f"{NEW_CORE}ngram_proposer_gpu.py",),
    Method.DRAFT_MODEL: (f"{NEW_CORE}draft_model.py",),
    Method.MEDUSA: (f"{NEW_CORE}medusa.py",),
    Method.SUFFIX: (f"{NEW_CORE}suffix_decoding.py",),
    Method.DFLASH: (f"{NEW_CORE}dflash.py", f"{SECOND_RUNNER}dflash/"),
    Method.DSPARK: (f"{NEW_CORE}dspark.py", f"{SECOND_RUNNER}dspark/"),
    Method.MLP_SPECULATOR: (),
}
"""The code that drafts, by method, in the V1 engine; the V0 engine (until 0.9.2) drafts them all."""
KEY_RULES = GetKwargsRules(
    records=True,
    mixed=True,
    open_literals=True,
    optional_switches=False,
    readable=frozenset(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeFacts:
    """What a version says of its speculative config; ``dashed_keys``: ``-`` may stand for ``_``."""

    keys: tuple[SpeculativeKey, ...]
    spellings: tuple[Spelling, ...]
    unknown_keys: UnknownKeys
    dashed_keys: bool


def read_speculative(tree: SourceTree) -> SpeculativeFacts:
    """Read ``SpeculativeConfig``.

    Raises:
        PlanningError: the sources hold none.
    """
    record = tree.find(CONFIG, "SpeculativeConfig")
    if not isinstance(record, Definition) or not isinstance(record.node, ast.ClassDef):
        raise PlanningError(
            text(
                "These sources hold no SpeculativeConfig of vLLM. Give the wheel or source archive "
                "of vllm 0.8.5 or later, or of vllm-ascend."
            )
        )
    fields = fields_of(tree, record)
    code = ast.unparse(record.node)
    words = _method_words(tree, fields)
    return SpeculativeFacts(
        keys=tuple(
            sorted(
                (_key(tree, field) for field in fields if _is_key(field, code, words)),
                key=lambda key: key.name,
            )
        ),
        spellings=tuple(
            _spelling(tree, word, renamed=REPLACED in code) for word in words
        ),
        unknown_keys=_unknown_keys(tree, record),
        dashed_keys=_dashed_keys(tree),
    )


def _dashed_keys(tree: SourceTree) -> bool:
    arguments = tree.find(ENGINE_ARGUMENTS, "EngineArgs")
    if not isinstance(arguments, Definition):
        return False
    found = method_of(tree, arguments, "create_speculative_config")
    return found is not None and DASHES in ast.unparse(found[1])


def _method_words(tree: SourceTree, fields: tuple[RecordField, ...]) -> list[str]:
    found = [field for field in fields if field.name == "method"]
    options = [
        option
        for field in found
        for option in literal_options(hints(tree, field.module, field.annotation))
    ]
    return sorted({option for option in options if isinstance(option, str)})


def _is_key(field: RecordField, code: str, words: list[str]) -> bool:
    if not field.given or field.name in SET_BY_ENGINE or field.name.startswith("_"):
        return False
    if field.name == DRAFT_MODEL_CONFIG:
        return HIDDEN_STATES in words
    return NOT_A_KEY.format(name=field.name) not in code


def _key(tree: SourceTree, field: RecordField) -> SpeculativeKey:
    settings = field_settings(tree, KEY_RULES, field)
    member = settings.get("type")
    nested = isinstance(member, Symbol) and member.name in {"tuple", "list", "other"}
    kind = ValueKind.JSON if nested else kind_of(settings)
    if field.name == DRAFT_MODEL_CONFIG:
        kind = ValueKind.JSON
    return SpeculativeKey(
        name=field.name,
        kind=kind,
        choices=()
        if field.name == "method"
        else tuple(one for one in choices_of(settings.get("choices")) if one != "None"),
        many="nargs" in settings,
        default=_default(tree, field),
    )


def _default(tree: SourceTree, field: RecordField) -> str | None:
    if field.default is None:
        return None
    evaluator = Evaluator(tree, lambda *_call: UNKNOWN)
    value = evaluator.in_module(field.default, field.module)
    plain = value.value if isinstance(value, Member) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return json.dumps(plain)
    return None


def _spelling(tree: SourceTree, word: str, *, renamed: bool) -> Spelling:
    try:
        method = normalise_method(word)
    except PlanningError:
        return Spelling(name=word, method=None)
    return Spelling(
        name=word,
        method=method,
        deprecated=renamed and method is Method.MTP and word != Method.MTP.value,
        runs=_runs(tree, method),
    )


def _runs(tree: SourceTree, method: Method) -> bool:
    if tree.has(OLD_CORE):
        return True
    return any(tree.has(place) or any(tree.paths(place)) for place in PROPOSERS[method])


def _unknown_keys(tree: SourceTree, record: Definition) -> UnknownKeys:
    """Plain dataclasses raise TypeError, pydantic ones ignore what they are not told to forbid."""
    ignoring = False
    for decorator in getattr(record.node, "decorator_list", ()):
        if "forbid" in ast.unparse(decorator):
            return UnknownKeys.ERROR
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        made = tree.find(record.module, ast.unparse(called))
        if isinstance(made, Definition) and "forbid" in ast.unparse(made.node):
            return UnknownKeys.ERROR
        if isinstance(made, Symbol) and made.name.startswith("pydantic."):
            ignoring = True
    return UnknownKeys.IGNORED if ignoring else UnknownKeys.ERROR
