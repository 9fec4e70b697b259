"""``manage.py recommend_method``: the decision tree's answer for a model and a platform."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from deployments.management.model_files import ModelFiles, asked_answer, asked_lines
from deployments.planning.errors import PlanningError
from deployments.planning.recommendation import (
    Recommendation,
    recommend,
    recommendation_answer,
)
from deployments.selectors.engine_profiles import own_profiles_if_any

UNUSABLE = 2


class Command(BaseCommand):
    """Recommend how to draft."""

    help = "Say which speculative method fits a model on a platform, and why."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "model", help="catalog id, such as zai-org/GLM-5.2, or a path"
        )
        parser.add_argument("--platform", required=True, help="nvidia, ascend-a3, ...")
        parser.add_argument(
            "--config-json",
            metavar="FILE",
            help="config.json of the model, which may then be a path",
        )
        parser.add_argument(
            "--index-json",
            metavar="FILE",
            help="model.safetensors.index.json, which shows whether the MTP tensors exist",
        )
        parser.add_argument("--checkpoint")
        parser.add_argument("--engine", help="such as vllm==0.32.0")
        parser.add_argument("--concurrency", type=int, help="requests served at once")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Decide and print; exit 2 for unusable input."""
        files = ModelFiles(options["config_json"], options["index_json"])
        try:
            model, asked = files.target(options["model"], options["checkpoint"])
            given = recommend(
                model,
                options["platform"],
                checkpoint=options["checkpoint"],
                engine=options["engine"],
                own=own_profiles_if_any(options["engine"]),
            )
        except PlanningError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        if options["json"]:
            answer = recommendation_answer(given, options["concurrency"])
            answer = {**answer, "asked": asked_answer(asked)}
            self.stdout.write(json.dumps(answer, ensure_ascii=False))
        else:
            self.stdout.write("\n".join((*asked_lines(asked), _summary(given))))


def _summary(given: Recommendation) -> str:
    decision = given.decision
    lines = [f"{step.question} {step.answer}: {step.because}" for step in decision.path]
    counts = ", ".join(f"{role.value} {count}" for role, count in given.per_role)
    lines.append(f"Method: {decision.method}" + (f" ({counts})" if counts else ""))
    if given.drafter:
        lines.append(f"Drafter: {given.drafter}")
    lines.append("Others:")
    for one in decision.methods:
        if one.method != decision.method:
            state = "open" if one.open else "closed"
            lines.append(f"  {one.method} ({state}): {one.because}")
    return "\n".join(lines)
