//! The conformance suite: the same questions to every way to the port.
//!
//! Promises that two ways that pass give the same answers, refusals included. Does not know which way it is: a fixture
//! makes one over the rooms of a [`Place`], and `api_conformance!` makes each case a test of its own.

#![expect(
    clippy::unwrap_used,
    reason = "these are tests; where they live lets every way to the port run them"
)]
#![expect(missing_docs, reason = "a case is its name")]

mod place;

pub mod changes;
pub mod jobs;
pub mod pool;
pub mod results;

use std::any::Any;
use std::sync::Arc;

use durable::Access;

pub use place::Place;

use crate::Api;

/// A way to the port over a place's rooms; what keeps it alive goes with it.
pub type Way = (Arc<dyn Api>, Box<dyn Any + Send>);

/// What a case works with.
pub struct World {
    /// The port under test.
    pub api: Arc<dyn Api>,
    /// The rooms under it.
    pub place: Place,
    _alive: Box<dyn Any + Send>,
}

/// Runs one case.
///
/// # Panics
/// When the port does not do what the case asks.
pub fn run<W, F>(way: impl FnOnce(Arc<dyn Api>, Arc<dyn Access>) -> W, case: impl FnOnce(World) -> F)
where
    W: Future<Output = Way>,
    F: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let place = Place::new().await;
        let access = Arc::clone(&place.durable) as Arc<dyn Access>;
        let (api, alive) = way(Arc::new(place.direct()), access).await;
        case(World { api, place, _alive: alive }).await;
    });
}

/// Makes every case a test of its own: `api_conformance!(crate::way)`, where `way` is an async function from the direct
/// port, tokens and trail to a [`Way`].
#[macro_export]
macro_rules! api_conformance {
    ($way:path) => {
        $crate::api_conformance! { @ $way;
            changes {
                a_submission_is_accepted_and_found
                a_submission_that_is_wrong_is_refused_by_field_and_its_neighbours_are_accepted
                the_same_key_gives_the_same_job_and_another_request_under_it_is_refused
                args_read_back_digit_for_digit
                a_text_that_no_store_holds_is_refused
                a_cancel_is_answered_for_each_job
                a_retry_is_answered_for_each_job
                a_batch_that_is_too_large_is_refused_whole
            }
            jobs {
                jobs_are_listed_newest_first_in_pages
                a_list_is_filtered_by_all_that_is_named
                a_query_that_is_wrong_is_refused_by_field
                a_job_is_shown_with_its_attempts
                a_stranger_is_not_found_whatever_is_asked
                a_log_is_read_and_followed_to_the_end_of_its_attempt
                a_watched_job_is_told_until_it_has_ended
            }
            results {
                a_result_is_described_and_its_entries_come_in_pages
                a_file_is_read_whole_and_in_ranges
                strange_names_are_found_and_what_is_no_file_is_not
                a_job_without_a_result_says_so
            }
            pool {
                the_pool_is_read_and_changed
                a_queue_is_paused_and_resumed
                a_change_out_of_range_is_refused_by_field
                workers_are_shown_and_a_stranger_is_not_drained
                the_overview_counts_what_is_there
                events_begin_with_the_overview_and_tell_of_changes
                readiness_says_what_can_be_done
            }
        }
    };
    (@ $way:path; $($suite:ident { $($case:ident)* })*) => { $(
        mod $suite { $(
            #[test]
            fn $case() {
                $crate::conformance::run($way, $crate::conformance::$suite::$case);
            }
        )* }
    )* };
}
