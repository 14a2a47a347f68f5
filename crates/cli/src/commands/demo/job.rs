//! The demo's job: hash and compress files, one after another, with a checkpoint after each.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::{Compression, GzBuilder};
use remora::{Context, Job, JobError, async_trait};
use serde::{Deserialize, Serialize};
use target::Digest;

/// What one job is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DemoArgs {
    pub(super) folder: PathBuf,
    pub(super) files: Vec<PathBuf>,
    pub(super) pause_ms: u64,
}

/// Serves the kind `remora.demo`.
pub(crate) struct DemoJob;

/// Hashes and compresses one file into the output folder. Also what the serial run does.
pub(super) fn one_file(folder: &Path, file: &Path, output: &Path) -> std::io::Result<()> {
    let bytes = fs::read(folder.join(file))?;
    let mut packed = output.join(file).into_os_string();
    packed.push(".gz");
    let packed = PathBuf::from(packed);
    if let Some(parent) = packed.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut encoder = GzBuilder::new().mtime(0).write(fs::File::create(packed)?, Compression::default());
    encoder.write_all(&bytes)?;
    encoder.finish()?;
    let mut list = OpenOptions::new().create(true).append(true).open(output.join("hashes.txt"))?;
    writeln!(list, "{} {:>8} {}", Digest::of(&bytes), bytes.len(), file.display())
}

#[async_trait]
impl Job for DemoJob {
    const KIND: &'static str = "remora.demo";
    type Args = DemoArgs;

    async fn run(&self, context: Context, args: DemoArgs) -> Result<(), JobError> {
        let output = context.output()?;
        let done: usize = context.restore()?.unwrap_or(0);
        let total = u64::try_from(args.files.len())?;
        for (index, file) in args.files.iter().enumerate().skip(done) {
            if context.should_stop() {
                return Err(JobError::new("told to stop"));
            }
            one_file(&args.folder, file, &output)?;
            let done = index + 1;
            context.checkpoint(u64::try_from(done)?, Some(total), &done).await?;
            tokio::time::sleep(Duration::from_millis(args.pause_ms)).await;
        }
        Ok(())
    }
}
