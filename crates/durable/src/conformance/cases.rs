//! The list of cases, and the macros that turn it into tests.

/// Makes every case a test of its own: `durable_conformance!(crate::fixture())`. The expression gives an
/// `Arc<dyn Fixture>` with a fresh room; it is used inside modules, so its path begins with `crate`.
#[macro_export]
macro_rules! durable_conformance {
    ($fixture:expr) => {
        $crate::durable_cases! { durable_tests, $fixture }
    };
}

/// One test per case.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_tests {
    (($fixture:expr) $($suite:ident { $($case:ident)* })*) => { $(
        mod $suite { $(
            #[test]
            fn $case() {
                $crate::conformance::run($fixture, $crate::conformance::$suite::$case);
            }
        )* }
    )* };
}

/// The names, suite by suite.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_names {
    (() $($suite:ident { $($case:ident)* })*) => {
        &[$((stringify!($suite), &[$(stringify!($case),)*]),)*]
    };
}

/// Every case: hands the list to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_cases {
    ($with:ident $(, $argument:expr)?) => {
        $crate::$with! {
            ($($argument)?)
            submit {
                an_accepted_job_is_queued_and_offered
                the_same_submission_again_is_answered_the_same_and_makes_no_second_job
                another_submission_under_a_known_id_is_refused_as_not_the_same_request
                an_idempotency_key_finds_the_earlier_job_whatever_became_of_it
                an_idempotency_key_for_another_request_is_refused_and_nothing_is_stored
                two_jobs_of_one_batch_with_the_same_key_become_one
                a_submission_that_is_wrong_is_set_aside_by_name_and_its_neighbours_are_accepted
                what_a_job_asks_for_reads_back_digit_for_digit
                a_scheduled_job_is_offered_when_it_is_due_and_not_before
                a_time_in_the_past_is_no_way_to_the_front
            }
            authorize_attempt {
                a_claim_gives_the_next_token_and_takes_the_job_off_the_outbox
                the_same_claim_again_gets_the_same_answer_while_it_has_authority
                the_same_claim_again_is_lost_once_it_was_revoked
                a_stranger_is_refused
                a_job_that_is_not_queued_is_refused_in_every_other_phase
                an_attempt_id_that_another_job_uses_is_refused
                only_one_of_many_claims_of_a_job_is_taken
                a_claim_on_another_checkpoint_than_the_one_there_is_refused
                a_claim_inherits_the_valid_checkpoint
                a_row_that_cannot_be_decoded_is_set_aside_and_its_neighbours_are_claimed
                a_row_set_aside_is_offered_again_after_retry_and_gone_after_cancel
                authority_is_the_claimed_attempts_alone
                the_budget_is_spent_by_claims_and_the_last_failure_ends_the_job
            }
            persist_checkpoint {
                a_checkpoint_becomes_what_the_next_attempt_starts_from
                the_same_checkpoint_again_gets_the_same_answer
                only_the_attempt_with_authority_can
                a_job_that_is_cancelling_is_refused
                progress_must_be_positive_and_above_the_attempts_own
                after_a_bad_checkpoint_the_next_attempt_counts_from_one_again
                the_jobs_own_progress_is_data_and_may_be_any_number
                documents_read_back_byte_for_byte
                a_document_over_its_limit_is_set_aside_with_its_size_and_the_limit
                a_thousand_checkpoints_leave_one
            }
            accept_success {
                a_success_publishes_the_result_and_ends_the_job
                the_same_success_again_gets_the_same_answer
                a_success_without_authority_is_refused
                a_success_after_a_cancel_is_refused_and_never_published
                a_success_after_the_attempts_own_failure_is_refused
                a_manifest_over_its_limit_is_set_aside_and_its_neighbours_are_published
            }
            accept_failure {
                a_failure_waits_for_its_retry_by_the_jobs_own_policy
                the_same_failure_again_gets_the_same_answer_wherever_the_job_has_gone
                a_failure_without_authority_is_refused
                a_failure_after_a_cancel_or_a_success_is_refused
                the_last_attempts_failure_ends_the_job
                a_permanent_failure_lowers_the_budget_to_the_attempts_token
                each_cause_is_kept_and_a_drain_waits_nothing
                nobody_but_the_reaper_says_lost
                how_the_program_ended_is_kept
                an_error_is_cut_between_characters_and_a_nul_is_shown
                the_last_twenty_errors_are_kept_and_every_attempt_is
                delays_never_overflow_at_any_token
            }
            reap_lost_attempt {
                a_lost_attempt_is_revoked_and_the_job_waits_shortly
                the_same_reaping_again_gets_the_same_answer_wherever_the_job_has_gone
                an_old_judgement_never_revokes_a_newer_attempt
                a_job_that_is_cancelling_is_refused
                the_last_attempts_loss_ends_the_job
                losses_in_a_row_double_the_delay_up_to_five_minutes
                an_ordinary_end_or_a_checkpoint_ends_the_row_of_losses
            }
            schedule_retry {
                a_job_whose_retry_is_due_is_queued_by_its_due_time
                a_retry_that_was_scheduled_before_is_answered_the_same
                a_job_that_does_not_wait_is_refused
                the_longest_due_come_first_and_no_more_than_asked_for
                the_next_due_time_is_the_earliest_of_retries_and_scheduled_jobs
            }
            request_cancel {
                a_job_without_an_attempt_is_cancelled_at_once
                a_running_job_is_cancelling_and_its_attempt_keeps_authority
                the_same_cancel_again_finds_it_standing
                a_job_that_has_ended_is_refused_and_a_stranger_too
            }
            finalize_cancel {
                the_attempt_loses_its_authority_and_the_job_is_cancelled
                the_same_end_again_gets_the_same_answer
                a_job_that_is_not_cancelling_is_refused
                another_attempt_than_the_one_with_authority_is_refused
                a_canceller_that_has_only_judged_leaves_the_stage_to_time
            }
            invalidate_checkpoint {
                a_bad_checkpoint_is_never_used_again_and_costs_no_attempt
                the_same_judgement_again_gets_the_same_answer
                an_old_judgement_never_throws_away_a_newer_checkpoint
                a_job_without_a_valid_checkpoint_is_refused
                a_job_that_has_ended_is_refused
                what_a_running_attempt_inherited_outlives_its_invalidation
            }
            retry {
                a_job_that_waits_for_its_retry_is_due_now
                an_ended_job_stays_as_it_is_and_gives_a_new_one_with_a_fresh_budget
                the_new_jobs_id_must_be_new
                a_job_that_goes_on_by_itself_is_refused
                a_job_that_succeeded_is_refused_and_a_stranger_too
                an_ended_job_that_cannot_be_decoded_gives_no_new_one
            }
            stages_swept {
                an_attempts_stage_is_due_once_after_its_end
                what_kept_something_is_due_again_at_the_jobs_end
                a_sweep_judged_before_the_jobs_end_and_reported_after_it_is_not_the_last
                the_committed_attempt_is_swept_once_and_its_result_is_kept
                nothing_is_kept_for_a_job_that_ended_without_a_result
                what_a_running_attempt_inherited_is_kept_beside_the_newer_checkpoint
                ends_that_are_known_come_first_and_then_the_oldest
            }
            pool {
                a_new_pool_is_open_in_its_first_epoch
                an_epoch_is_raised_once_then_helped_then_open
                of_two_that_raise_the_same_epoch_one_is_told_that_it_did
                an_epoch_never_falls
                a_change_of_the_configuration_raises_its_revision_and_a_repeat_does_not
                a_configuration_out_of_range_is_a_fault_that_names_field_and_range
                the_target_that_is_named_first_is_the_one_for_ever
            }
            dispatch_read {
                a_window_is_in_the_order_of_due_time_and_then_of_arrival
                a_window_is_read_on_from_a_position_that_is_included
                queues_kinds_and_priorities_are_windows_of_their_own
                named_jobs_are_answered_only_while_they_are_dispatchable
                a_dispatchable_job_carries_its_checkpoints_revision
                a_window_that_is_empty_or_unknown_reads_as_empty
            }
            access {
                a_token_is_known_until_it_is_revoked
                the_same_token_again_is_answered_the_same_and_another_under_its_id_is_not
                there_are_no_more_tokens_than_can_be_compared
                a_token_out_of_form_is_a_fault_that_names_the_field
                the_last_use_is_written_down_to_the_minute
                the_trail_is_read_newest_first_in_pages_and_an_entry_is_added_once
                a_text_that_no_store_holds_is_shown_in_the_trail
                each_scope_keeps_its_own_last_entries
            }
            people {
                jobs_are_listed_newest_first_in_pages
                a_list_is_filtered_by_phase_kind_and_queue
                a_list_is_filtered_by_time_worker_and_text
                a_long_search_goes_on_where_it_stopped
                the_job_that_waits_longest_is_the_one_that_was_due_first
                ends_are_counted_by_minute
                counts_are_exact_in_every_phase
                a_summary_says_what_a_list_shows
                a_stranger_is_nobody
                the_running_are_read_in_pages_by_id
            }
            events {
                every_action_taken_is_recorded_at_the_revision_it_made
                an_event_carries_the_actions_arguments_and_effect
                a_permanent_failure_records_the_lowered_budget
                a_refusal_is_recorded_with_its_guard_and_the_revision_that_was_seen
                a_refused_outcome_is_recorded_twice_as_refused_and_as_rejected
                a_repeat_is_recorded_once
            }
        }
    };
}

/// Every case by name, suite by suite.
pub const CASES: &[(&str, &[&str])] = crate::durable_cases!(durable_names);
