//! What is pool-wide: epoch, configuration, registrations. The spec has only the loss of it.
//!
//! Promises: an epoch is installed by one script, and what an older epoch left is deleted by whoever opens, key by key.
//! Protocol rules 6 and 9.

use std::sync::atomic::Ordering;

use protocol::{AttemptId, Fault, Incarnation, InstallationId, Mark, Stamped, Step, Window};

use super::batch::{ROWS, stale};
use super::reply::{Answered, Fields, Reply, Row, Verdict, corrupt};
use super::script::Script;
use super::shared::{Heard, Request, Shared};
use super::words::{Words, paused_text, read_paused, read_window, serves};
use crate::{At, PoolConfig, PoolState, Registered, Registration, Wake};

/// Kinds and queues that one worker may serve: pairs of them.
const SERVES: usize = 1_000;
/// The lease length until a configuration is copied in.
const LEASE_MS: u64 = 15_000;

/// A step of pool-wide state: its row, or the refusal.
enum Whole {
    Stale(u64),
    Row(Mark, Row, u64),
}

impl Shared {
    /// Asks for a step that answers with one row.
    async fn whole(&self, at: &At, script: Script, words: Words, doing: &str) -> Result<Whole, Fault> {
        match self.ask(Request { script, epoch: at.epoch, words, doing }).await? {
            Heard::Stale(epoch) => Ok(Whole::Stale(epoch)),
            Heard::Current(answered) => {
                let (epoch, lease_ms) = (answered.epoch, answered.lease_ms);
                let mut rows = answered.into_rows().map_err(corrupt(doing))?;
                let row = rows.pop().ok_or_else(|| Fault::new(protocol::FaultKind::Corrupt, doing))?;
                Ok(Whole::Row(Mark { epoch, order: row.order }, row, lease_ms))
            }
        }
    }

