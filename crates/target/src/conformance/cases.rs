//! The list of cases, and the macros that turn it into tests.

/// Makes every case a test of its own: `target_conformance!(crate::fixture())`. The expression gives an
/// `Arc<dyn Fixture>` with an empty room; it is used inside modules, so its path begins with `crate`.
#[macro_export]
macro_rules! target_conformance {
    ($fixture:expr) => {
        $crate::target_cases! { target_tests, $fixture }
    };
}

/// One test per case.
#[doc(hidden)]
#[macro_export]
macro_rules! target_tests {
    (($fixture:expr) $($suite:ident { $($case:ident)* })*) => { $(
        mod $suite { $(
            #[test]
            fn $case() {
                $crate::conformance::run($fixture, $crate::conformance::$suite::$case);
            }
        )* }
    )* };
}

/// All of them in a list: `target_case_list!()` gives `(suite, case, Case)` each, for an adapter whose server is too slow
/// to start for each test process.
#[macro_export]
macro_rules! target_case_list {
    () => {
        $crate::target_cases! { target_functions }
    };
}

/// The functions, suite by suite.
#[doc(hidden)]
#[macro_export]
macro_rules! target_functions {
    (() $($suite:ident { $($case:ident)* })*) => {
        [$($((
            stringify!($suite),
            stringify!($case),
            (|fixture| $crate::conformance::run(fixture, $crate::conformance::$suite::$case))
                as $crate::conformance::Case,
        ),)*)*]
    };
}

/// The names, suite by suite.
#[doc(hidden)]
#[macro_export]
macro_rules! target_names {
    (() $($suite:ident { $($case:ident)* })*) => {
        &[$((stringify!($suite), &[$(stringify!($case),)*]),)*]
    };
}

/// Every case: hands the list to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! target_cases {
    ($with:ident $(, $argument:expr)?) => {
        $crate::$with! {
            ($($argument)?)
            seal_file {
                a_part_is_the_files_bytes_under_the_attempts_prefix
                an_empty_file_is_a_part
                a_part_is_a_copy_and_stays_when_the_file_changes
                the_same_number_again_replaces_whatever_lay_there
                the_executable_bit_is_that_of_the_last_sealing
                the_same_number_of_two_attempts_is_two_parts
                a_file_that_is_not_there_is_a_fault_and_leaves_nothing
            }
            seal_bytes {
                bytes_are_sealed_as_a_file_with_them_is
                the_same_number_again_replaces_whatever_lay_there
            }
            settle {
                what_was_sealed_is_there_after_it
                a_stage_without_parts_settles
            }
            verify {
                parts_that_are_right_pass_at_every_depth
                every_damage_is_found_where_the_depth_covers_the_part
                of_a_larger_part_only_existence_and_length_are_checked
                a_part_of_another_digest_is_bad_data
                a_key_that_leads_out_is_refused
            }
            fetch {
                a_file_is_its_parts_one_after_another
                the_executable_bit_is_as_asked_and_what_lay_there_is_replaced
                a_link_that_lay_there_is_replaced_and_not_followed
                damaged_parts_are_bad_data_and_leave_no_file
                a_key_that_leads_out_is_refused
            }
            read {
                a_part_reads_back_byte_for_byte
                damaged_parts_are_bad_data
                a_stage_that_was_never_written_has_no_parts
                a_key_that_leads_out_is_refused
            }
            lay_out {
                names_are_kept_as_they_are
                names_of_any_length_and_depth_are_kept
                folders_nested_and_empty_are_kept_and_missing_ones_made
                links_are_kept_as_written_and_not_followed
                the_executable_bit_is_the_entrys_also_where_the_parts_differs
                parts_of_earlier_attempts_and_several_of_one_file_become_the_results_own
                a_repeated_call_begins_again
                many_files_are_laid_out
                a_part_that_is_missing_or_of_another_length_is_bad_data
                what_leads_out_of_the_result_or_of_the_room_is_refused_and_written_nowhere
            }
            discard {
                only_the_keys_named_go
                what_is_gone_already_is_no_fault
                a_key_that_leads_out_is_refused
                a_result_outlives_the_part_it_was_laid_out_from
            }
            sweep {
                everything_goes_when_nothing_is_kept
                a_stage_that_was_never_written_sweeps_to_nothing
                single_keys_are_kept_and_only_they
                the_key_of_a_folder_keeps_all_that_is_in_it
                a_key_is_kept_by_its_whole_name
                other_attempts_jobs_and_logs_are_not_touched
                links_go_and_what_they_point_to_stays
                the_stage_may_be_written_again_after_it
            }
            old_stages {
                an_empty_room_has_none
                a_stage_is_old_when_its_last_writing_is
                a_new_part_or_a_result_makes_a_stage_young
                a_swept_stage_is_none_and_logs_are_none
            }
            open_log {
                a_log_is_read_as_it_was_written_and_followed
                a_silent_attempt_leaves_no_log
                each_attempt_has_a_log_of_its_own
                a_log_under_its_limit_is_whole
                a_log_over_its_limit_keeps_head_and_tail_and_marks_the_cut
                a_reader_that_follows_past_the_cut_is_told_of_it
                what_was_appended_can_be_read_soon_without_asking
                what_was_appended_last_is_kept_when_the_log_is_dropped
            }
            open_result {
                a_file_is_read_whole_by_its_own_name
                a_range_is_cut_to_what_there_is
                each_attempt_has_its_own_and_a_repeated_layout_its_newest
                what_is_no_file_of_the_result_is_bad_data
                a_name_that_leads_out_is_refused
            }
            identity {
                a_new_room_has_none_and_reading_makes_none
                the_first_that_is_offered_is_the_one_for_ever
                of_many_that_are_offered_at_once_all_are_answered_the_same
                a_marker_that_names_none_is_bad_data_and_stays
                it_is_no_stage_and_no_sweep_takes_it
            }
            local_result {
                it_is_the_folder_that_was_laid_out_and_each_attempt_has_its_own
            }
        }
    };
}

/// Every case by name, suite by suite.
pub const CASES: &[(&str, &[&str])] = crate::target_cases!(target_names);
