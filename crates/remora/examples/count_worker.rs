//! COUNT(n, pause) as a Rust handler: a worker that serves the kind `count` for the owner of a data folder.
//!
//! ```sh
//! remora dev --workers 0 &
//! cargo run -p remora --example count_worker -- ./.remora
//! remora submit --kind count --arg '{"steps": 20, "pause_ms": 50}'
//! ```

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use remora::{Context, Job, JobError, WorkerProcess};
use serde::Deserialize;

struct Count;

#[derive(Deserialize)]
struct Args {
    steps: u64,
    pause_ms: u64,
}

#[remora::async_trait]
impl Job for Count {
    const KIND: &'static str = "count";
    type Args = Args;

    async fn run(&self, context: Context, args: Args) -> Result<(), JobError> {
        let mut lines = File::options().create(true).append(true).open(context.output()?.join("lines"))?;
        let done: u64 = context.restore()?.unwrap_or(0);
        for step in done + 1..=args.steps {
            writeln!(lines, "{step}")?;
            context.checkpoint(step, Some(args.steps), &step).await?;
            if context.should_stop() {
                return Err(JobError::new("told to stop; the next attempt goes on from here"));
            }
            tokio::time::sleep(Duration::from_millis(args.pause_ms)).await;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    remora::init();
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "./.remora".into());
    WorkerProcess::new(folder).job(Count).without_programs().run()?;
    Ok(())
}
