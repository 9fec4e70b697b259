"""``manage.py import_model``: keep a model that lies on a registered host in its team's catalog."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.http import QueryDict

from deployments.forms.catalog.entry import DrafterForm, EntryForm, TargetForm
from deployments.management.registered import (
    UNUSABLE,
    registered_host,
    registered_person,
)
from deployments.models import Host, ModelDirectory, TargetModel, Team, User
from deployments.planning.documents import from_document
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.model_config.documents import read_config, read_index
from deployments.planning.model_config.reading import ModelReading, read_model
from deployments.services.catalog_entries import import_drafter, import_target
from deployments.services.errors import UseCaseError
from deployments.services.model_directories import read_model_directory

NAMING = ("repository", "family", "checkpoint", "active_parameters")
DRAFTING = ("method", "num_speculative_tokens")


class Command(BaseCommand):
    """What the page of the import does with a directory of a host, in one line."""

    help = "Import a model from a directory on a host into the catalog of its team."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("directory", help="on the host, such as /data/models/X")
        parser.add_argument("--host", required=True, help="name of a registered host")
        parser.add_argument(
            "--cluster", help="its cluster, where the name is not unique"
        )
        parser.add_argument(
            "--person", required=True, help="user name of the operator who imports it"
        )
        parser.add_argument(
            "--key", help="organisation/model; without it, the directory's name"
        )
        for name in NAMING:
            parser.add_argument(f"--{name.replace('_', '-')}")
        parser.add_argument(
            "--platforms",
            help="where it runs, such as nvidia,amd; without it, the host's platform",
        )
        parser.add_argument(
            "--answer",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a fact that the files leave open, such as holds_mtp=yes",
        )
        parser.add_argument(
            "--drafts-for", metavar="MODEL", help="key of the model that it drafts for"
        )
        parser.add_argument("--method", help="how it drafts, such as eagle3")
        parser.add_argument("--num-speculative-tokens")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read, keep and say so; exit 2 for what cannot be read or kept."""
        user = registered_person(options["person"])
        host = registered_host(
            Host.objects.for_user(user), options["host"], options["cluster"]
        )
        try:
            reading = _reading(host, options["directory"].rstrip("/"))
            row = _kept(user, host, reading, options)
        except (UseCaseError, PlanningError) as error:
            raise CommandError(str(error), returncode=UNUSABLE) from error
        answers = [one.partition("=")[0] for one in options["answer"]]
        asked = [one for one in reading.asked if not _is_answered(one.name, answers)]
        if options["json"]:
            told = {
                "model": row.key,
                "team": host.cluster.team.name,
                "asked": [{"name": one.name, "why": str(one.why)} for one in asked],
            }
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        self.stdout.write(f"{row.key} is in the catalog of {host.cluster.team.name}.")
        for one in asked:
            self.stdout.write(f"  not told: {one.name}: {one.why}")


def _reading(host: Host, path: str) -> ModelReading:
    """What a worker read there, with the bytes of the tensors; else config.json and index."""
    rows = ModelDirectory.objects.filter(host=host, path=path, reading__isnull=False)
    listed = rows.first()
    if listed is not None:
        return from_document(ModelReading, listed.reading)
    files = read_model_directory(host, path)
    index = None if files.index is None else read_index(files.index)
    return read_model(read_config(files.config), index)


def _kept(
    user: User, host: Host, reading: ModelReading, options: dict[str, Any]
) -> TargetModel:
    team = host.cluster.team
    data = _data(host, options)
    if options["drafts_for"] is None and reading.target:
        form = TargetForm(data, reading, [team])
        _check(form, options["answer"])
        return import_target(user, team, form.answered, form.naming)
    target = _target(user, team, options["drafts_for"] or reading.verifier)
    data["target"] = str(target.pk)
    data["method"] = options["method"] or (reading.method or Method.DRAFT_MODEL).value
    drafter = DrafterForm(data, reading, [team], targets=[(str(target.pk), target.key)])
    _check(drafter, options["answer"])
    return import_drafter(user, team, reading, target, drafter.drafter)


def _data(host: Host, options: dict[str, Any]) -> QueryDict:
    """The answers as the page's form would send them."""
    data = QueryDict(mutable=True)
    for answer in options["answer"]:
        name, _, value = answer.partition("=")
        data[name] = value
    for name in (*NAMING, *DRAFTING):
        data[name] = options[name] or ""
    directory = PurePosixPath(options["directory"]).name
    data["team"] = str(host.cluster.team_id)
    data["key"] = options["key"] or directory
    data["directory"] = directory
    platforms = options["platforms"] or host.platform
    data.setlist("platforms", [one.strip() for one in platforms.split(",")])
    return data


def _target(user: User, team: Team, key: str | None) -> TargetModel:
    if not key:
        raise CommandError(
            "It is a drafter; name the model that it drafts for with --drafts-for.",
            returncode=UNUSABLE,
        )
    rows = TargetModel.objects.for_user(user).filter(key=key)
    found = rows.filter(team=team).first() or rows.filter(team=None).first()
    if found is None:
        raise CommandError(
            f"The catalog has no model {key}; import that first.", returncode=UNUSABLE
        )
    return found


def _check(form: EntryForm, answers: Iterable[str]) -> None:
    """Refuse an answer that nothing asks for, and what the form refuses."""
    naming = {*NAMING, *DRAFTING, "team", "key", "directory", "platforms", "target"}
    asked = sorted(set(form.fields) - naming)
    for answer in answers:
        name, equals, _ = answer.partition("=")
        if not equals or name not in asked:
            raise CommandError(
                f"--answer {answer}: write NAME=VALUE with one of: "
                f"{', '.join(asked) or 'nothing is asked'}.",
                returncode=UNUSABLE,
            )
    for name, errors in form.errors.items():
        raise CommandError(f"{name}: {errors[0]}", returncode=UNUSABLE)


def _is_answered(name: str, answers: Iterable[str]) -> bool:
    parts = {
        "attention": ("attention_kind",),
        "experts": ("experts_total", "experts_active"),
    }
    return all(one in answers for one in parts.get(name, (name,)))
