//! The list of all cases, and the macro that makes a test of each.

/// Makes a test of every case of the suite, for one adapter.
///
/// `$fresh` is an async function without arguments that makes a [`Fixture`](crate::conformance::Fixture);
/// the caller has `tokio` with its macros.
#[macro_export]
macro_rules! conformance {
    ($fresh:expr) => {
        $crate::conformance! { @modules $fresh;
            activate_attempt {
                the_reservation_becomes_the_lease_of_the_attempt
                only_the_exact_reservation_activates
                the_same_attempt_again_is_taken_and_young_again
                a_loss_takes_the_reservation_away
                a_zombies_lease_stands_beside_the_current_one
            }
            claim_refused {
                only_the_exact_reservation_of_that_worker_is_handed_back
                a_repeated_hand_back_is_taken_and_frees_nothing_twice
                the_job_is_offered_again_only_when_it_is_enqueued_again
                a_renewed_reservation_is_not_dropped
            }
            clean_terminal_coordination {
                a_job_of_which_nothing_is_held_is_refused
                the_reservation_goes_and_its_place_is_free
                notice_and_progress_go_and_the_lease_stays
                an_attempt_that_said_nothing_yet_is_something_to_clean
            }
            enqueue {
                a_job_is_queued_once_and_counted
                another_epoch_is_refused_as_stale
                a_job_with_a_reservation_is_refused
                a_job_with_a_live_lease_is_refused_until_it_ends
                a_window_that_no_living_worker_serves_is_refused
                a_worker_that_is_silent_or_leaves_serves_nothing
                a_full_window_refuses_and_evicts_nothing
                it_is_allowed_while_the_pool_is_opening
                one_refused_row_does_not_harm_its_neighbours
            }
            epoch {
                an_empty_store_is_epoch_zero_and_everything_is_stale
                an_epoch_is_installed_when_it_is_higher
                a_pool_is_claimed_with_its_first_epoch_and_another_installation_changes_nothing
                a_loss_leaves_nothing
                accounting_is_repeatable_and_skips_what_has_a_lease
                an_open_pool_refuses_to_account
                unaccounted_attempts_take_places_until_they_end_or_the_grace_does
                the_grace_begins_when_the_epoch_is_installed
                marks_grow_with_every_effective_step
            }
            expire_lease {
                a_lease_ends_at_its_length_and_not_before
                the_oldest_end_first_and_no_more_than_asked_for
                another_epoch_is_refused_once
                the_progress_of_the_attempt_is_shown_no_more
            }
            false_suspicion {
                a_reservation_is_dropped_at_its_deadline_and_not_before
                the_oldest_go_first_and_another_epoch_is_refused_once
                a_repeated_reserve_renews_the_deadline
            }
            publish_cancel_notice {
                a_notice_is_published_once
                a_notice_stays_until_it_is_cleaned
            }
            reads {
                holdings_come_page_by_page_in_the_order_of_jobs
                windows_that_are_served_are_listed_with_their_entries
                workers_are_listed_with_age_and_leases_and_forgotten_when_silent
                a_registration_is_answered_with_the_windows_that_wait
                a_worker_that_was_asked_to_drain_hears_of_it_when_it_registers
            }
            reap_observe {
                an_attempt_is_lost_without_lease_and_without_reservation_of_its_worker
                an_older_epochs_attempt_is_judged_after_the_grace
                the_answers_mark_is_after_what_it_saw
            }
            release_lease {
                a_live_lease_is_given_back_once
                the_progress_shown_goes_with_the_lease_of_its_attempt
            }
            release_reservation {
                only_the_exact_reservation_that_was_judged_is_released
                a_repeat_is_taken_and_leaves_a_newer_reservation_alone
                a_released_reservation_activates_nothing
            }
            renew_lease {
                only_the_incarnation_that_holds_the_lease_renews_it
                a_renewed_lease_is_young_again
                a_lease_past_its_length_is_live_until_it_is_expired
                the_answer_tells_of_a_cancel_notice
                the_answer_carries_the_length_in_force
            }
            report_progress {
                only_under_the_own_lease_and_only_what_is_new
                the_first_report_is_new_whatever_it_says
                a_message_over_its_limit_is_set_aside_by_name
            }
            reserve {
                an_entry_becomes_a_place_with_all_that_the_worker_needs
                a_stale_an_opening_and_an_empty_pool_refuse
                places_in_use_never_pass_the_global_limit
                a_lowered_limit_drains_and_kills_nothing
                the_lowest_priority_then_position_comes_first
                a_paused_queue_is_passed_over_and_named_when_nothing_else_is_left
                the_same_reservation_id_again_gives_the_same_entry_and_no_second_place
                the_id_of_a_reservation_that_has_ended_gives_nothing_new
                several_places_are_given_in_order_as_far_as_they_go
                two_workers_never_get_the_same_job
                windows_beyond_the_bound_are_not_looked_at
            }
            restore_lease {
                an_attempt_of_the_set_keeps_its_place
                an_attempt_that_is_not_in_the_set_needs_a_free_place
                it_is_possible_only_inside_the_grace
                a_lease_that_ended_by_age_in_this_epoch_is_never_restored
                an_attempt_whose_end_was_seen_in_this_epoch_is_not_restored
                a_live_one_is_taken_again_and_young_again
            }
            wakes {
                whoever_waits_for_work_or_a_place_is_woken
                news_of_jobs_is_passed_on
                news_of_workers_and_epochs_is_passed_on
            }
        }
    };
    (@modules $fresh:expr; $($module:ident { $($case:ident)* })*) => {
        $(mod $module {
            #[allow(unused_imports, reason = "the function that makes fixtures is named from outside")]
            use super::*;

            $(#[tokio::test]
            async fn $case() {
                let pool = $crate::conformance::Pool::new($fresh().await);
                $crate::conformance::$module::$case(&pool).await;
            })*
        })*
    };
}

#[cfg(test)]
mod tests {
    /// A case that is written and not listed would never run.
    #[test]
    fn every_case_that_is_written_is_listed() {
        let list = include_str!("cases.rs");
        let sources = [
            include_str!("activate_attempt.rs"),
            include_str!("claim_refused.rs"),
            include_str!("clean_terminal_coordination.rs"),
            include_str!("enqueue.rs"),
            include_str!("epoch.rs"),
            include_str!("expire_lease.rs"),
            include_str!("false_suspicion.rs"),
            include_str!("publish_cancel_notice.rs"),
            include_str!("reads.rs"),
            include_str!("reap_observe.rs"),
            include_str!("release_lease.rs"),
            include_str!("release_reservation.rs"),
            include_str!("renew_lease.rs"),
            include_str!("report_progress.rs"),
            include_str!("reserve.rs"),
            include_str!("restore_lease.rs"),
            include_str!("wakes.rs"),
        ];
        let written = sources.iter().flat_map(|source| source.lines()).filter_map(|line| {
            line.strip_prefix("pub async fn ")?.split_once("(pool: &Pool)").map(|(name, _)| name)
        });
        let mut count = 0;
        for case in written {
            count += 1;
            assert!(list.lines().any(|line| line.trim() == case), "{case} is not listed");
        }
        assert!(count > 60, "{count}");
    }
}
