"""Commands that vllm-project/recipes (2026-08-21) gives, with the release each begins at."""

import functools
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "recipes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeLaunch:
    """One command of a recipe: a variant, with or without one of its ways to draft."""

    model: str
    since: str
    name: str
    script: str


@functools.cache
def recipe_launches() -> tuple[RecipeLaunch, ...]:
    """Every variant of every recipe with every documented feature on."""
    read = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(one for recipe in read["recipes"] for one in _launches(recipe))


def _launches(recipe: dict[str, Any]) -> Iterator[RecipeLaunch]:
    ways: dict[str, dict[str, Any]] = {"": {}, **recipe.get("speculation", {})}
    for variant, details in recipe["variants"].items():
        for way, drafting in ways.items():
            if variant in drafting.get("variants", [variant]):
                yield RecipeLaunch(
                    model=recipe["model"],
                    since=recipe["since"],
                    name=f"{recipe['model']} {variant} {way}".strip(),
                    script=_script(recipe, details, drafting),
                )


def _script(
    recipe: dict[str, Any], details: dict[str, Any], drafting: dict[str, Any]
) -> str:
    features = [word for words in recipe.get("features", {}).values() for word in words]
    words = [
        *("vllm", "serve", details.get("model", recipe["model"])),
        *recipe.get("args", []),
        *details.get("args", []),
        *features,
        *drafting.get("args", []),
    ]
    environment = {**recipe.get("env", {}), **details.get("env", {})}
    exports = [
        f"export {name}={shlex.quote(str(value))}"
        for name, value in environment.items()
    ]
    return "\n".join((*exports, shlex.join(words))) + "\n"
