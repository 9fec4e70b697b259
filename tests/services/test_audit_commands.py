"""``export_audit`` and ``verify_audit``: what they print, and what they exit with."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from deployments.models import AuditEntry, AuditHead
from deployments.selectors import audit_chain
from tests.audit_rows import AuditEntryFactory
from tests.emptying import triggers_set_aside

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An export of three entries."""
    for _ in range(3):
        AuditEntryFactory.create(reason="机器坏了")
    said = StringIO()
    call_command("export_audit", stdout=said)
    path = tmp_path / "audit.jsonl"
    path.write_text(said.getvalue(), encoding="utf-8")
    return path


def verify(*arguments: str) -> tuple[int, str]:
    """The exit code and what is printed."""
    said = StringIO()
    try:
        call_command("verify_audit", *arguments, stdout=said)
    except SystemExit as ended:
        return int(str(ended.code)), said.getvalue().strip()
    return 0, said.getvalue().strip()


def test_a_chain_that_holds_is_said_with_its_end(file: Path) -> None:
    last = AuditEntry.objects.get(sequence=3)
    sentence = f"3 entries, every one holds, the last is {last.digest}."
    assert verify() == verify(str(file)) == (0, sentence)
    code, said = verify("--json")
    assert (code, json.loads(said)) == (
        0,
        {"entries": 3, "digest": last.digest, "broken": None},
    )


def test_an_empty_chain_holds() -> None:
    assert verify() == (0, "0 entries, every one holds.")


def test_the_first_broken_row_is_named(file: Path) -> None:
    with triggers_set_aside():
        AuditEntry.objects.filter(sequence=2).update(actor_name="mallory")
    code, said = verify()
    assert code == 1
    assert said == "Broken at entry 2: its content is not what its digest covers."
    code, said = verify("--json")
    assert (code, json.loads(said)["broken"]["sequence"]) == (1, 2)


def test_a_changed_export_is_named_too(file: Path) -> None:
    first, second, third = file.read_text().splitlines()
    file.write_text("\n".join((first, third, second)))
    assert verify(str(file)) == (
        1,
        "Broken at entry 2: entry 2 is missing: 3 stands in its place.",
    )
    file.write_text("\n".join((first, second.replace("机器坏了", "好"), third)))
    assert verify(str(file))[0] == 1
    # A file that ends early is a chain all the same: it was exported earlier.
    file.write_text("\n".join((first, second)))
    assert verify(str(file))[0] == 0


def test_a_database_that_was_written_anew_is_not_that_of_the_export(file: Path) -> None:
    with triggers_set_aside():
        AuditEntry.objects.all().delete()
        AuditHead.objects.all().delete()
    AuditEntryFactory.create()
    assert verify()[0] == 0
    code, said = verify(str(file))
    assert code == 1
    assert "the database has another entry in its place" in said
    assert verify(str(file), "--alone")[0] == 0


@pytest.mark.parametrize("line", ["no json", "[1]", "3", "[" * 100_000])
def test_what_is_no_export_is_said_with_its_line(file: Path, line: str) -> None:
    file.write_text(f"{file.read_text()}{line}\n")
    with pytest.raises(CommandError, match="Line 4 is no JSON object") as said:
        call_command("verify_audit", str(file))
    assert said.value.returncode == 2


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read") as said:
        call_command("verify_audit", str(tmp_path / "none.jsonl"))
    assert said.value.returncode == 2


def test_a_later_run_begins_after_what_held(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = AuditEntry.objects.get(sequence=2)
    after, last = f"2,{second.digest}", AuditEntry.objects.get(sequence=3).digest
    with triggers_set_aside():
        AuditEntry.objects.filter(sequence=1).update(actor_name="mallory")
    assert verify()[0] == 1
    # What was verified before is not read again, and the rest follows from it.
    held = (0, f"3 entries, every one holds, the last is {last}.")
    assert verify("--after", after) == held
    other = f"2,{last}"
    code, said = verify("--after", other)
    assert (code, said.startswith("Broken at entry 2: it is not the entry")) == (
        1,
        True,
    )
    for wrong in ("2", f"x,{last}", "2,sha256:ab"):
        with pytest.raises(CommandError, match="number and a digest"):
            verify("--after", wrong)
    with pytest.raises(CommandError, match="for the database"):
        verify(str(file), "--after", after)
    monkeypatch.setattr(audit_chain, "TOLD_EVERY", 2)
    far = StringIO()
    call_command("verify_audit", "--after", after, stdout=StringIO(), stderr=far)
    assert far.getvalue() == ""
    AuditEntryFactory.create()
    call_command("verify_audit", "--after", after, stdout=StringIO(), stderr=far)
    assert far.getvalue() == "4 of 4 entries hold ...\n"
