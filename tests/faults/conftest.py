"""The world of the rollout tests, for tests that kill its workers."""

from tests.services.rollout.conftest import (
    committed_world,
    one_act_per_slice,
    practice_image_id,
    short_waits,
)

__all__ = ["committed_world", "one_act_per_slice", "practice_image_id", "short_waits"]
