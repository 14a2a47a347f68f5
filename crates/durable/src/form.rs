//! The form in which the stores keep the protocol's values, and the checks at their door: one for all of them.
//!
//! Promises that what is read is what was written, digit for digit; a value that does not read back is an error in
//! words. Does not know any database.

use protocol::{
    FailureCause, JobId, JobSpec, Phase, Timestamp, UserProgress, Verdict, Violation, job, limit,
};

use crate::{
    AcceptSuccess, Document, EndCount, JobFilter, JobPage, JobSummary, PersistCheckpoint, ProgramExit, Scope,
};

/// Jobs on one page of a list, at most.
const PAGE: usize = 1_000;
/// Rows looked at to count ends.
pub(crate) const ENDS: i64 = 500_000;
/// Bytes of a program's words that a list shows.
const WORDS_BYTES: usize = 256;

/// A count as a database keeps it.
pub(crate) fn integer(name: &str, value: u64) -> Result<i64, String> {
    i64::try_from(value).map_err(|_| format!("{name} is {value}; allowed is at most {}", i64::MAX))
}

/// A count as a database keeps it, held at the highest it can keep.
pub(crate) fn at_most(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A limit as a statement takes it.
pub(crate) fn limit_column(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The jobs that a list walks over, phase by phase; `None` for all jobs.
pub(crate) fn walks(filter: &JobFilter) -> Vec<Option<Phase>> {
    let runs = |phase: &Phase| matches!(phase, Phase::Running | Phase::Cancelling);
    let mut phases = filter.phases.clone();
    if !filter.workers.is_empty() {
        // Only who has an attempt is under a worker.
        phases = if phases.is_empty() { Phase::ALL.to_vec() } else { phases };
        phases.retain(runs);
    } else if phases.is_empty() {
        return vec![None];
    }
    phases.sort_unstable();
    phases.dedup();
    phases.into_iter().map(Some).collect()
}

/// Jobs on this page, at most.
pub(crate) fn page_limit(filter: &JobFilter) -> usize {
    filter.limit.min(PAGE)
}

/// One page from what each walk has found, one more than asked for, and how far it has looked where that is not the end.
pub(crate) fn page(filter: &JobFilter, walks: Vec<(Vec<JobSummary>, Option<JobId>)>) -> JobPage {
    let limit = page_limit(filter);
    // Behind the shortest reach another walk may have missed something.
    let reach = walks.iter().filter_map(|(_, reach)| *reach).max();
    let mut jobs: Vec<_> = walks.into_iter().flat_map(|(jobs, _)| jobs).collect();
    jobs.retain(|found| reach.is_none_or(|reach| found.job >= reach));
    jobs.sort_unstable_by_key(|job| std::cmp::Reverse(job.job));
    // A job may move from one phase into another between two reads.
    jobs.dedup_by_key(|job| job.job);
    if jobs.len() > limit {
        jobs.truncate(limit);
        let next = jobs.last().map(|last| last.job).or(filter.before);
        return JobPage { jobs, next };
    }
    JobPage { jobs, next: reach }
}

/// The minute of that number since 1970.
pub(crate) fn minute(number: i64) -> Timestamp {
    Timestamp(number.saturating_mul(60_000))
}

/// Ends by minute without minutes that were cut: the first one, where it is not whole.
pub(crate) fn whole_minutes(since: Timestamp, mut ends: Vec<EndCount>) -> Vec<EndCount> {
    let counted: u64 = ends.iter().map(|end| end.jobs).sum();
    let cut =
        (counted >= u64::try_from(ENDS).unwrap_or(u64::MAX)).then(|| ends.first().map(|end| end.minute));
    ends.retain(|end| end.minute >= since && cut.flatten() != Some(end.minute));
    ends
}

pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Succeeded => "succeeded",
        Verdict::Cancelled => "cancelled",
        Verdict::Failed(cause) => match cause {
            FailureCause::Failed => "failed",
            FailureCause::TimedOut => "timed_out",
            FailureCause::Drained => "drained",
            FailureCause::BadCheckpoint => "bad_checkpoint",
            FailureCause::Permanent => "permanent",
            FailureCause::Lost => "lost",
        },
    }
}

