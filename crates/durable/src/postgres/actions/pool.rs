//! The pool's row: the epoch's compare-and-swap (protocol rule 9) and the configuration.

use protocol::{ActorId, Fault, FaultKind, Guard, InstallationId, Mark, Origin, Stamped, TargetId};
use tokio_postgres::Row;

use crate::postgres::batch::Desk;
use crate::postgres::column::{self, get};
use crate::postgres::entry::mark;
use crate::postgres::params::{Params, small};
use crate::postgres::trouble::Trouble;
use crate::{Configure, PoolRow, RaiseEpoch, form};

/// The pool's row and what only this room needs of it.
struct Found {
    pool: PoolRow,
    raised_from: u64,
    raised_by: Option<ActorId>,
    mark: Mark,
}

fn found(rows: &[Row]) -> Result<Found, Trouble> {
    let row = rows.first().ok_or_else(|| Trouble::BadRow("the pool has no row".to_owned()))?;
    Ok(Found {
        pool: PoolRow {
            epoch: column::count(row, "epoch")?,
            open: get(row, "open")?,
            lease_ms: column::count(row, "lease_ms")?,
            global_limit: column::small(row, "global_limit")?,
            paused: get(row, "paused")?,
            config_revision: column::count(row, "config_revision")?,
            installation: InstallationId::from_bytes(column::id(row, "installation")?),
            target: column::maybe_id(row, "target")?.map(TargetId::from_bytes),
        },
        raised_from: column::count(row, "raised_from")?,
        raised_by: column::maybe_id(row, "raised_by")?.map(ActorId::from_bytes),
        mark: mark(column::count(row, "revision")?),
    })
}

/// The pool's row.
pub(in crate::postgres) fn read_pool(rows: &[Row]) -> Result<PoolRow, Trouble> {
    found(rows).map(|found| found.pool)
}

/// The row after a compare-and-swap that holds now, else the refusal.
fn answer(found: Found, holds: bool) -> Stamped<PoolRow> {
    if holds {
        Stamped::taken(found.mark, found.pool)
    } else {
        Stamped::refused(found.mark, Guard::EpochCurrent)
    }
}

impl Desk {
    async fn change(&self, doing: &str, text: &str, params: Params) -> Result<Found, Fault> {
        let rows = self.sessions.rows(text, &params).await;
        let found = rows.and_then(|rows| found(&rows));
        found.map_err(|trouble| trouble.of_an_action(self.sessions.doing(doing)))
    }

    /// Moves the epoch from one that is open to a higher one, `opening`. The same move by the same
    /// actor again finds it done.
    pub(in crate::postgres) async fn raise_epoch(
        &self,
        origin: &Origin,
        change: &RaiseEpoch,
    ) -> Result<Stamped<PoolRow>, Fault> {
        let doing = "raise the pool's epoch";
        let RaiseEpoch { from, to } = *change;
        let to_column =
            form::integer("epoch", to).map_err(|text| Fault::new(FaultKind::Unreachable, text))?;
        let params = Params::new().big(form::at_most(from)).big(to_column).id(origin.actor.to_bytes());
        let found = self.change(doing, &self.statements.raise_epoch, params).await?;
        let holds =
            found.pool.epoch == to && found.raised_from == from && found.raised_by == Some(origin.actor);
        Ok(answer(found, holds))
    }

    /// Marks the epoch open.
    pub(in crate::postgres) async fn open_epoch(&self, epoch: u64) -> Result<Stamped<PoolRow>, Fault> {
        let params = Params::new().big(form::at_most(epoch));
        let found = self.change("open the pool's epoch", &self.statements.open_epoch, params).await?;
        let holds = found.pool.epoch == epoch;
        Ok(answer(found, holds))
    }

    /// Changes the configuration. A change that changes nothing raises no revision, so it can be repeated.
    pub(in crate::postgres) async fn configure(&self, change: &Configure) -> Result<PoolRow, Fault> {
        let doing = "configure the pool";
        change.validate().map_err(|violation| Fault::unreachable(doing, violation))?;
        let params = Params::new()
            .maybe_small(change.global_limit.map(small))
            .maybe_big(change.lease_ms.map(form::at_most))
            .text(change.pause.clone())
            .text(change.resume.clone());
        Ok(self.change(doing, &self.statements.configure, params).await?.pool)
    }

    /// Remembers the target that is named first; a later one changes nothing.
    pub(in crate::postgres) async fn adopt_target(&self, target: TargetId) -> Result<TargetId, Fault> {
        let doing = "remember the target";
        let params = Params::new().id(target.to_bytes());
        let row = self.change(doing, &self.statements.adopt_target, params).await?.pool;
        row.target.ok_or_else(|| Fault::new(FaultKind::Corrupt, doing))
    }
}
