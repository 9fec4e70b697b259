"""The speed model against the shipped measurements, with sources left out of the fit."""

import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import speedup_accuracy
from benchmarks.speedup.accuracy import (
    calibrated_errors,
    errors_of,
    quantile,
    sweeps,
)
from benchmarks.speedup.fitting import fit
from benchmarks.speedup.linear import solve
from benchmarks.speedup.report import Report, as_document, as_text, report
from benchmarks.speedup.rows import SHIPPED_POINTS, is_early, read_points
from deployments.planning.canonical import Json
from deployments.planning.speedup.constants import shipped_constants, shipped_fit


@pytest.fixture(scope="module")
def found() -> Report:
    return report(read_points(SHIPPED_POINTS), shipped_constants(), fitted_file=True)


@pytest.fixture(scope="module")
def table(found: Report) -> dict[str, Json]:
    return as_document(found)


def number(document: Json, *path: str) -> float:
    for key in path:
        assert isinstance(document, dict)
        document = document[key]
    assert isinstance(document, int | float)
    return float(document)


def test_constants_fitted_without_the_source_keep_the_promised_error(
    table: dict[str, Json],
) -> None:
    assert number(table, "leave_source_out", "median_error") <= 0.16
    assert number(table, "leave_source_out", "p90_error") <= 0.34


def test_one_calibrating_row_keeps_the_promised_error(table: dict[str, Json]) -> None:
    assert number(table, "calibrated", "median_error") <= 0.07
    assert number(table, "calibrated", "p90_error") <= 0.22


def test_the_two_constant_formula_is_beaten(table: dict[str, Json]) -> None:
    for kind in ("leave_source_out", "two_constants_leave_source_out"):
        assert number(table, kind, "median_error") > 0
    for part in ("median_error", "p90_error"):
        assert number(table, "leave_source_out", part) < number(
            table, "two_constants_leave_source_out", part
        )
        assert number(table, part) < number(table, "two_constants", part)
    assert number(table, "splits_won") >= 0.8 * number(table, "splits")


def test_the_choice_of_the_count_costs_little(table: dict[str, Json]) -> None:
    assert number(table, "best_k_sweeps") >= 30
    assert number(table, "best_k_regret_mean") <= 0.02


def test_every_row_is_used_or_left_out_for_a_reason(table: dict[str, Json]) -> None:
    left_out = table["left_out"]
    assert isinstance(left_out, dict)
    assert sum(number(left_out, reason) for reason in left_out) == number(
        table, "rows"
    ) - number(table, "used")


def test_the_shipped_constants_are_what_the_fit_gives() -> None:
    fitted = asdict(fit(read_points(SHIPPED_POINTS).measurements))
    assert asdict(shipped_constants()) == pytest.approx(fitted, rel=1e-3)


def test_the_shipped_constants_belong_to_the_shipped_points() -> None:
    assert shipped_fit().points_sha256 == read_points(SHIPPED_POINTS).digest()


def test_another_file_is_scored_with_the_shipped_constants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = SHIPPED_POINTS.read_text(encoding="utf-8").splitlines()
    held_back = tmp_path / "held_back.csv"
    held_back.write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    assert speedup_accuracy.main(["--points", str(held_back), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["leave_source_out"] is None
    assert (answer["rows"], answer["used"]) == (39, 39)


def test_an_unusable_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "points.csv"
    assert speedup_accuracy.main(["--points", str(file)]) == 2
    file.write_text("id\n", encoding="utf-8")
    assert speedup_accuracy.main(["--points", str(file)]) == 2
    assert "cannot be used" in capsys.readouterr().err


def test_the_table_for_people_names_the_left_out_rows(found: Report) -> None:
    printed = as_text(found)
    assert "without the row's source" in printed
    assert "llama.cpp" in printed


def test_a_calibrating_row_takes_its_own_deployment_s_error_away() -> None:
    rows = read_points(SHIPPED_POINTS).measurements
    shifted = {row.key: math.log(1.3) for row in rows}
    found = calibrated_errors(rows, shifted)
    assert len(found) == len(rows) - len({row.deployment for row in rows})
    assert errors_of(found.values()).ninety == pytest.approx(0)


def test_a_perfect_choice_has_no_regret() -> None:
    rows = read_points(SHIPPED_POINTS).measurements
    found = sweeps(rows, lambda row: row.speedup)
    assert {sweep.regret for sweep in found} == {0.0}


@pytest.mark.parametrize(
    ("source", "engine", "early"),
    [
        ("vllm#20780", "vllm", True),
        ("vllm#24343", "vllm", False),
        ("EAGLE-3 paper Table 3", "sglang", True),
        ("sglang#10281", "sglang", False),
        ("vLLM blog 2026-03-13 P-EAGLE figs 4-6", "vllm", False),
        ("anything", "vllm-v0", True),
    ],
)
def test_the_age_of_an_engine_follows_from_its_source(
    source: str, engine: str, *, early: bool
) -> None:
    assert is_early(source, engine) is early


def test_small_systems_are_solved() -> None:
    assert solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]) == pytest.approx(
        [1 / 11, 7 / 11]
    )


def test_quantiles_are_linear_between_neighbours() -> None:
    assert quantile([0.0, 1.0, 2.0, 3.0], 0.5) == 1.5


def test_bands_come_from_rows_that_the_constants_had_not_seen() -> None:
    bands = shipped_fit().bands
    assert bands["calibrated"].median < bands["dense"].median
    assert bands["dense"].rows + bands["mixture"].rows == shipped_fit().rows
