//! What can happen to an installation, one thing at a time, each with its end.
//!
//! Promises: what was struck is undone by [`Fleet::mend`], and needs no restart of anything that did not die. A fault that
//! this machine cannot do is refused with a sentence.

use std::time::Duration;

use anyhow::{Context, ensure};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use testbed::Redis;

use super::Fleet;
use super::process::{Process, Role};
use crate::processes::{freeze, kill, resident_bytes, send, thaw, tree, virtual_bytes};
use crate::proxy::Link;
use crate::seed::Seed;

const SLOW: Duration = Duration::from_millis(100);
/// What a worker may still take when its memory is short.
const SCARCE: u64 = 4 * 1024 * 1024;
/// Fills a small disk.
const BALLOON: &str = "balloon";

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// SIGKILL to a worker.
    WorkerKilled,
    /// SIGSTOP to a worker; its programs go on.
    WorkerFrozen,
    /// SIGSTOP to all workers with everything below them, as a suspended machine.
    MachineSuspended,
    /// SIGTERM to a worker.
    WorkerDrained,
    /// A worker gets no more memory.
    WorkerWithoutMemory,
    /// The disk of a worker's work folders is full.
    DiskFull,
    /// The wall clock of a worker's machine jumps.
    ClockSet,
    /// SIGKILL to a server.
    ServerKilled,
    /// SIGSTOP to a server.
    ServerFrozen,
    /// SIGKILL to PostgreSQL, which is started again.
    PostgresRestarted,
    /// SIGSTOP to PostgreSQL.
    PostgresFrozen,
    /// Every session ended.
    SessionsEnded,
    /// No transaction may write.
    ReadOnly,
    /// SIGKILL to Redis, which is started again, empty.
    RedisRestarted,
    /// SIGSTOP to Redis.
    RedisFrozen,
    /// `FLUSHALL`.
    RedisFlushed,
    /// Redis has reached its memory limit and evicts nothing.
    RedisFull,
    /// The replica takes over, under the same address.
    RedisFailover,
    /// SIGKILL to the object store, which is started again.
    S3Restarted,
    /// SIGSTOP to the object store.
    S3Frozen,
    /// A link of one process: which room, and how it is.
    Link(Room, Bad),
}

/// The far end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// PostgreSQL.
    Durable,
    /// Redis.
    Coordination,
    /// S3.
    Target,
}

/// How a link can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bad {
    /// Every connection is closed.
    Closed,
    /// Nothing passes, nothing is closed.
    Silent,
    /// 100 ms each way.
    Slow,
    /// Closed in place of the next reply.
    ReplyLost,
}

impl Room {
    /// All three, in the order of a process's links.
    pub const ALL: [Self; 3] = [Self::Durable, Self::Coordination, Self::Target];

    fn name(self) -> &'static str {
        match self {
            Self::Durable => "PostgreSQL",
            Self::Coordination => "Redis",
            Self::Target => "S3",
        }
    }
}

impl Bad {
    const ALL: [Self; 4] = [Self::Closed, Self::Silent, Self::Slow, Self::ReplyLost];

    fn link(self) -> Link {
        match self {
            Self::Closed => Link::Closed,
            Self::Silent => Link::Silent,
            Self::Slow => Link::Slow(SLOW),
            Self::ReplyLost => Link::ReplyLost,
        }
    }
}

/// What is undone when a fault ends.
#[derive(Debug)]
enum Undo {
    Nothing,
    Thaw(Vec<u32>),
    Link(usize, usize),
    Writes,
    RedisMemory,
    Memory(Pid),
    Disk,
    Clock,
}

/// A fault under way.
#[derive(Debug)]
pub struct Struck {
    /// Its kind.
    pub fault: Fault,
    undo: Undo,
}

impl Struck {
    /// Whether it is over as soon as it has happened.
    #[must_use]
    pub fn is_a_moment(&self) -> bool {
        matches!(self.undo, Undo::Nothing)
    }
}

