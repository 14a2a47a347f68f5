//! How the room reaches its server.
//!
//! Promises: no command waits longer than its time limit; a fault says whether the command may have been applied; a
//! late answer is never taken for the next command's, because its connection is dropped. Connects anew only when asked
//! for something, and says nothing of what the server holds then: the epoch decides.
//! Does not know actions or keys.

mod address;
mod connect;
mod connections;
mod failure;
mod info;

use async_trait::async_trait;
use protocol::Fault;

use super::reply::Reply;
use super::script::Script;

pub use address::{Address, BadAddress};
pub(super) use connect::client;
pub(super) use connections::Connections;
pub(super) use info::Info;

/// A script, and what it is called with.
#[derive(Debug)]
pub struct Call<'a> {
    /// Which.
    pub script: Script,
    /// `KEYS`.
    pub keys: Vec<Vec<u8>>,
    /// The epoch believed: `ARGV[1]`. The link puts the server's identity after it.
    pub epoch: u64,
    /// `ARGV` from the third on.
    pub words: Vec<Vec<u8>>,
    /// Operation and object, for messages.
    pub doing: &'a str,
}

impl Call<'_> {
    /// `ARGV`, for a server of this identity.
    #[must_use]
    pub fn arguments(&self, identity: &str) -> Vec<Vec<u8>> {
        let head = [self.epoch.to_string().into_bytes(), identity.as_bytes().to_vec()];
        head.into_iter().chain(self.words.iter().cloned()).collect()
    }
}

/// A way to a server. [`Connections`] is the real one; tests have others.
#[async_trait]
pub trait Link: Send + Sync {
    /// Runs a script.
    async fn script(&self, call: &Call<'_>) -> Result<Reply, Fault>;

    /// Runs one plain command, which the server may apply although no answer comes.
    async fn command(&self, words: &[&[u8]], doing: &str) -> Result<Reply, Fault>;

    /// Tells the lease length in force: every command must be answered within less than a third of it.
    fn lease_is(&self, lease_ms: u64);
}
