"""Constants from measurements: least squares with priors, source effects and few outliers trusted."""

import math
from collections.abc import Sequence

from benchmarks.speedup.linear import Matrix, Vector, backward, cholesky, forward, solve
from benchmarks.speedup.priors import PRIORS, prior_constants
from benchmarks.speedup.rows import Measurement
from deployments.planning.speedup.constants import CONSTANT_NAMES, Constants

SOURCE_SPREAD = 0.12
DEPLOYMENT_SPREAD = 0.14
ROW_SPREAD = 0.08
FREEDOM = 4.0
ROUNDS = 7
LARGEST_MOVE = 0.5
_NUDGE = 1e-3


def fit(measurements: Sequence[Measurement]) -> Constants:
    """Return the most plausible constants.

    The error of a row's logarithm is a part that its whole source shares (other engine version,
    borrowed acceptance), a part that its deployment shares, and its own. So a source with many rows
    counts little more than one with few, and what counts is how rows differ inside a source. Rows
    far off the rest of theirs lose weight as under a Student distribution with 4 degrees of freedom.
    """
    blocks = _by_source(measurements)
    start = [math.log(PRIORS[name].value) for name in CONSTANT_NAMES]
    point = list(start)
    weights = [[1.0] * len(block) for block in blocks]
    for _ in range(ROUNDS):
        point = _improved(point, start, blocks, weights)
        constants = _constants(point)
        weights = [
            _weights(block, old, constants)
            for block, old in zip(blocks, weights, strict=True)
        ]
    return _constants(point)


def log_error(measurement: Measurement, constants: Constants) -> float:
    """Return ln(predicted / measured)."""
    return math.log(measurement.predicted(constants) / measurement.speedup)


def _improved(
    point: Vector,
    start: Vector,
    blocks: list[list[Measurement]],
    weights: list[Vector],
) -> Vector:
    """One Gauss-Newton step on the penalised sum of squares."""
    size = len(point)
    spreads = [PRIORS[name].spread for name in CONSTANT_NAMES]
    normal = [[0.0] * size for _ in range(size)]
    right = [0.0] * size
    for index in range(size):
        normal[index][index] = spreads[index] ** -2
        right[index] = (start[index] - point[index]) * spreads[index] ** -2
    for block, own in zip(blocks, weights, strict=True):
        lower = cholesky(_covariance(block, own))
        errors, slopes = _errors_and_slopes(block, point)
        white_errors = forward(lower, errors)
        white = [forward(lower, slope) for slope in slopes]
        for index in range(size):
            right[index] -= _dot(white[index], white_errors)
            for other in range(size):
                normal[index][other] += _dot(white[index], white[other])
    move = solve(normal, right)
    return [
        value + max(-LARGEST_MOVE, min(LARGEST_MOVE, change))
        for value, change in zip(point, move, strict=True)
    ]


def _errors_and_slopes(
    block: list[Measurement], point: Vector
) -> tuple[Vector, list[Vector]]:
    errors = _errors(block, _constants(point))
    slopes = []
    for index in range(len(point)):
        nudged = list(point)
        nudged[index] += _NUDGE
        there = _errors(block, _constants(nudged))
        slopes.append(
            [(new - old) / _NUDGE for new, old in zip(there, errors, strict=True)]
        )
    return errors, slopes


def _weights(block: list[Measurement], old: Vector, constants: Constants) -> Vector:
    """Return the trust in each row, after what its source and deployment share is taken out."""
    covariance = _covariance(block, old)
    lower = cholesky(covariance)
    errors = _errors(block, constants)
    pulled = backward(lower, forward(lower, errors))
    own = [
        pull * ROW_SPREAD**2 / weight for pull, weight in zip(pulled, old, strict=True)
    ]
    return [(FREEDOM + 1) / (FREEDOM + (value / ROW_SPREAD) ** 2) for value in own]


def _covariance(block: list[Measurement], weights: Vector) -> Matrix:
    matrix: Matrix = []
    for row, weight in zip(block, weights, strict=True):
        line = [
            SOURCE_SPREAD**2
            + (DEPLOYMENT_SPREAD**2 if other.deployment == row.deployment else 0.0)
            for other in block
        ]
        line[len(matrix)] += ROW_SPREAD**2 / weight
        matrix.append(line)
    return matrix


def _errors(block: list[Measurement], constants: Constants) -> Vector:
    return [log_error(row, constants) for row in block]


def _constants(point: Vector) -> Constants:
    values = prior_constants()
    named = {
        name: math.exp(value) for name, value in zip(CONSTANT_NAMES, point, strict=True)
    }
    return type(values)(**named)


def _by_source(measurements: Sequence[Measurement]) -> list[list[Measurement]]:
    sources = sorted({row.source for row in measurements})
    return [[row for row in measurements if row.source == name] for name in sources]


def _dot(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
