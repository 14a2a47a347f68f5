//! Tasks.

use std::future::Future;
use std::pin::Pin;

/// A future on the heap that any thread may run.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts tasks that run beside their starter.
pub trait Spawner: Send + Sync {
    /// Starts one. It ends by itself; who needs its result sends it over a channel.
    fn spawn(&self, task: BoxFuture<()>);

    /// Runs work that keeps its thread for a while, such as local files, beside the tasks; a simulation runs it at once,
    /// where it stands. It ends by itself; who needs its result sends it over a channel.
    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send>) {
        // Its end is told by the work itself.
        drop(tokio::task::spawn_blocking(work));
    }
}

/// Tokio's current runtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioSpawner;

impl Spawner for TokioSpawner {
    fn spawn(&self, task: BoxFuture<()>) {
        tokio::spawn(task);
    }
}

/// Another of tokio's runtimes than the caller's: for work that may keep threads to itself.
impl Spawner for tokio::runtime::Handle {
    fn spawn(&self, task: BoxFuture<()>) {
        // Its end is told by the task itself.
        drop(Self::spawn(self, task));
    }
}
