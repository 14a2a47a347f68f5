//! What is pool-wide: epoch, configuration, registrations. The spec has only the loss of it.
//!
//! Promises: an epoch is installed by one transaction, which deletes all that an older one left. Protocol rules 6 and 9.

use pg::Row;
use protocol::{AttemptId, Fault, Incarnation, InstallationId, Mark, Stamped};

use super::batch::{ROWS, stale};
use super::desk::{Desk, Heard, big, is_text, json};
use super::params::Params;
use super::reply::{Answered, Read, Step, must, number, window};
use crate::remote::events::Verdict;
use crate::{At, PoolConfig, PoolState, Registered, Registration, Wake};

/// Kinds and queues that one worker may name.
const NAMES: usize = 1_000;
/// The lease length until a configuration is copied in.
const LEASE_MS: u64 = 15_000;

/// A step of pool-wide state: its only row, or the refusal.
enum Whole {
    Stale(u64),
    Row(Mark, Step),
}

impl Desk {
    /// Asks for a step that answers with one row.
    async fn whole(&self, at: &At, call: (&str, &Params), doing: &str) -> Result<Whole, Fault> {
        match self.ask(at.epoch, call, doing).await? {
            Heard::Stale(epoch) => Ok(Whole::Stale(epoch)),
            Heard::Current(answered) => {
                let head = answered.head;
                let step = self.sound(answered.into_step(), doing)?;
                Ok(Whole::Row(head.mark(step.order), step))
            }
        }
    }

    pub(super) async fn register(&self, at: &At, who: &Registration) -> Result<Stamped<Registered>, Fault> {
        const DOING: &str = "register a worker";
        if let Some(reason) = unfit(who) {
            return Ok(Stamped::set_aside(self.highest(), reason));
        }
        let params = self.first(at.epoch).id(who.worker.to_bytes()).text(Some(json(who)));
        let params = params.maybe_texts(who.queues.clone());
        let params = params.texts(who.kinds.iter().cloned().map(Some)).bool(who.draining);
        match self.ask(at.epoch, (&self.statements.register, &params), DOING).await? {
            Heard::Stale(epoch) => Ok(stale(epoch)),
            Heard::Current(answered) => {
                let head = answered.head;
                let (order, serves_other, drain, windows) = self.sound(registered(&answered), DOING)?;
                if serves_other {
                    self.hub.tell_one(Wake::Served);
                }
                Ok(Stamped::taken(head.mark(order), Registered { windows, lease_ms: head.lease_ms, drain }))
            }
        }
    }

