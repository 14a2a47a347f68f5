//! `PersistCheckpoint`: progress, state and the output so far become what the next attempt starts from.

use protocol::{Action as Name, Detail, Guard, Incarnation, Phase};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decision, Entry};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::{Document, PersistCheckpoint, Persisted, form};

const GUARDS: &[Guard] =
    &[Guard::Authority, Guard::PhaseRunning, Guard::ProgressPositive, Guard::CheckpointAdvances];

/// The action.
#[doc(alias = "PersistCheckpoint")]
pub(in crate::postgres) struct Checkpoints;

impl Action for Checkpoints {
    type Request = PersistCheckpoint;
    type Effect = Persisted;
    const DOING: &'static str = "persist checkpoints";

    fn text(statements: &Statements) -> &str {
        &statements.persist_checkpoint
    }

    fn refusal(request: &PersistCheckpoint) -> Option<String> {
        form::refuse_checkpoint(request).or_else(|| form::integer("progress", request.progress).err())
    }

    fn keys(request: &PersistCheckpoint) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn weight(request: &PersistCheckpoint) -> usize {
        let bytes = |document: &Document| match document {
            Document::Inline(bytes) => bytes.len(),
            Document::Stored { key, .. } => key.len(),
        };
        bytes(&request.state) + bytes(&request.manifest)
    }

    fn params(now: Option<i64>, rows: &[&PersistCheckpoint]) -> Result<Params, String> {
        let users =
            rows.iter().map(|row| form::user_text(&row.user).map(Some)).collect::<Result<Vec<_>, _>>()?;
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            .smalls(rows.iter().map(|row| small(row.token.0)))
            .bigs(rows.iter().map(|row| form::at_most(row.progress)))
            .texts(users)
            .byte_strings(rows.iter().map(|row| form::document_bytes(&row.state)))
            .byte_strings(rows.iter().map(|row| form::document_bytes(&row.manifest))))
    }

    fn decide(asker: Asker<'_>, request: &PersistCheckpoint, row: &Row) -> Decision<Persisted> {
        let mut entry = Entry {
            asker,
            action: Name::PersistCheckpoint,
            job: request.job,
            attempt: Some(request.attempt),
            token: Some(request.token),
            judged: &[],
            detail: Detail { progress: Some(request.progress), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::Authority);
        }
        if let Some(checkpoint_revision) = column::maybe_count(row, "persisted_revision")? {
            let effect = Persisted { checkpoint_revision };
            entry.detail.checkpoint_revision = Some(checkpoint_revision);
            entry.detail.phase_after = Some(Phase::Running);
            return entry.again(checkpoint_revision, effect);
        }
        let seen = column::seen(row)?;
        entry.detail.worker = column::maybe_id(row, "worker")?.map(Incarnation::from_bytes);
        entry.detail.phase_after = Some(seen.phase);
        entry.detail.max_attempts = Some(seen.max_attempts);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        let checkpoint_revision = seen.revision + 1;
        entry.detail.checkpoint_revision = Some(checkpoint_revision);
        entry.taken(checkpoint_revision, Persisted { checkpoint_revision })
    }
}
