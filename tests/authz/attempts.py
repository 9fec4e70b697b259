"""The ways in which people try to get around an approval, by number, and where each is tried.

What is tried in this folder is named ``test_b04_...`` after its number; the rest is tried where its
subject lives, and named here.
"""

from collections.abc import Mapping

APPROVALS = "tests/services/test_approvals.py"
POLICIES = "tests/services/test_policies.py"
FREEZES = "tests/services/test_freezes.py"
PAGE = "tests/views/test_approval_request.py"
ROLLOUT = "tests/services/rollout"

ELSEWHERE: Mapping[int, tuple[str, tuple[str, ...]]] = {
    1: (
        "the author approves their own request",
        (
            f"{APPROVALS}::test_author_cannot_approve_where_another_person_is_asked_for",
            f"{PAGE}::test_author_who_may_approve_is_told_to_find_another",
        ),
    ),
    2: (
        "the author approves with a second account",
        (
            "tests/selectors/test_votes.py::test_obstacles_are_named",
            "tests/panel/test_single_sign_on.py::test_who_is_logged_in_connects_it_with_their_password_and_then_comes_in_by_it",
        ),
    ),
    6: (
        "a token, whoever owns it, votes",
        (
            "tests/views/test_tokens.py::test_it_operates_within_its_scope_and_its_acts_are_marked",
        ),
    ),
    7: (
        "the plan is edited after the approval",
        (
            "tests/services/test_plans.py::test_newer_revision_replaces_open_and_approved_requests",
            "tests/models/test_constraints.py::test_what_people_decided_on_is_frozen",
        ),
    ),
    8: (
        "what the plan refers to is changed",
        (
            "tests/services/test_plans.py::test_host_that_changed_since_makes_the_plan_stale",
            f"{ROLLOUT}/test_failing.py::test_a_host_that_changed_makes_the_request_stale_and_starts_nothing",
            f"{ROLLOUT}/test_keys.py::test_a_secret_that_changed_since_the_plan_stops_the_release",
        ),
    ),
    9: (
        "an old vote is sent again for a new plan",
        (
            f"{APPROVALS}::test_vote_on_another_digest_is_refused",
            f"{PAGE}::test_another_digest_than_the_shown_one_is_a_conflict",
        ),
    ),
    11: (
        "two approvers at once, or one who clicks twice",
        (
            f"{POLICIES}::test_the_last_two_approvals_at_once_approve",
            "tests/services/test_approval_races.py::test_double_click_at_once_is_one_vote",
        ),
    ),
    12: (
        "a platform admin approves by force",
        (
            f"{APPROVALS}::test_superuser_without_the_role_cannot_approve",
            "tests/services/test_break_glass.py::test_no_role_implies_it",
        ),
    ),
    14: (
        "the rules are loosened for an open request",
        (
            f"{APPROVALS}::test_weaker_policy_does_not_reach_an_open_request",
            f"{APPROVALS}::test_stricter_policy_voids_a_self_approval",
            f"{FREEZES}::test_ending_a_freeze_opens_nothing_for_what_was_asked_before",
        ),
    ),
    15: (
        "the tag of the image is moved",
        (
            "tests/planning/test_launch.py::test_engine_api_takes_the_image_by_digest_or_by_id",
            "tests/docker_api/test_images.py::test_a_pulled_image_is_found_by_name_digest_and_id",
        ),
    ),
    16: (
        "another image gets the name of the approved one",
        (
            "tests/docker_api/test_containers.py::test_an_unknown_image_is_an_error_of_its_own",
            f"{ROLLOUT}/test_failing.py::test_an_image_that_no_registry_gives_is_a_failure_with_a_next_action",
        ),
    ),
    17: (
        "a file behind a mount is changed: sizes and headers are looked at, not every byte",
        (
            f"{ROLLOUT}/test_weights_check.py::test_a_truncated_shard_ends_the_release_before_anything_is_made",
            f"{ROLLOUT}/test_weights_check.py::test_everything_that_lacks_is_told_at_once",
        ),
    ),
    18: (
        "a link below an allowed directory leads out",
        (
            f"{ROLLOUT}/test_model_listing.py::test_links_out_and_odd_names_stay_inert",
            "tests/docker_api/test_policy.py::test_what_leads_out_is_refused",
        ),
    ),
    19: (
        "in a freeze somebody goes back to any version",
        (
            f"{FREEZES}::test_in_a_freeze_only_the_last_two_plans_that_served_may_start",
            f"{FREEZES}::test_the_way_back_closes_after_72_hours_and_restoring_does_not",
        ),
    ),
    20: (
        "a freeze is slipped past by a planned start, a zone or a clock",
        (
            "tests/services/test_schedules.py::test_only_who_asked_says_when_and_only_before_a_vote",
            "tests/services/test_schedules.py::test_a_self_start_waits_for_the_end_of_a_freeze",
            "tests/planning/test_freezing.py::test_an_hour_that_comes_twice_is_read_the_stricter_way",
        ),
    ),
    21: (
        "a restart brings something else",
        (
            f"{ROLLOUT}/test_again.py::test_a_removed_container_is_restored_to_the_approved_plan",
        ),
    ),
    22: (
        "two contents share a digest by the way they are written",
        (
            "tests/planning/test_digest.py::test_every_leaf_decides_the_digest",
            "tests/planning/test_documents.py::test_number_beyond_exactness_and_decimals_are_refused",
        ),
    ),
    23: (
        "what is shown is not what is hashed",
        (
            f"{PAGE}::test_page_comes_from_the_stored_document_alone",
            f"{PAGE}::test_every_leaf_of_the_plan_is_on_the_page",
        ),
    ),
    24: (
        "signs that turn or hide text mislead the approver",
        (
            "tests/telemetry/test_visible.py::test_no_control_or_bidi_character_is_left",
            "tests/forms/test_wizard_state.py::test_a_bad_value_says_what_is_wrong_and_loses_nothing_else",
        ),
    ),
    25: (
        "a vote comes from a page that is out of date",
        (
            f"{PAGE}::test_another_digest_than_the_shown_one_is_a_conflict",
            "tests/services/test_schedules.py::test_a_vote_counts_for_the_start_that_was_shown",
        ),
    ),
    27: (
        "a link or a prefetch approves",
        (
            f"{PAGE}::test_acts_are_no_get",
            "tests/authz/test_sweep.py::test_reading_changes_nothing",
        ),
    ),
    28: (
        "a foreign page frames the button",
        (
            "tests/panel/test_pages.py::test_every_answer_forbids_inline_code_and_framing",
        ),
    ),
    29: (
        "stored text runs as code and clicks",
        (
            f"{PAGE}::test_untrusted_text_is_escaped",
            "tests/house/test_sources.py::test_no_template_holds_what_the_policy_forbids",
            f"{POLICIES}::test_where_production_is_served_a_vote_needs_a_fresh_proof",
        ),
    ),
    30: (
        "a message in the queue is forged",
        (
            "tests/services/test_outbox.py::test_message_carries_the_id_and_nothing_else",
            "tests/tasks/test_tasks.py::test_a_message_for_a_command_that_is_gone_or_ended_does_nothing",
        ),
    ),
    31: (
        "a genuine message is sent again",
        (
            f"{ROLLOUT}/test_claims.py::test_a_claimed_command_is_not_claimed_again",
            "tests/faults/test_delivery.py::test_a_message_that_comes_twice_at_once_has_one_effect",
        ),
    ),
    33: (
        "rows are written past the panel",
        (
            f"{APPROVALS}::test_database_refuses_to_change_what_was_decided_on",
            "tests/services/test_audit.py::test_the_database_refuses_to_change_or_remove",
            f"{ROLLOUT}/test_failing.py::test_a_plan_that_was_changed_in_the_database_runs_nothing",
        ),
    ),
    34: (
        "a voter loses the role before the start",
        (
            f"{POLICIES}::test_a_lost_role_or_a_stricter_rule_voids_an_approval",
            "tests/views/test_teams.py::test_an_approval_that_falls_short_is_asked_for_again",
            "tests/views/test_accounts.py::test_the_votes_of_a_disabled_approver_count_no_more_and_stay",
        ),
    ),
    36: (
        "two requests for the same devices start",
        (
            "tests/models/test_constraints.py::test_a_device_is_booked_once_until_it_is_released",
        ),
    ),
    37: (
        "a cancel meets a container that was just made",
        (
            f"{ROLLOUT}/test_replacing.py::test_a_cancelled_release_leaves_nothing_half_done",
        ),
    ),
    41: (
        "a preflight is old or a host lies",
        (
            f"{ROLLOUT}/test_trial.py::test_what_passed_stands_for_the_release_and_what_is_old_is_repeated",
        ),
    ),
    42: (
        "a panel with another scheme reads the plan",
        ("tests/planning/test_documents.py::test_other_plan_is_refused",),
    ),
    43: (
        "stopping and starting again deploys something else",
        (
            f"{ROLLOUT}/test_again.py::test_a_paused_and_changed_container_is_replaced_by_one_as_approved",
        ),
    ),
    44: (
        "a container is changed outside and then taken for ours",
        (
            "tests/services/test_drift.py::test_settings_changed_by_docker_update_are_named",
            "tests/services/test_drift.py::test_a_forged_label_is_reported_and_never_adopted",
        ),
    ),
}
