//! What a worker is told at its start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::{Incarnation, JobSpec, Violation, job::check_name};
use thiserror::Error;

use crate::companion::Companion;

/// A worker's options.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// For people; the same name may return under a new incarnation.
    pub name: String,
    /// This start of it; never reused.
    pub incarnation: Incarnation,
    /// Places to run. Too small: the machine idles; too large: jobs slow each other. At least 1.
    pub slots: u32,
    /// The queues it serves; `None` for all.
    pub queues: Option<Vec<String>>,
    /// The kinds it serves beside those of its handlers.
    pub kinds: Vec<String>,
    /// Where attempts work: one folder an incarnation is made in it.
    pub work: PathBuf,
    /// Notice that a drain gives running jobs before SIGTERM.
    pub drain_notice: Duration,
    /// Between a drain's SIGTERM and SIGKILL.
    pub drain_kill: Duration,
    /// Between SIGTERM and SIGKILL for cancel and `--timeout`.
    pub stop_kill: Duration,
    /// How long to wait for a wake-up before asking for work anyway.
    pub poll: Duration,
    /// Who goes along with attempts, such as traces; nobody unless said.
    pub companion: Option<Arc<dyn Companion>>,
}

/// Options that do not fit together.
#[derive(Debug, Error)]
pub enum WorkerOptionsError {
    /// A name is wrong.
    #[error(transparent)]
    Name(#[from] Violation),
    /// A number is out of range.
    #[error("slots is {0}; allowed is 1 to 10000")]
    Slots(u32),
}

impl WorkerOptions {
    /// Options with the defaults of protocol §3 and §4.
    #[must_use]
    pub fn new(name: impl Into<String>, incarnation: Incarnation, work: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            incarnation,
            slots: 1,
            queues: None,
            kinds: vec![JobSpec::EXEC.to_owned()],
            work: work.into(),
            drain_notice: Duration::from_secs(30),
            drain_kill: Duration::from_secs(5),
            stop_kill: Duration::from_secs(10),
            poll: Duration::from_secs(2),
            companion: None,
        }
    }

    /// Checks them.
    ///
    /// # Errors
    /// Names the option that is wrong, its value and what is allowed.
    pub fn validate(&self) -> Result<(), WorkerOptionsError> {
        check_name("worker", &self.name)?;
        self.kinds.iter().try_for_each(|kind| check_name("kinds", kind))?;
        self.queues.iter().flatten().try_for_each(|queue| check_name("queues", queue))?;
        if !(1..=10_000).contains(&self.slots) {
            return Err(WorkerOptionsError::Slots(self.slots));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_that_is_wrong_is_named() {
        let good = WorkerOptions::new("w", Incarnation(1), "/tmp");
        assert!(good.validate().is_ok());
        let refused = |change: fn(&mut WorkerOptions)| {
            let mut options = good.clone();
            change(&mut options);
            options.validate().unwrap_err().to_string()
        };
        assert!(refused(|o| o.slots = 0).contains("slots is 0; allowed is 1 to 10000"));
        assert!(refused(|o| o.name = String::new()).contains("worker is empty"));
        assert!(refused(|o| o.kinds = vec!["a b".into()]).contains("kinds"));
        assert!(refused(|o| o.queues = Some(vec!["a\0".into()])).contains("queues"));
    }
}
