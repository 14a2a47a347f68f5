//! The real way to a server: connections that carry one command at a time.
//!
//! Promises: a connection is used by one command at a time and goes back only after its answer, so that no answer is taken
//! for another's; whatever goes wrong with one, all idle ones are dropped too. At most eight, made when needed.
//! Does not ask again: who asked knows what may be repeated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Fault, FaultKind};
use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};
use tokio::sync::Semaphore;

use super::address::Address;
use super::connect::{Made, connect};
use super::failure::{self, Connection};
use super::{Call, Link};
use crate::dragonfly::reply::Reply;

/// Connections at most. More would only queue in the server, which runs one script at a time.
const MOST: usize = 8;
/// The lease length until the pool tells its own.
const LEASE_MS: u64 = 15_000;

/// Connections to one server.
pub(crate) struct Connections {
    address: Address,
    idle: Mutex<Vec<(u64, Made)>>,
    places: Semaphore,
    /// Raised when all connections made so far are to be dropped.
    generation: AtomicU64,
    lease_ms: AtomicU64,
}

/// How far a command came.
#[derive(Default)]
struct Progress {
    sent: std::sync::atomic::AtomicBool,
}

impl Connections {
    pub(crate) fn new(address: Address) -> Self {
        Self {
            address,
            idle: Mutex::new(Vec::new()),
            places: Semaphore::new(MOST),
            generation: AtomicU64::new(0),
            lease_ms: AtomicU64::new(LEASE_MS),
        }
    }

    /// How long a command may take: what the URL says, and always less than a third of the lease.
    pub(crate) fn time_limit(&self) -> Duration {
        let lease = Duration::from_millis(self.lease_ms.load(Ordering::Relaxed));
        let usual = lease * 4 / 15;
        self.address.time_limit.map_or(usual, |given| given.min(lease * 3 / 10))
    }

    fn take_idle(&self) -> Option<Made> {
        let generation = self.generation.load(Ordering::SeqCst);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(made_in, _)| *made_in == generation);
        idle.pop().map(|(_, made)| made)
    }

    fn give_back(&self, generation: u64, made: Made) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((generation, made));
    }

    fn drop_all(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Sends what `send` makes of a connection, inside the time limit.
    async fn ask<F>(&self, doing: &str, send: F) -> Result<Reply, Fault>
    where
        F: AsyncFnOnce(&mut Made, &Progress) -> Result<Value, RedisError>,
    {
        let progress = Progress::default();
        let answer = tokio::time::timeout(self.time_limit(), self.attempt(doing, &progress, send)).await;
        answer.unwrap_or_else(|elapsed| {
            // The connection went with the attempt, and with it the late answer.
            self.drop_all();
            let sent = progress.sent.load(Ordering::SeqCst);
            let kind = if sent { FaultKind::Ambiguous } else { FaultKind::Unreachable };
            Err(Fault::new(kind, doing).caused_by(std::io::Error::from(elapsed)))
        })
    }

    async fn attempt<F>(&self, doing: &str, progress: &Progress, send: F) -> Result<Reply, Fault>
    where
        F: AsyncFnOnce(&mut Made, &Progress) -> Result<Value, RedisError>,
    {
        let place = self.places.acquire().await.map_err(|closed| failure::not_sent(doing, closed))?;
        let generation = self.generation.load(Ordering::SeqCst);
        let mut made = match self.take_idle() {
            Some(made) => made,
            None => connect(&self.address).await.map_err(|error| failure::not_sent(doing, error))?,
        };
        let answer = send(&mut made, progress).await.and_then(Value::extract_error);
        drop(place);
        match answer {
            Ok(value) => {
                self.give_back(generation, made);
                read(value).map_err(|error| failure::fault(FaultKind::Corrupt, doing, error))
            }
            Err(error) => {
                let meaning = failure::of_sent(&error);
                match meaning.connection {
                    Connection::Good => self.give_back(generation, made),
                    Connection::Bad => self.drop_all(),
                }
                Err(failure::fault(meaning.kind, doing, error))
            }
        }
    }
}

impl Progress {
    async fn send(&self, made: &mut Made, command: &Cmd) -> Result<Value, RedisError> {
        self.sent.store(true, Ordering::SeqCst);
        made.connection.send_packed_command(command).await
    }
}

#[async_trait]
impl Link for Connections {
    async fn script(&self, call: &Call<'_>) -> Result<Reply, Fault> {
        let send = async |made: &mut Made, progress: &Progress| {
            let mut command = redis::cmd("EVALSHA");
            command.arg(call.script.hash()).arg(call.keys.len()).arg(&call.keys);
            command.arg(call.arguments(&made.identity));
            let answer = progress.send(made, &command).await.and_then(Value::extract_error);
            match answer {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                    // The server has never seen it, or has forgotten it: surely nothing was done.
                    progress.sent.store(false, Ordering::SeqCst);
                    let load = redis::cmd("SCRIPT").arg("LOAD").arg(call.script.text()).to_owned();
                    made.connection.send_packed_command(&load).await?.extract_error()?;
                    progress.send(made, &command).await
                }
                other => other,
            }
        };
        self.ask(call.doing, send).await
    }

    async fn command(&self, words: &[&[u8]], doing: &str) -> Result<Reply, Fault> {
        let send = async |made: &mut Made, progress: &Progress| {
            let mut command = Cmd::new();
            command.arg(words);
            progress.send(made, &command).await
        };
        self.ask(doing, send).await
    }

    fn lease_is(&self, lease_ms: u64) {
        self.lease_ms.store(lease_ms.max(1), Ordering::Relaxed);
    }
}

fn read(value: Value) -> Result<Reply, RedisError> {
    Ok(match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Number(number),
        Value::BulkString(bytes) => Reply::Bytes(bytes),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Reply::Bytes(text.into_bytes()),
        Value::Okay => Reply::Bytes(b"OK".to_vec()),
        Value::Array(list) | Value::Set(list) => {
            Reply::List(list.into_iter().map(read).collect::<Result<_, _>>()?)
        }
        Value::Map(pairs) => {
            let flat = pairs.into_iter().flat_map(|(key, value)| [key, value]);
            Reply::List(flat.map(read).collect::<Result<_, _>>()?)
        }
        other => {
            let found = format!("{other:?}").chars().take(100).collect::<String>();
            return Err(RedisError::from((
                ErrorKind::UnexpectedReturnType,
                "an answer of an unknown form",
                found,
            )));
        }
    })
}