pub(crate) fn verdict(name: &str) -> Result<Verdict, String> {
    Ok(match name {
        "succeeded" => Verdict::Succeeded,
        "cancelled" => Verdict::Cancelled,
        "failed" => Verdict::Failed(FailureCause::Failed),
        "timed_out" => Verdict::Failed(FailureCause::TimedOut),
        "drained" => Verdict::Failed(FailureCause::Drained),
        "bad_checkpoint" => Verdict::Failed(FailureCause::BadCheckpoint),
        "permanent" => Verdict::Failed(FailureCause::Permanent),
        "lost" => Verdict::Failed(FailureCause::Lost),
        other => return Err(format!("verdict is {other:?}")),
    })
}

/// The columns of a program's end: code and signal.
pub(crate) fn exit_columns(exit: Option<ProgramExit>) -> (Option<i32>, Option<i32>) {
    match exit {
        None => (None, None),
        Some(ProgramExit::Code(code)) => (Some(code), None),
        Some(ProgramExit::Signal(signal)) => (None, Some(signal)),
    }
}

pub(crate) fn spec_text(spec: &JobSpec) -> Result<String, String> {
    serde_json::to_string(spec).map_err(|error| format!("the job cannot be written as JSON: {error}"))
}

/// The submission, or the reason why it does not read back.
pub(crate) fn spec(text: Option<&str>) -> Result<JobSpec, String> {
    let text = text.ok_or("what the job asks for is not in the store")?;
    serde_json::from_str(text).map_err(|error| format!("what the job asks for cannot be decoded: {error}"))
}

/// The program's first words, as JSON, for lists.
pub(crate) fn words(spec: &JobSpec) -> Result<Option<String>, String> {
    let Some(command) = &spec.command else { return Ok(None) };
    let mut left = WORDS_BYTES;
    let mut shown = Vec::new();
    for word in &command.argv {
        let cut = &word[..word.floor_char_boundary(left)];
        shown.push(cut);
        left = left.saturating_sub(cut.len() + 1);
        if left == 0 || cut.len() < word.len() {
            break;
        }
    }
    let text = serde_json::to_string(&shown);
    text.map(Some).map_err(|error| format!("command cannot be written as JSON: {error}"))
}

/// The job's own progress as it is kept, its message cut to the limit.
pub(crate) fn user_text(user: &UserProgress) -> Result<String, String> {
    let bytes = usize::try_from(limit::PROGRESS_MESSAGE_BYTES).unwrap_or(usize::MAX);
    let message = user.message.as_ref().map(|text| storable(text, bytes));
    serde_json::to_string(&UserProgress { message, ..user.clone() })
        .map_err(|error| format!("progress cannot be written: {error}"))
}

pub(crate) fn user(text: &str) -> Result<UserProgress, String> {
    serde_json::from_str(text).map_err(|error| format!("progress cannot be decoded: {error}"))
}

/// A document in one column: 0 and the bytes, or 1, the length, the digest and the key.
pub(crate) fn document_bytes(document: &Document) -> Vec<u8> {
    match document {
        Document::Inline(bytes) => [&[0], bytes.as_slice()].concat(),
        Document::Stored { key, length, digest } => {
            [&[1], length.to_be_bytes().as_slice(), digest.as_slice(), key.as_bytes()].concat()
        }
    }
}