    pub(super) async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        const DOING: &str = "deregister a worker";
        let params = self.first(at.epoch).id(worker.to_bytes());
        if let Whole::Row(_, step) = self.whole(at, (&self.statements.deregister, &params), DOING).await?
            && self.sound(step.flag(), DOING)?
        {
            self.hub.tell_one(Wake::Served);
        }
        Ok(())
    }

    pub(super) async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        const DOING: &str = "ask a worker to drain";
        let params = self.first(at.epoch).id(worker.to_bytes());
        match self.whole(at, (&self.statements.request_drain, &params), DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, step) => Ok(Stamped::taken(mark, self.sound(step.flag(), DOING)?)),
        }
    }

    pub(super) async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        const DOING: &str = "configure the pool";
        let storable = config.paused.iter().filter(|queue| is_text(queue)).cloned();
        let params = self.first(at.epoch).big(big(config.revision)).big(config.global_limit.into());
        let params = params.big(big(config.lease_ms)).texts(storable.map(Some));
        match self.whole(at, (&self.statements.configure, &params), DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, step) => {
                if self.sound(step.flag(), DOING)? {
                    self.sessions.no_longer_than(config.lease_ms.saturating_mul(3) / 10);
                    self.hub.tell_one(Wake::Freed);
                }
                Ok(Stamped::taken(mark, ()))
            }
        }
    }

    pub(super) async fn install_epoch(
        &self,
        epoch: u64,
        installation: InstallationId,
    ) -> Result<PoolState, Fault> {
        const DOING: &str = "install an epoch";
        // One of this number may have been lost while it was opening: its moments must not come twice.
        let seen = self.highest();
        let first = if seen.epoch == epoch { seen.order + 1 } else { 0 };
        let params = self.first(epoch).big(big(first)).id(installation.to_bytes());
        let rows = self.act(&self.statements.install_epoch, &params, DOING).await?;
        let installed: Read<bool> = must(rows.first(), "row").and_then(|row| pg::get(row, "installed"));
        if self.sound(installed, DOING)? {
            self.hub.tell_one(Wake::Epoch);
        }
        self.pool().await
    }

    pub(super) async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        let mut last = Mark::default();
        // An empty batch is asked for, too: its answer tells whether the pool is open.
        let empty: &[&[AttemptId]] = &[&[]];
        let chunks = attempts.chunks(ROWS).chain(empty.iter().copied().filter(|_| attempts.is_empty()));
        for chunk in chunks {
            let params = self.first(at.epoch).ids(chunk.iter().map(|attempt| attempt.to_bytes()));
            match self.whole(at, (&self.statements.account, &params), "account for attempts").await? {
                Whole::Stale(epoch) => return Ok(stale(epoch)),
                Whole::Row(mark, step) => match step.verdict {
                    Verdict::Taken { .. } => last = mark,
                    Verdict::Refused(guard) => return Ok(Stamped::refused(mark, guard)),
                },
            }
        }
        Ok(Stamped::taken(last, ()))
    }

    pub(super) async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        const DOING: &str = "open the pool";
        let params = self.first(at.epoch);
        match self.whole(at, (&self.statements.open_epoch, &params), DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, step) => {
                if self.sound(step.flag(), DOING)? {
                    self.hub.tell_one(Wake::Epoch);
                }
                Ok(Stamped::taken(mark, ()))
            }
        }
    }

    /// The pool, of whichever epoch is there.
    pub(super) async fn pool(&self) -> Result<PoolState, Fault> {
        let params = Params::new().text(Some(self.pool.clone())).now(self.now());
        let read = |rows: &[Row]| rows.first().map_or_else(|| Ok(empty_pool()), read_pool);
        self.sessions.read("read the pool", (&self.statements.pool, params), read).await
    }

    /// `LoseCoordinationState`, on purpose. Answers where the pool had come to.
    pub(super) async fn lose(&self) -> Result<Mark, Fault> {
        const DOING: &str = "delete what the pool holds";
        let params = Params::new().text(Some(self.pool.clone()));
        let rows = self.act(&self.statements.lose, &params, DOING).await?;
        let was = must(rows.first(), "row")
            .and_then(|row| Ok(Mark { epoch: number(row, "epoch")?, order: number(row, "revision")? }));
        self.hub.tell_one(Wake::Epoch);
        self.sound(was, DOING)
    }
}

/// Why a worker's registration can never be kept.
fn unfit(who: &Registration) -> Option<String> {
    let queues = who.queues.as_deref().unwrap_or_default();
    let names = who.kinds.len() + queues.len();
    if names > NAMES {
        return Some(format!("a worker may name {NAMES} kinds and queues, not {names}"));
    }
    let fits = who.kinds.iter().chain(queues).all(|name| is_text(name));
    (!fits).then(|| "a name of a kind or queue holds a character that PostgreSQL cannot".to_owned())
}

/// The order, whether it serves something else than before, and the windows that wait.
fn registered(answered: &Answered) -> Read<(u64, bool, bool, Vec<protocol::Window>)> {
    let (first, others) = must(answered.rows().split_first(), "step")?;
    let mut windows: Vec<_> = others.iter().map(window).collect::<Read<_>>()?;
    windows.sort_unstable();
    Ok((number(first, "revision")?, pg::get(first, "flag")?, pg::get(first, "drain")?, windows))
}

fn empty_pool() -> PoolState {
    PoolState {
        mark: Mark::default(),
        installation: None,
        open: false,
        epoch_age_ms: 0,
        grace_over: false,
        config: PoolConfig { revision: 0, global_limit: 0, lease_ms: LEASE_MS, paused: Vec::new() },
        leases: 0,
        reservations: 0,
        unaccounted: 0,
        queued: 0,
    }
}

fn read_pool(row: &Row) -> Read<PoolState> {
    Ok(PoolState {
        mark: Mark { epoch: number(row, "epoch")?, order: number(row, "revision")? },
        installation: super::reply::installation(row)?,
        open: pg::get(row, "open")?,
        epoch_age_ms: number(row, "epoch_age_ms")?,
        grace_over: pg::get(row, "grace_over")?,
        config: PoolConfig {
            revision: number(row, "config_revision")?,
            global_limit: number(row, "global_limit")?,
            lease_ms: number(row, "lease_ms")?,
            paused: pg::get(row, "paused")?,
        },
        leases: number(row, "leases")?,
        reservations: number(row, "reservations")?,
        unaccounted: number(row, "unaccounted")?,
        queued: number(row, "queued")?,
    })
}