    pub(super) async fn register(&self, at: &At, who: &Registration) -> Result<Stamped<Registered>, Fault> {
        const DOING: &str = "register a worker";
        let serves = serves(who);
        if serves.len() > SERVES {
            let reason = format!("a worker may serve {SERVES} pairs of kind and queue, not {}", serves.len());
            return Ok(Stamped::set_aside(self.highest(), reason));
        }
        let mut words = Words::default();
        words.id(who.worker.0);
        words.json(who);
        serves.into_iter().for_each(|one| words.text(one));
        match self.whole(at, Script::Register, words, DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, mut row, lease_ms) => {
                if row.fields.take().and_then(|served| served.flag()).map_err(corrupt(DOING))? {
                    self.hub.tell_one(Wake::Served);
                }
                let drain = row.fields.take().and_then(|asked| asked.flag()).map_err(corrupt(DOING))?;
                let mut windows = self.known_windows(at.epoch).await?;
                windows.retain(|window| who.serves(window));
                windows.sort_unstable();
                Ok(Stamped::taken(mark, Registered { windows, lease_ms, drain }))
            }
        }
    }

    /// Windows that have entries.
    async fn known_windows(&self, epoch: u64) -> Result<Vec<Window>, Fault> {
        const DOING: &str = "list windows";
        let key = self.names.of(epoch, "windows");
        let texts = self.link.command(&[b"HKEYS", &key], DOING).await?.list().map_err(corrupt(DOING))?;
        texts.iter().map(|text| read_window(text.text()?)).collect::<Result<_, _>>().map_err(corrupt(DOING))
    }

    pub(super) async fn request_drain(&self, at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault> {
        const DOING: &str = "ask a worker to drain";
        let mut words = Words::default();
        words.id(worker.0);
        match self.whole(at, Script::RequestDrain, words, DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, mut row, _) => {
                let known = row.fields.take().and_then(|known| known.flag()).map_err(corrupt(DOING))?;
                Ok(Stamped::taken(mark, known))
            }
        }
    }

    pub(super) async fn deregister(&self, at: &At, worker: Incarnation) -> Result<(), Fault> {
        const DOING: &str = "deregister a worker";
        let mut words = Words::default();
        words.id(worker.0);
        if let Whole::Row(_, mut row, _) = self.whole(at, Script::Deregister, words, DOING).await?
            && row.fields.take().and_then(|known| known.flag()).map_err(corrupt(DOING))?
        {
            self.hub.tell_one(Wake::Served);
        }
        Ok(())
    }

    pub(super) async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        const DOING: &str = "configure the pool";
        let mut words = Words::default();
        words.number(config.revision);
        words.number(config.global_limit);
        words.number(config.lease_ms);
        words.text(paused_text(&config.paused));
        match self.whole(at, Script::Configure, words, DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, mut row, _) => {
                if row.fields.take().and_then(|now| now.flag()).map_err(corrupt(DOING))? {
                    self.link.lease_is(config.lease_ms);
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
        let mut words = Words::default();
        words.number(if seen.epoch == epoch { seen.order + 1 } else { 0 });
        words.id(installation.0);
        let request = Request { script: Script::InstallEpoch, epoch, words, doing: DOING };
        let read = |reply: Reply| {
            let mut fields = Fields::new(reply.list()?);
            Ok((fields.take()?.number::<u64>()?, fields.take()?.flag()?))
        };
        let (there, now) = read(self.send(request).await?).map_err(corrupt(DOING))?;
        self.epoch.store(there, Ordering::SeqCst);
        if now {
            self.hub.tell_one(Wake::Epoch);
        }
        self.pool().await
    }

    pub(super) async fn account(&self, at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault> {
        let mut last = None;
        // An empty batch is asked for, too: its answer tells whether the pool is open.
        let empty: &[&[AttemptId]] = &[&[]];
        let chunks = attempts.chunks(ROWS).chain(empty.iter().copied().filter(|_| attempts.is_empty()));
        for chunk in chunks {
            let mut words = Words::default();
            chunk.iter().for_each(|attempt| words.id(attempt.0));
            match self.whole(at, Script::Account, words, "account for attempts").await? {
                Whole::Stale(epoch) => return Ok(stale(epoch)),
                Whole::Row(mark, row, _) => match row.verdict {
                    Verdict::Taken { .. } => last = Some(mark),
                    Verdict::Refused(guard) => return Ok(Stamped::refused(mark, guard)),
                },
            }
        }
        Ok(Stamped { mark: last.unwrap_or_default(), step: Step::Taken(()) })
    }

    pub(super) async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault> {
        const DOING: &str = "open the pool";
        match self.whole(at, Script::OpenEpoch, Words::default(), DOING).await? {
            Whole::Stale(epoch) => Ok(stale(epoch)),
            Whole::Row(mark, mut row, _) => {
                if row.fields.take().and_then(|now| now.flag()).map_err(corrupt(DOING))? {
                    self.hub.tell_one(Wake::Epoch);
                }
                let old = row.fields.take().map_err(corrupt(DOING))?;
                let old = old.text().map_err(corrupt(DOING))?;
                if !old.is_empty() {
                    self.sweep(at, old).await?;
                }
                Ok(Stamped::taken(mark, ()))
            }
        }
    }

    /// Deletes what older epochs left, one key at a time, and then forgets that they were.
    async fn sweep(&self, at: &At, old: &str) -> Result<(), Fault> {
        const DOING: &str = "delete an older epoch's keys";
        for epoch in old.split_whitespace().filter_map(|epoch| epoch.parse().ok()) {
            for key in self.names.of_epoch(epoch) {
                self.link.command(&[b"UNLINK", &key], DOING).await?;
            }
        }
        let mut words = Words::default();
        words.text(old);
        let request = Request { script: Script::SweptEpoch, epoch: at.epoch, words, doing: DOING };
        self.ask(request).await.map(drop)
    }

    /// The pool, of whichever epoch is there.
    pub(super) async fn pool(&self) -> Result<PoolState, Fault> {
        const DOING: &str = "read the pool";
        match self.current(Script::Pool, Words::default(), DOING).await? {
            Some(answered) => read_pool(answered).map_err(corrupt(DOING)),
            None => Ok(empty_pool()),
        }
    }

    /// Reads with a script in the epoch that is there; nothing when the store is empty.
    pub(super) async fn current(
        &self,
        script: Script,
        words: Words,
        doing: &str,
    ) -> Result<Option<Answered>, Fault> {
        let mut epoch = self.epoch.load(Ordering::SeqCst);
        // An epoch that changes more often than this while it is asked for is as good as none.
        for _ in 0..4 {
            let words = Words(words.0.clone());
            match self.read(Request { script, epoch, words, doing }).await? {
                Heard::Current(answered) => return Ok(Some(answered)),
                Heard::Stale(0) => return Ok(None),
                Heard::Stale(there) => epoch = there,
            }
        }
        Ok(None)
    }

    /// `LoseCoordinationState`, on purpose: this pool's keys are deleted, and nothing else of the server.
    pub(super) async fn lose(&self) -> Result<Mark, Fault> {
        const DOING: &str = "delete the pool's keys";
        let epoch = match self.pool().await?.mark.epoch {
            0 => self.epoch.load(Ordering::SeqCst),
            there => there,
        };
        let request = Request { script: Script::Lose, epoch, words: Words::default(), doing: DOING };
        let read = |reply: Reply| {
            let mut fields = Fields::new(reply.list()?);
            Ok(Mark { epoch: fields.take()?.number()?, order: fields.take()?.number()? })
        };
        let was = read(self.send(request).await?).map_err(corrupt(DOING))?;
        self.hub.tell_one(Wake::Epoch);
        Ok(was)
    }
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

fn read_pool(answered: Answered) -> super::reply::Read<PoolState> {
    let Answered { epoch, order, lease_ms, limit, rows, .. } = answered;
    let row = rows.into_iter().next().unwrap_or(Reply::Nil);
    let mut fields = Fields::new(row.list()?);
    let mut next = || fields.take();
    let (open, epoch_age_ms, grace_over) = (next()?.flag()?, next()?.number()?, next()?.flag()?);
    let (revision, paused) = (next()?.number()?, read_paused(next()?.text()?));
    let mut state = PoolState {
        mark: Mark { epoch, order },
        installation: None,
        open,
        epoch_age_ms,
        grace_over,
        config: PoolConfig { revision, global_limit: limit, lease_ms, paused },
        leases: next()?.number()?,
        reservations: next()?.number()?,
        unaccounted: next()?.number()?,
        queued: next()?.number()?,
    };
    state.installation = next()?.id_if_any()?.map(InstallationId);
    Ok(state)
}
