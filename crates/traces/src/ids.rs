//! Ids of traces and spans: each process finds them by itself.
//!
//! Promises: the trace of a job has the job's own 128 bits, and a span's id is the beginning of a BLAKE3 digest of what it
//! tells of, never zero. Two processes that tell of the same thing give it the same id.

use opentelemetry::trace::{SpanId, TraceId};
use protocol::{AttemptId, Event, JobId};

/// What a span tells of, as BLAKE3 wants its contexts: fixed texts, one a purpose.
const SEND: &str = "remora 2026-12-01 span send";
const PROCESS: &str = "remora 2026-12-01 span process";
const FENCED: &str = "remora 2026-12-01 span fenced";
const SETTLE: &str = "remora 2026-12-01 span settle";

/// The trace of a job.
#[must_use]
pub fn trace(job: JobId) -> TraceId {
    TraceId::from_bytes(job.to_bytes())
}

/// The span of a job's submission.
#[must_use]
pub fn send(job: JobId) -> SpanId {
    derived(SEND, &[&job.to_bytes()])
}

/// The span of an attempt, from its claim to its verdict.
#[must_use]
pub fn process(attempt: AttemptId) -> SpanId {
    derived(PROCESS, &[&attempt.to_bytes()])
}

/// The span of what an attempt did without authority, told by its worker.
#[must_use]
pub fn fenced(attempt: AttemptId) -> SpanId {
    derived(FENCED, &[&attempt.to_bytes()])
}

/// The span of a verdict: the same event gives the same one.
pub(crate) fn settle(job: JobId, event: &Event) -> SpanId {
    let attempt = event.attempt.map_or([0; 16], AttemptId::to_bytes);
    let actor = event.actor.0.to_be_bytes();
    let sequence = event.sequence.to_be_bytes();
    derived(SETTLE, &[&job.to_bytes(), &attempt, event.action.name().as_bytes(), &actor, &sequence])
}

/// The W3C's name for an attempt's span, for the variable `TRACEPARENT`.
#[must_use]
pub fn traceparent(job: JobId, attempt: AttemptId, sampled: bool) -> String {
    format!("00-{}-{}-{:02x}", trace(job), process(attempt), u8::from(sampled))
}

fn derived(context: &str, of: &[&[u8]]) -> SpanId {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for bytes in of {
        hasher.update(bytes);
    }
    let mut id = [0; 8];
    hasher.finalize_xof().fill(&mut id);
    SpanId::from(u64::from_be_bytes(id).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_its_job_and_spans_of_one_id_differ_by_what_they_tell() {
        let (job, attempt) = (JobId(0x0193_0000_0000_7000_8000_0000_0000_0001), AttemptId(5));
        assert_eq!(trace(job).to_string(), "01930000000070008000000000000001");
        let ids = [send(JobId(5)), process(attempt), fenced(attempt), process(AttemptId(6))];
        for (index, id) in ids.iter().enumerate() {
            assert!(*id != SpanId::INVALID && !ids[..index].contains(id), "{ids:?}");
        }
        assert_eq!(process(attempt), process(AttemptId(5)));
    }

    #[test]
    fn these_ids_are_for_ever_since_processes_of_two_versions_tell_of_one_job() {
        assert_eq!(
            (send(JobId(1)).to_string().as_str(), process(AttemptId(1)).to_string().as_str()),
            ("95de4f0e6df64a9a", "118f869e88aba233")
        );
        let named = traceparent(JobId(1), AttemptId(1), true);
        assert_eq!(named, "00-00000000000000000000000000000001-118f869e88aba233-01");
    }
}
