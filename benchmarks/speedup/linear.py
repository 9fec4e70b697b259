"""The little linear algebra that the fit needs, on lists."""

Matrix = list[list[float]]
Vector = list[float]


def cholesky(matrix: Matrix) -> Matrix:
    """Return the lower factor L of a positive definite matrix: L times its transpose."""
    size = len(matrix)
    lower = [[0.0] * size for _ in range(size)]
    for row in range(size):
        own = lower[row]
        for column in range(row + 1):
            other = lower[column]
            rest = matrix[row][column] - sum(
                a * b for a, b in zip(own[:column], other[:column], strict=True)
            )
            own[column] = rest**0.5 if row == column else rest / other[column]
    return lower


def forward(lower: Matrix, right: Vector) -> Vector:
    """Return x with lower times x = right."""
    found: Vector = []
    for row, value in zip(lower, right, strict=True):
        done = len(found)
        rest = value - sum(a * b for a, b in zip(row[:done], found, strict=True))
        found.append(rest / row[done])
    return found


def backward(lower: Matrix, right: Vector) -> Vector:
    """Return x with the transpose of lower times x = right."""
    size = len(right)
    found = [0.0] * size
    for row in range(size - 1, -1, -1):
        rest = right[row] - sum(
            lower[later][row] * found[later] for later in range(row + 1, size)
        )
        found[row] = rest / lower[row][row]
    return found


def solve(matrix: Matrix, right: Vector) -> Vector:
    """Return x with matrix times x = right, for a positive definite matrix."""
    lower = cholesky(matrix)
    return backward(lower, forward(lower, right))
