"""The errors of use cases: each message is one sentence that the person can act on."""


class UseCaseError(Exception):
    """What was asked cannot be done; ``code`` is stable, the message is for people."""

    code = "refused"


class NotAllowedError(UseCaseError):
    """The person lacks the role, or may not decide about their own request."""

    code = "not_allowed"


class ProofNeededError(NotAllowedError):
    """The person has not proved for a while who they are, and this asks for it."""

    code = "proof_needed"


class ConflictError(UseCaseError):
    """The object changed meanwhile or is in a state that does not allow it."""

    code = "conflict"


class PlanNotSubmittableError(ConflictError):
    """The plan has errors among its findings, or nothing to run."""

    code = "plan_not_submittable"


class PlanStaleError(ConflictError):
    """The plan that was shown is no longer the plan that would be made."""

    code = "plan_stale"


class NotApprovedError(ConflictError):
    """No valid approval covers the digest that was to run."""

    code = "not_approved"
