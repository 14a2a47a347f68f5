//! The statements: files of SQL, composed at compile time, with the schema's name put in once at start.
//!
//! Promises that a name that is not there does not compile, and that nothing else is ever put into a statement.
//! `end_attempt.sql` and `end_job.sql` are the common last parts of the statements that end an attempt or a job.

pub(super) use pg::schema::{in_schema, quoted};

macro_rules! statements {
    ($($name:ident: $($file:literal)+;)*) => {
        /// Every statement, for one schema.
        pub(super) struct Statements {
            $(pub(super) $name: String,)*
        }

        impl Statements {
            pub(super) fn new(schema: &str) -> Self {
                Self { $($name: in_schema(concat!($(include_str!(concat!("sql/", $file, ".sql"))),+), schema),)* }
            }

            /// All of them, by name.
            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str()),)*]
            }

            /// The files they are made of.
            #[cfg(test)]
            pub(super) const FILES: &'static [&'static str] = &[$($($file,)+)*];
        }
    };
}

statements! {
    submit: "submit";
    asked: "asked";
    authorize_attempt: "authorize_attempt";
    persist_checkpoint: "persist_checkpoint";
    accept_success: "accept_success" "end_attempt" "end_job";
    accept_failure: "accept_failure" "end_attempt" "end_job";
    reap_lost_attempt: "reap_lost_attempt" "end_attempt" "end_job";
    finalize_cancel: "finalize_cancel" "end_attempt" "end_job";
    schedule_retry: "schedule_retry";
    request_cancel: "request_cancel" "end_job";
    invalidate_checkpoint: "invalidate_checkpoint";
    retry: "retry";
    stages_swept: "stages_swept";
    fold_counts: "fold_counts";
    pool_read: "pool_read";
    raise_epoch: "raise_epoch";
    open_epoch: "open_epoch";
    configure: "configure";
    adopt_target: "adopt_target";
    waiting_windows: "windows" "waiting_windows";
    dispatch_read: "dispatch_read";
    dispatch_read_jobs: "dispatch_read_jobs";
    due_retries: "due_retries";
    next_due: "next_due";
    running: "running";
    phases: "phases";
    checkpoint: "checkpoint";
    stages_to_sweep: "stages_to_sweep";
    list_all: "list_head" "list_of_all" "list_tail";
    list_ended: "list_head" "list_of_ended" "list_tail";
    list_queued: "list_head" "list_of_queued" "list_tail";
    list_retry_wait: "list_head" "list_of_retry_wait" "list_tail";
    list_running: "list_head" "list_of_running" "list_tail";
    reach_all: "reach_head" "list_of_all" "reach_tail";
    reach_ended: "reach_head" "list_of_ended" "reach_tail";
    reach_queued: "reach_head" "list_of_queued" "reach_tail";
    reach_retry_wait: "reach_head" "list_of_retry_wait" "reach_tail";
    reach_running: "reach_head" "list_of_running" "reach_tail";
    oldest_waiting: "windows" "oldest_waiting";
    ends: "ends";
    job: "job";
    counts: "counts";
    result: "result";
    make_token: "make_token";
    revoke_token: "revoke_token";
    tokens: "tokens";
    tokens_used: "tokens_used";
    add_to_trail: "add_to_trail";
    prune_trail: "prune_trail";
    trail: "trail";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_begins_with_its_contract_and_is_used() {
        let used =
            |stem: &str| Statements::FILES.contains(&stem) || ["damage", "doctor", "schema"].contains(&stem);
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/postgres/sql")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                assert!(std::fs::read_to_string(&path).unwrap().starts_with("-- "), "{}", path.display());
                assert!(used(path.file_stem().unwrap().to_str().unwrap()), "{} is used", path.display());
            }
        }
        assert!(Statements::new("s").all().iter().all(|(_, text)| !text.contains(pg::schema::PLACEHOLDER)));
    }
}
