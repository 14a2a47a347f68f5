//! The jobs that tests submit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::job::Command;
use protocol::{JobSpec, RetryPolicy};

/// `examples/count.sh`: COUNT(n, pause) in the resumable form.
#[must_use]
pub fn count_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/count.sh")
}

fn program(argv: Vec<String>, env: Vec<(String, String)>) -> JobSpec {
    JobSpec {
        command: Some(Command { argv, cwd: None, env }),
        retry: RetryPolicy { base_ms: 200, cap_ms: 1_000 },
        ..JobSpec::default()
    }
}

/// COUNT(n, pause), appending what really ran to `trace`.
#[must_use]
pub fn count(steps: u32, pause: Duration, trace: Option<&Path>) -> JobSpec {
    let env = trace.map(|path| ("TRACE".to_owned(), path.display().to_string())).into_iter().collect();
    let words = [count_script().display().to_string(), steps.to_string(), pause.as_secs_f64().to_string()];
    program([vec!["/bin/sh".to_owned()], words.to_vec()].concat(), env)
}

/// A shell text as a program.
#[must_use]
pub fn shell(text: &str) -> JobSpec {
    program(vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()], Vec::new())
}

/// What COUNT publishes in its file `lines`, however often it was interrupted: `seq 1 n`.
#[must_use]
pub fn count_result(steps: u32) -> String {
    (1..=steps).map(|step| format!("{step}\n")).collect()
}
