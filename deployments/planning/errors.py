"""The errors of planning: each message is one sentence that the person can act on."""

from deployments.planning.text import Text, said_by


class PlanningError(ValueError):
    """Input that cannot be planned; says what is wrong and how to mend it."""

    @property
    def text(self) -> Text:
        """The sentence, so that it can be said in another language."""
        return said_by(self)
