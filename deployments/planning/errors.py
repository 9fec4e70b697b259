"""The errors of planning: each message is one sentence that the person can act on."""


class PlanningError(ValueError):
    """Input that cannot be planned; says what is wrong and how to mend it."""