pub(crate) fn document(bytes: &[u8]) -> Result<Document, String> {
    let bad = || "a document cannot be decoded".to_owned();
    match bytes.split_first().ok_or_else(bad)? {
        (0, rest) => Ok(Document::Inline(rest.to_vec())),
        (1, rest) => {
            let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(bad)?;
            let (digest, key) = rest.split_first_chunk::<32>().ok_or_else(bad)?;
            Ok(Document::Stored {
                key: String::from_utf8(key.to_vec()).map_err(|_| bad())?,
                length: u64::from_be_bytes(*length),
                digest: *digest,
            })
        }
        _ => Err(bad()),
    }
}

/// Documents that a sweep must keep: manifests, and states that lie on the target. An inline state refers to nothing.
pub(crate) fn keep(kept: &mut Vec<Document>, manifest: bool, document: Option<Document>) {
    match document {
        Some(Document::Inline(bytes)) if !manifest || bytes.is_empty() => {}
        Some(document) if !kept.contains(&document) => kept.push(document),
        _ => {}
    }
}

/// A text that every store can hold: NUL is shown as a sign, and what is over the limit is cut between characters.
pub(crate) fn storable(text: &str, limit: usize) -> String {
    text[..text.floor_char_boundary(limit)].replace('\0', "\u{2400}")
}

/// Why a submission cannot be taken at all.
pub(crate) fn refuse_spec(spec: &JobSpec) -> Option<String> {
    if let Err(violation) = spec.validate() {
        return Some(violation.to_string());
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(&spec.args) {
        Ok(_) => None,
        Err(error) => Some(format!("args is no JSON: {error}; allowed is one JSON value")),
    }
}

/// Why a checkpoint cannot be kept in a row at all.
pub(crate) fn refuse_checkpoint(request: &PersistCheckpoint) -> Option<String> {
    let documents = [("state", &request.state), ("manifest", &request.manifest)];
    let violation = documents.into_iter().find_map(|(field, document)| match document {
        Document::Inline(bytes) => job::check_size(field, bytes.len(), limit::INLINE_BYTES).err(),
        Document::Stored { length, .. } if field == "state" && *length > limit::STATE_BYTES => {
            Some(Violation {
                field: field.to_owned(),
                value: format!("{length} bytes long"),
                allowed: format!("at most {} bytes", limit::STATE_BYTES),
            })
        }
        Document::Stored { .. } => None,
    });
    violation.map(|violation| violation.to_string())
}

/// Why a result cannot be kept in a row at all.
pub(crate) fn refuse_result(request: &AcceptSuccess) -> Option<String> {
    let Document::Inline(bytes) = &request.result.manifest else { return None };
    job::check_size("manifest", bytes.len(), limit::INLINE_BYTES).err().map(|violation| violation.to_string())
}

/// Scopes as a column holds them: in order, once each, with commas.
pub(crate) fn scopes_text(scopes: &[Scope]) -> String {
    let names: Vec<_> =
        Scope::ALL.into_iter().filter(|scope| scopes.contains(scope)).map(Scope::name).collect();
    names.join(",")
}

/// The same, read back.
pub(crate) fn scopes(text: &str) -> Result<Vec<Scope>, String> {
    text.split(',').map(scope).collect()
}

pub(crate) fn scope(name: &str) -> Result<Scope, String> {
    name.parse().map_err(|violation: Violation| violation.to_string())
}

/// Bytes of a text in the trail that are kept.
pub(crate) const TRAIL_TEXT: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_read_back() {
        let stored = Document::Stored { key: "p/00ü".into(), length: u64::MAX, digest: [7; 32] };
        for written in [Document::empty(), Document::Inline(vec![1, 0, 255]), stored] {
            assert_eq!(document(&document_bytes(&written)).unwrap(), written);
        }
        for bad in [&[][..], &[2], &[1, 0, 0]] {
            assert!(document(bad).is_err());
        }
    }

    #[test]
    fn a_text_is_cut_between_characters_and_holds_no_nul() {
        assert_eq!(storable("aü", 2), "a");
        assert_eq!(storable("a\0b", 9), "a\u{2400}b");
    }
}