impl Fault {
    /// Everything but links, and every link.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::WorkerKilled,
            Self::WorkerFrozen,
            Self::MachineSuspended,
            Self::WorkerDrained,
            Self::WorkerWithoutMemory,
            Self::DiskFull,
            Self::ClockSet,
            Self::ServerKilled,
            Self::ServerFrozen,
            Self::PostgresRestarted,
            Self::PostgresFrozen,
            Self::SessionsEnded,
            Self::ReadOnly,
            Self::RedisRestarted,
            Self::RedisFrozen,
            Self::RedisFlushed,
            Self::RedisFull,
            Self::RedisFailover,
            Self::S3Restarted,
            Self::S3Frozen,
        ];
        all.extend(Room::ALL.into_iter().flat_map(|room| Bad::ALL.map(|bad| Self::Link(room, bad))));
        all
    }

    /// Whether both may be under way at once: no store suffers two.
    #[must_use]
    pub fn goes_with(self, other: Self) -> bool {
        self != other && (self.store().is_none() || self.store() != other.store())
    }

    fn store(self) -> Option<Room> {
        match self {
            Self::PostgresRestarted | Self::PostgresFrozen | Self::SessionsEnded | Self::ReadOnly => {
                Some(Room::Durable)
            }
            Self::RedisRestarted
            | Self::RedisFrozen
            | Self::RedisFlushed
            | Self::RedisFull
            | Self::RedisFailover => Some(Room::Coordination),
            Self::S3Restarted | Self::S3Frozen => Some(Room::Target),
            _ => None,
        }
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> String {
        let name = match self {
            Self::WorkerKilled => "worker killed",
            Self::WorkerFrozen => "worker frozen",
            Self::MachineSuspended => "all workers and their programs suspended",
            Self::WorkerDrained => "worker told to stop",
            Self::WorkerWithoutMemory => "worker without memory",
            Self::DiskFull => "disk of a worker full",
            Self::ClockSet => "wall clock of a worker set",
            Self::ServerKilled => "server killed",
            Self::ServerFrozen => "server frozen",
            Self::PostgresRestarted => "PostgreSQL killed and started",
            Self::PostgresFrozen => "PostgreSQL frozen",
            Self::SessionsEnded => "all PostgreSQL sessions ended",
            Self::ReadOnly => "PostgreSQL read-only",
            Self::RedisRestarted => "Redis killed and started",
            Self::RedisFrozen => "Redis frozen",
            Self::RedisFlushed => "FLUSHALL",
            Self::RedisFull => "Redis at its memory limit",
            Self::RedisFailover => "Redis failed over to its replica",
            Self::S3Restarted => "S3 killed and started",
            Self::S3Frozen => "S3 frozen",
            Self::Link(room, bad) => {
                let bad = match bad {
                    Bad::Closed => "closed",
                    Bad::Silent => "silent",
                    Bad::Slow => "slow",
                    Bad::ReplyLost => "losing a reply",
                };
                return format!("link to {} {bad}", room.name());
            }
        };
        name.to_owned()
    }
}

impl Fleet {
    /// One thing happens to one process, link or store, which chance picks. `None`: nobody is there to be struck.
    ///
    /// # Errors
    /// When this machine cannot do it.
    pub async fn strike(&mut self, fault: Fault, seed: &mut Seed) -> anyhow::Result<Option<Struck>> {
        let undo = match fault {
            Fault::Link(room, bad) => {
                let process = self.any_process(seed);
                Some(self.spoil(process, room, bad))
            }
            Fault::PostgresRestarted | Fault::PostgresFrozen | Fault::SessionsEnded | Fault::ReadOnly => {
                tokio::task::block_in_place(|| self.strike_postgres(fault)).map(Some)?
            }
            Fault::RedisRestarted
            | Fault::RedisFrozen
            | Fault::RedisFlushed
            | Fault::RedisFull
            | Fault::RedisFailover => tokio::task::block_in_place(|| self.strike_redis(fault)).map(Some)?,
            Fault::S3Restarted => {
                tokio::task::block_in_place(|| self.stores.s3.start_again());
                Some(Undo::Nothing)
            }
            Fault::S3Frozen => {
                self.stores.s3.server.freeze();
                Some(Undo::Thaw(vec![self.stores.s3.server.pid()]))
            }
            other => self.strike_process(other, seed)?,
        };
        Ok(undo.map(|undo| Struck { fault, undo }))
    }

    /// The same for a link of a process that is known.
    pub(crate) fn cut(&mut self, process: usize, room: Room, bad: Bad) -> Struck {
        let undo = self.spoil(process, room, bad);
        Struck { fault: Fault::Link(room, bad), undo }
    }

    fn spoil(&mut self, process: usize, room: Room, bad: Bad) -> Undo {
        let link = Room::ALL.iter().position(|one| *one == room).unwrap_or_default();
        self.processes[process].links[link].set(bad.link());
        Undo::Link(process, link)
    }

    fn any_process(&self, seed: &mut Seed) -> usize {
        let all: Vec<usize> = (0..self.processes.len()).collect();
        seed.pick(&all).copied().unwrap_or_default()
    }

    fn one_of(&mut self, role: Role, seed: &mut Seed) -> Option<u32> {
        let pids = self.pids_of(role);
        seed.pick(&pids).copied()
    }

    pub(crate) fn pids_of(&mut self, role: Role) -> Vec<u32> {
        let of_role = self.processes.iter_mut().filter(|process| process.role == role);
        of_role.filter_map(Process::pid).collect()
    }

