"""read_profile: the sources of an engine in, its profile out."""

import re
from collections.abc import Callable, Mapping

from deployments.planning.engines.definition import (
    VLLM,
    VLLM_ASCEND,
    EngineProfile,
)
from deployments.planning.engines.reading.ascend import (
    PLUGIN,
    plugin_flags,
    plugin_spellings,
    step_limit,
)
from deployments.planning.engines.reading.flags import read_flags
from deployments.planning.engines.reading.image import official_entrypoint, vllm_base
from deployments.planning.engines.reading.metrics import read_metrics
from deployments.planning.engines.reading.sources import Definition, SourceTree
from deployments.planning.engines.reading.speculative import read_speculative
from deployments.planning.errors import PlanningError
from deployments.planning.text import text
from deployments.planning.versions import parse_version

WANTED = (
    "vllm/config",
    "vllm/distributed/",
    "vllm/engine/",
    "vllm/entrypoints/",
    "vllm/model_executor/layers/quantization/__init__.py",
    "vllm/model_executor/model_loader/__init__.py",
    "vllm/parser/",
    "vllm/platforms/",
    "vllm/reasoning/",
    "vllm/renderers/",
    "vllm/spec_decode/",
    "vllm/tool_parsers/",
    "vllm/transformers_utils/",
    "vllm/utils",
    "vllm/v1/",
    "vllm/version.py",
    "vllm/__init__.py",
    "vllm_ascend/__init__.py",
    "vllm_ascend/attention/",
    "vllm_ascend/platform.py",
    "vllm_ascend/spec_decode/",
    "vllm_ascend/worker/",
    "docker/Dockerfile",
    "Dockerfile",
    "PKG-INFO",
)
"""The files that a profile is read from, by the beginning of their path."""
CAPTURE_LIMIT_TOKENS = 512
"""Largest graph that vLLM captures unasked, 0.8.5 to 0.33.0; data-centre Blackwell has 1024 there."""
SECOND_RUNNER_LISTED = "_is_default_v2_model_runner_model"
"""While this decides, only listed architectures run on the second model runner (0.22 to 0.28)."""
_METADATA_VERSION = re.compile(r"^Version:\s*(\S+)\s*$", re.MULTILINE)


def is_wanted(path: str) -> bool:
    """Whether the reader looks at a file of the package."""
    if path.startswith("vllm/model_executor/models/"):
        return False
    return path.startswith(WANTED) or path.endswith(".dist-info/METADATA")


def read_profile(
    files: Mapping[str, str],
    *,
    source: str,
    version: str | None = None,
    base: Callable[[str], EngineProfile] | None = None,
) -> EngineProfile:
    """Read the profile of vLLM, or of vllm-ascend where its files are among them.

    ``files`` are texts by path from the top of the package. ``source`` says where they come from,
    in words for people. ``base`` finds the profile of the vLLM release under vllm-ascend when the
    files hold only the plugin.

    Raises:
        PlanningError: the files are none of an engine, or their version is not named.
    """
    tree = SourceTree(files)
    if any(tree.paths(PLUGIN)):
        return _plugin_profile(tree, source=source, version=version, base=base)
    return _vllm_profile(tree, source, version or _version(tree, VLLM))


def _vllm_profile(tree: SourceTree, source: str, version: str) -> EngineProfile:
    speculative = read_speculative(tree)
    flags = read_flags(tree)
    if not flags:
        raise PlanningError(
            text(
                "These sources hold no command line of vllm serve; give a whole wheel or archive."
            )
        )
    keys = {key.name for key in speculative.keys}
    return EngineProfile(
        engine=VLLM,
        version=version,
        vllm_version=version,
        source=source,
        entrypoint=official_entrypoint(tree, ascend=False),
        arguments=flags,
        keys=speculative.keys,
        spellings=speculative.spellings,
        unknown_keys=speculative.unknown_keys,
        dashed_keys=speculative.dashed_keys,
        metrics=read_metrics(tree),
        capture_limit_tokens=CAPTURE_LIMIT_TOKENS,
        draft_eager_effective="enforce_eager" in keys
        and not _second_runner_is_default(tree),
    )


def _plugin_profile(
    tree: SourceTree,
    *,
    source: str,
    version: str | None,
    base: Callable[[str], EngineProfile] | None,
) -> EngineProfile:
    version = version or _version(tree, VLLM_ASCEND)
    under = _underneath(tree, source, base)
    return EngineProfile(
        engine=VLLM_ASCEND,
        version=version,
        vllm_version=under.version,
        source=source,
        entrypoint=official_entrypoint(tree, ascend=True),
        arguments=plugin_flags(under.arguments),
        keys=under.keys,
        spellings=plugin_spellings(tree, under.spellings),
        unknown_keys=under.unknown_keys,
        dashed_keys=under.dashed_keys,
        metrics=under.metrics,
        capture_limit_tokens=under.capture_limit_tokens,
        max_tokens_per_step=step_limit(tree),
        draft_eager_effective=under.knows_key("enforce_eager"),
    )


def _underneath(
    tree: SourceTree, source: str, base: Callable[[str], EngineProfile] | None
) -> EngineProfile:
    if tree.has("vllm/engine/arg_utils.py"):
        return _vllm_profile(tree, source, _version(tree, VLLM))
    release = vllm_base(tree)
    if release is None or base is None:
        raise PlanningError(
            text(
                "The vLLM release under this vllm-ascend is not named in its sources; give the "
                "source archive, which holds the Dockerfile, or the image itself."
            )
        )
    return base(release)


def _second_runner_is_default(tree: SourceTree) -> bool:
    config = tree.find("vllm.config", "VllmConfig")
    text = tree.text(
        tree.path_of(config.module)
        if isinstance(config, Definition)
        else "vllm/config.py"
    )
    return "def use_v2_model_runner" in text and SECOND_RUNNER_LISTED not in text


def _version(tree: SourceTree, engine: str) -> str:
    """The version that the package's own metadata names, local parts (``+cpu``) left out."""
    package = engine.replace("-", "_")
    for path in tree.files:
        folder = path.partition("/")[0]
        own = folder.startswith((f"{package}-", f"{package}_cpu-"))
        if path == "PKG-INFO" or (own and path.endswith(".dist-info/METADATA")):
            found = _METADATA_VERSION.search(tree.text(path))
            if found is not None:
                return released(found[1])
    raise PlanningError(
        text(
            "The version of {engine} is not named in these sources; give it with --engine-version.",
            engine=engine,
        )
    )


def released(version: str) -> str:
    """The release that a version is built from: ``0.23.1rc1`` of ``0.23.1rc1.dev12+g0123``.

    Raises:
        PlanningError: it is no version.
    """
    public = version.partition("+")[0]
    return str(parse_version(re.split(r"\.?dev\d*", public)[0]))
