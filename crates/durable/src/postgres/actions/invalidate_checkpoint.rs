//! `InvalidateCheckpoint`: a checkpoint that failed verification is never used again.

use protocol::{Action as Name, Detail, Guard, Stamped, limit};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decided, Decision, Entry, mark};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;
use crate::{InvalidateCheckpoint, Invalidated, form};

const GUARDS: &[Guard] = &[Guard::NotTerminal, Guard::CheckpointValid, Guard::CheckpointChanged];

/// The action. It names the revision that was judged, so a newer checkpoint is never thrown away.
#[doc(alias = "InvalidateCheckpoint")]
pub(in crate::postgres) struct Invalidations;

impl Action for Invalidations {
    type Request = InvalidateCheckpoint;
    type Effect = Invalidated;
    const DOING: &'static str = "invalidate checkpoints";

    fn text(statements: &Statements) -> &str {
        &statements.invalidate_checkpoint
    }

    fn keys(request: &InvalidateCheckpoint) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn params(_: Option<i64>, rows: &[&InvalidateCheckpoint]) -> Result<Params, String> {
        Ok(Params::new()
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .bigs(rows.iter().map(|row| form::at_most(row.checkpoint_revision)))
            .texts(rows.iter().map(|row| Some(form::storable(&row.reason, limit::ERROR_BYTES)))))
    }

    fn decide(asker: Asker<'_>, request: &InvalidateCheckpoint, row: &Row) -> Decision<Invalidated> {
        let checkpoint_revision = request.checkpoint_revision;
        let mut entry = Entry {
            asker,
            action: Name::InvalidateCheckpoint,
            job: request.job,
            attempt: None,
            token: None,
            judged: &[],
            detail: Detail { checkpoint_revision: Some(checkpoint_revision), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::CheckpointValid);
        }
        if let Some(revision) = column::maybe_count(row, "invalidated_revision")? {
            return Decided::silent(Stamped::taken(mark(revision), Invalidated { checkpoint_revision }));
        }
        let seen = column::seen(row)?;
        entry.token = Some(column::token(row, "token")?);
        entry.detail.progress = Some(column::count(row, "progress")?);
        entry.detail.phase_after = Some(seen.phase);
        entry.detail.max_attempts = Some(seen.max_attempts);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        entry.taken(seen.revision + 1, Invalidated { checkpoint_revision })
    }
}
