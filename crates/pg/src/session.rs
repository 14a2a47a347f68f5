//! Sessions with the server: a small pool, each call bounded in time.
//!
//! Promises: a call ends by its deadline, whatever the server does; every statement is a transaction of its own, so no
//! session is left inside one, also when a caller goes away in the middle; a session whose state is not known is thrown
//! away, never given to the next one. Does not decide what a failed call means: `trouble` does.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use protocol::Fault;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, Statements};
use crate::params::Params;
use crate::trouble::Trouble;

/// A statement ends by itself this much before its caller gives up, so that the caller hears so.
const HEADROOM: Duration = Duration::from_millis(50);
/// How often a statement that met another session is tried again, at most.
const TRIES: u32 = 50;

/// The pool.
pub struct Sessions {
    pool: Pool,
    named: bool,
    call_timeout: Duration,
    /// A shorter limit in milliseconds, where there is one; 0 for none.
    shorter_ms: AtomicU64,
    place: String,
}

impl Sessions {
    /// A pool without sessions yet.
    pub fn new(address: &Address, tls: MakeRustlsConnect, connections: usize) -> Self {
        let named = address.statements == Statements::Named;
        let manager = Manager::from_config(
            address.config.clone(),
            tls,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let limit = address.call_timeout;
        let mut builder = Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(limit))
            .create_timeout(Some(limit))
            .recycle_timeout(Some(limit));
        if named {
            builder = builder.post_create(Hook::async_fn(move |client, _| {
                Box::pin(async move { set_up(client, limit).await.map_err(HookError::Backend) })
            }));
        }
        let pool = builder.build().expect("a pool with a runtime can have time limits");
        Self { pool, named, call_timeout: limit, shorter_ms: AtomicU64::new(0), place: address.place() }
    }

    /// Operation and object, for messages.
    pub fn doing(&self, what: &str) -> String {
        format!("{what} in {}", self.place)
    }

    /// How long a call may take.
    #[must_use]
    pub fn call_timeout(&self) -> Duration {
        match self.shorter_ms.load(Ordering::Relaxed) {
            0 => self.call_timeout,
            ms => self.call_timeout.min(Duration::from_millis(ms)),
        }
    }

    /// From now on a call takes no longer than this, either.
    pub fn no_longer_than(&self, ms: u64) {
        self.shorter_ms.store(ms.max(1), Ordering::Relaxed);
    }

    /// Whether statements are prepared.
    pub fn named(&self) -> bool {
        self.named
    }

    /// The rows that a statement answers. Tries again what failed only because another session was in the way.
    pub async fn rows(&self, text: &str, params: &Params) -> Result<Vec<Row>, Trouble> {
        let deadline = Instant::now() + self.call_timeout();
        let mut tries = 0;
        loop {
            match self.once(text, params, deadline).await {
                Err(trouble) if trouble.is_passing() && tries < TRIES => {
                    let pause = Instant::now() + backoff(tries);
                    if pause >= deadline {
                        return Err(trouble);
                    }
                    sleep_until(pause).await;
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    /// What a statement's rows say, where it changes nothing.
    ///
    /// # Errors
    /// A fault that names the operation and the place.
    pub async fn read<T>(
        &self,
        doing: &str,
        (text, params): (&str, Params),
        read: impl FnOnce(&[Row]) -> Result<T, Trouble>,
    ) -> Result<T, Fault> {
        let rows = self.rows(text, &params).await;
        rows.and_then(|rows| read(&rows)).map_err(|trouble| trouble.of_a_read(self.doing(doing)))
    }

    async fn once(&self, text: &str, params: &Params, deadline: Instant) -> Result<Vec<Row>, Trouble> {
        let borrowed = Borrowed(Some(self.borrow(deadline).await?));
        let client = borrowed.0.as_ref().expect("it was borrowed just now");
        let answer = if self.named {
            let types = params.types();
            match timeout_at(deadline, client.prepare_typed_cached(text, &types)).await {
                Err(elapsed) => Err(Trouble::NoConnection(elapsed.into())),
                Ok(Err(error)) => Err(match Trouble::of_a_statement(error) {
                    Trouble::NoAnswer(cause) => Trouble::NoConnection(cause),
                    other => other,
                }),
                Ok(Ok(statement)) => {
                    sent(timeout_at(deadline, client.query(&statement, &params.values())).await)
                }
            }
        } else {
            sent(timeout_at(deadline, client.query_typed(text, &params.typed())).await)
        };
        match &answer {
            Err(trouble) if trouble.ends_session() => drop(borrowed),
            _ => borrowed.give_back(),
        }
        answer
    }

    async fn borrow(&self, deadline: Instant) -> Result<Object, Trouble> {
        match timeout_at(deadline, self.pool.get()).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(Trouble::NoConnection(plainly(error))),
            Err(elapsed) => Err(Trouble::NoConnection(elapsed.into())),
        }
    }
}

type Sent = Result<Result<Vec<Row>, tokio_postgres::Error>, tokio::time::error::Elapsed>;

fn sent(answer: Sent) -> Result<Vec<Row>, Trouble> {
    match answer {
        Ok(Ok(rows)) => Ok(rows),
        Ok(Err(error)) => Err(Trouble::of_a_statement(error)),
        Err(elapsed) => Err(Trouble::NoAnswer(elapsed.into())),
    }
}

/// The error itself, not the pool's words around it.
fn plainly(error: PoolError) -> Box<dyn std::error::Error + Send + Sync> {
    match error {
        PoolError::Backend(error) => error.into(),
        other => other.into(),
    }
}

/// What every session of this program is set to.
pub async fn set_up(client: &Client, limit: Duration) -> Result<(), tokio_postgres::Error> {
    let ms = limit.saturating_sub(HEADROOM).as_millis().to_string();
    client.query_typed(include_str!("sql/session.sql"), &[(&ms, Type::TEXT)]).await.map(drop)
}

/// Longer with every try, and not the same for two sessions that met.
fn backoff(tries: u32) -> Duration {
    let widest = 4_000_u64 << tries.min(4);
    Duration::from_micros(500 + RandomState::new().hash_one(tries) % widest)
}

/// A session on loan. Unless it is given back, it ends: a caller that goes away in the middle of a statement leaves an
/// answer on its way.
struct Borrowed(Option<Object>);

impl Borrowed {
    fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}
