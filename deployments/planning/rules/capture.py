"""Graph capture in numbers: sizes count tokens, and a decode batch must meet one of them."""

GRID_START = (1, 2, 4)
FINE_STEP = 8
COARSE_FROM = 256
COARSE_STEP = 16


def not_multiples(sizes: tuple[int, ...], step: int) -> tuple[int, ...]:
    """Return the capture sizes that a batch of requests with ``step`` tokens each never meets."""
    return tuple(size for size in sizes if size % step)


def default_grid(limit: int) -> tuple[int, ...]:
    """Return the sizes that the engine captures up to a limit in tokens when no list is given.

    1, 2, 4, multiples of 8 up to 256, then of 16 (vLLM 0.11.1 to 0.33.0, vllm-ascend v0.23.0).
    """
    sizes = [*GRID_START, *range(FINE_STEP, min(limit, COARSE_FROM - 1) + 1, FINE_STEP)]
    if limit >= COARSE_FROM:
        sizes += range(COARSE_FROM, limit + 1, COARSE_STEP)
    return tuple(size for size in sizes if size <= limit)
