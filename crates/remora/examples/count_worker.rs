//! COUNT(n, pause) as a Rust handler: a worker of so many slots that serves the kind `count` for the
//! owner of a data folder.
//!
//! ```sh
//! remora dev --workers 0 &
//! cargo run -p remora --example count_worker -- ./.remora 4
//! remora submit --kind count --arg '{"steps": 20, "pause_ms": 50}'
//! ```

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use remora::{Context, Job, JobError, WorkerProcess};
use serde::Deserialize;

struct Count;

#[derive(Deserialize)]
struct Args {
    steps: u64,
    pause_ms: u64,
    /// Work of each step that gives its thread to nobody else.
    #[serde(default)]
    busy_ms: u64,
    /// How often each step tells its progress, with a kilobyte of text.
    #[serde(default)]
    reports: u64,
}

#[remora::async_trait]
impl Job for Count {
    const KIND: &'static str = "count";
    type Args = Args;

    async fn run(&self, context: Context, args: Args) -> Result<(), JobError> {
        let mut lines = File::options().create(true).append(true).open(context.output()?.join("lines"))?;
        let done: u64 = context.restore()?.unwrap_or(0);
        for step in done + 1..=args.steps {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(args.busy_ms) {
                std::hint::spin_loop();
            }
            for report in 1..=args.reports {
                context.progress(report, Some(args.reports), Some("x".repeat(1_024)))?;
            }
            tokio::time::sleep(Duration::from_millis(args.pause_ms)).await;
            writeln!(lines, "{step}")?;
            context.checkpoint(step, Some(args.steps), &step).await?;
            if context.should_stop() {
                return Err(JobError::new("told to stop; the next attempt goes on from here"));
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    remora::init();
    let mut words = std::env::args().skip(1);
    let folder = words.next().unwrap_or_else(|| "./.remora".to_owned());
    let slots = words.next().map_or(Ok(1), |slots| slots.parse())?;
    WorkerProcess::new(folder).job(Count).without_programs().slots(slots).run()?;
    Ok(())
}