    fn strike_process(&mut self, fault: Fault, seed: &mut Seed) -> anyhow::Result<Option<Undo>> {
        if fault == Fault::MachineSuspended {
            let workers = self.pids_of(Role::Worker);
            let all: Vec<u32> = workers.iter().flat_map(|pid| [vec![*pid], tree(*pid)].concat()).collect();
            all.iter().copied().for_each(freeze);
            return Ok(Some(Undo::Thaw(all)));
        }
        if fault == Fault::DiskFull {
            return self.fill_disk().map(Some);
        }
        if fault == Fault::ClockSet {
            let minutes = [-10, -1, 1, 10][usize::try_from(seed.below(4)).unwrap_or_default()];
            return self.set_clock(&format!("{minutes:+}m")).map(|()| Some(Undo::Clock));
        }
        let server = matches!(fault, Fault::ServerKilled | Fault::ServerFrozen);
        let role = if server { Role::Server } else { Role::Worker };
        let Some(pid) = self.one_of(role, seed) else { return Ok(None) };
        Ok(Some(match fault {
            Fault::WorkerFrozen | Fault::ServerFrozen => {
                freeze(pid);
                Undo::Thaw(vec![pid])
            }
            Fault::WorkerDrained => {
                send(pid, Signal::TERM);
                Undo::Nothing
            }
            Fault::WorkerWithoutMemory => limit_memory(pid)?,
            _ => {
                kill(pid);
                Undo::Nothing
            }
        }))
    }

    fn strike_postgres(&mut self, fault: Fault) -> anyhow::Result<Undo> {
        let postgres = &mut self.stores.postgres;
        match fault {
            Fault::PostgresRestarted => postgres.start_again(),
            Fault::PostgresFrozen => {
                let pid = postgres.server().pid();
                let all = [vec![pid], tree(pid)].concat();
                all.iter().copied().for_each(freeze);
                return Ok(Undo::Thaw(all));
            }
            Fault::SessionsEnded => drop(postgres.end_sessions().map_err(anyhow::Error::msg)?),
            _ => {
                postgres.set("default_transaction_read_only", Some("on")).map_err(anyhow::Error::msg)?;
                return Ok(Undo::Writes);
            }
        }
        Ok(Undo::Nothing)
    }

    fn strike_redis(&mut self, fault: Fault) -> anyhow::Result<Undo> {
        let redis = &mut self.stores.redis;
        match fault {
            Fault::RedisRestarted => redis.start_again(),
            Fault::RedisFrozen => {
                redis.server().freeze();
                return Ok(Undo::Thaw(vec![redis.server().pid()]));
            }
            Fault::RedisFull => {
                drop(redis.try_say("CONFIG SET maxmemory 1")?);
                return Ok(Undo::RedisMemory);
            }
            // A server that is away holds nothing to flush.
            Fault::RedisFlushed => drop(redis.try_say("FLUSHALL")),
            _ => self.fail_over()?,
        }
        Ok(Undo::Nothing)
    }

    /// A replica that has followed takes over; the old server is dead, and the name leads to the new one.
    fn fail_over(&mut self) -> anyhow::Result<()> {
        let replica = Redis::replica_of(&self.stores.redis);
        let mut old = std::mem::replace(&mut self.stores.redis, replica);
        old.server().kill();
        let answer = self.stores.redis.say("REPLICAOF NO ONE");
        ensure!(answer.starts_with("+OK"), "the replica does not take over: {answer}");
        self.lead_to_redis();
        Ok(())
    }

    fn fill_disk(&mut self) -> anyhow::Result<Undo> {
        let disk = self.small_disk.clone().context("no worker has a small disk")?;
        // It ends with the error that is wanted.
        let _ = std::io::copy(
            &mut std::io::repeat(b'x'),
            &mut std::fs::File::create(disk.join(BALLOON)).context("fill the small disk")?,
        );
        Ok(Undo::Disk)
    }

    fn set_clock(&mut self, offset: &str) -> anyhow::Result<()> {
        let file = self.clock.as_ref().context("no worker has a clock of its own")?;
        std::fs::write(file, format!("{offset}\n")).context("set the clock of a worker")
    }

    /// Ends a fault.
    ///
    /// # Errors
    /// When a store does not hear it: to be tried again.
    pub fn mend(&mut self, struck: &Struck) -> anyhow::Result<()> {
        match &struck.undo {
            Undo::Nothing => {}
            Undo::Thaw(pids) => pids.iter().copied().for_each(thaw),
            Undo::Link(process, link) => self.processes[*process].links[*link].set(Link::Open),
            Undo::Writes => tokio::task::block_in_place(|| {
                self.stores.postgres.set("default_transaction_read_only", None).map_err(anyhow::Error::msg)
            })?,
            // One that was started anew has no limit.
            Undo::RedisMemory => drop(self.stores.redis.try_say("CONFIG SET maxmemory 0")?),
            Undo::Memory(pid) => {
                // It may have died of it.
                let _ = prlimit(Some(*pid), Resource::As, Rlimit { current: None, maximum: None });
            }
            Undo::Disk => {
                let disk = self.small_disk.as_ref().context("no worker has a small disk")?;
                std::fs::remove_file(disk.join(BALLOON)).context("free the small disk")?;
            }
            Undo::Clock => self.set_clock("+0")?,
        }
        Ok(())
    }
}

fn limit_memory(pid: u32) -> anyhow::Result<Undo> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a process id")?;
    let most = virtual_bytes(pid).max(resident_bytes(pid)) + SCARCE;
    let limit = Rlimit { current: Some(most), maximum: None };
    prlimit(Some(process), Resource::As, limit).context("limit the memory of a worker")?;
    Ok(Undo::Memory(process))
}
