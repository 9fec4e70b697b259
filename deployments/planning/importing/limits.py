"""How much of an input is read, and the error that says when it is too much."""

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

LARGEST_BYTES = 1_000_000
"""An input of a launch, log included."""

LARGEST_YAML_CHARACTERS = 256_000
LARGEST_PYTHON_CHARACTERS = 20_000
MOST_WORDS = 60_000
MOST_ARGUMENTS = 1_000
"""Words of one serve command; real ones have fewer than two hundred."""

MOST_NODES = 20_000
MOST_LAUNCHES = 2_000
DEEPEST_SCRIPT = 4
"""A script in a here-document or behind ``bash -c``, inside another one."""

DEEPEST_VALUE = 32
MOST_STEPS = 4_000_000
"""Characters looked at, all nested scripts together: what bounds the time."""


class UnreadableLaunchError(PlanningError):
    """The input is too large, too deep or no text; the message is one sentence."""


class Budget:
    """Counts down what reading one input may cost; time is bounded without a clock."""

    __slots__ = ("_left",)

    def __init__(self, steps: int = MOST_STEPS) -> None:
        """Start with ``steps`` left."""
        self._left = steps

    def spend(self, steps: int) -> None:
        """Take steps away.

        Raises:
            UnreadableLaunchError: none are left.
        """
        self._left -= steps
        if self._left < 0:
            raise UnreadableLaunchError(
                text(
                    "The input takes too long to read; paste the launch command alone."
                )
            )


def decoded(content: bytes) -> str:
    """Return an input as text.

    Raises:
        UnreadableLaunchError: it is larger than 1 MB, or no text.
    """
    if len(content) > LARGEST_BYTES:
        raise UnreadableLaunchError(
            text(
                "The input has {size} bytes; {most} is the most. Paste the launch command "
                "without its log.",
                size=len(content),
                most=LARGEST_BYTES,
            )
        )
    if b"\0" in content:
        raise UnreadableLaunchError(
            text("The input is not text; give a script, a command or a compose file.")
        )
    return content.decode("utf-8", errors="replace").removeprefix("\ufeff")
