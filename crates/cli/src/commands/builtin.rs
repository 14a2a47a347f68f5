//! Jobs that every worker of this binary serves: what the demo and `remora bench` run.

#[cfg(feature = "embedded")]
use super::demo::DemoJob;
use remora::{Context, Job, JobError, WorkerProcess, async_trait};

/// Does nothing, so that what remains is the cost of Remora itself.
pub(crate) struct Noop;

#[async_trait]
impl Job for Noop {
    const KIND: &'static str = "remora.noop";
    type Args = Option<serde_json::Value>;

    async fn run(&self, _context: Context, _args: Self::Args) -> Result<(), JobError> {
        Ok(())
    }
}

/// Adds them to a worker.
pub(crate) fn jobs(process: WorkerProcess) -> WorkerProcess {
    let process = process.job(Noop);
    #[cfg(feature = "embedded")]
    let process = process.job(DemoJob);
    process
}
