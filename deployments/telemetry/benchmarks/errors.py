"""What can be wrong with text that should hold a benchmark result."""

from deployments.planning.text import Text


class BenchmarkError(ValueError):
    """The text holds no result that can be read; the one argument is the sentence for people."""

    def __init__(self, said: Text) -> None:
        super().__init__(said)
