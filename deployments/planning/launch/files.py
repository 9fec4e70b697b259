"""The files of a plan: one folder per host, and the plan itself on top."""

import json

from deployments.planning.container import ContainerSpec
from deployments.planning.launch.compose import compose_file
from deployments.planning.launch.script import launch_script
from deployments.planning.launch.words import spec_texts
from deployments.planning.plan import Plan
from deployments.planning.variables import (
    EXPLANATIONS,
    KEY_IN_FILES,
    SECRET_EXPLANATION,
    variables_in,
)


def launch_files(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return (path, text) of every file, sorted by path.

    A host's folder is named after the host. ``.env.example`` lists what nobody has told the panel;
    copied to ``.env`` and filled in, compose and the script read it.
    """
    by_host: dict[str, list[ContainerSpec]] = {}
    for replica in plan.replicas:
        by_host.setdefault(replica.host, []).append(replica.container)
    files = {"plan.json": _plan_text(plan)}
    for host, specs in by_host.items():
        files[f"{host}/docker-compose.yaml"] = compose_file(specs)
        files[f"{host}/launch.sh"] = launch_script(specs)
        files[f"{host}/.env.example"] = env_example(specs)
    return tuple(sorted(files.items()))


def env_example(specs: list[ContainerSpec]) -> str:
    """Write the variables of one host with their meaning, values left empty."""
    used = variables_in(text for spec in specs for text in spec_texts(spec))
    explained = {name: EXPLANATIONS[name] for name in used}
    if any(spec.secrets for spec in specs):
        explained[KEY_IN_FILES] = SECRET_EXPLANATION
    if not explained:
        return "# Nothing to fill in: the plan knows every value.\n"
    lines = ["# Copy to .env and fill in; docker compose and launch.sh read it."]
    for name, explanation in explained.items():
        lines += [f"# {explanation}", f"{name}="]
    return "\n".join(lines) + "\n"


def _plan_text(plan: Plan) -> str:
    document = {"digest": plan.digest, "plan": plan.document}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
