//! Where a job stands (`Phases` in the spec) and how an attempt ended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The phase of a job. Only `agents` and `worker` move it, by the durable room's actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits for a permit and a worker; it is in the outbox.
    Queued,
    /// An attempt has authority.
    Running,
    /// Waits until its next attempt is due.
    RetryWait,
    /// Cancel was asked for while an attempt had authority. It will not be published.
    Cancelling,
    /// Its result is published. Terminal.
    Succeeded,
    /// Its attempts are spent, or it failed for good. Terminal.
    Failed,
    /// Nothing of it is or will be published. Terminal.
    Cancelled,
}

impl Phase {
    /// All phases, in the spec's order.
    pub const ALL: [Self; 7] = [
        Self::Queued,
        Self::Running,
        Self::RetryWait,
        Self::Cancelling,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// `TerminalPhases`: nothing moves any more.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The name in API and CLI, such as `retry_wait`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::RetryWait => "retry_wait",
            Self::Cancelling => "cancelling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPhase(pub String);

impl fmt::Display for UnknownPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Phase::ALL.iter().map(|phase| phase.name()).collect();
        write!(f, "`{}` is not a phase; one of {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownPhase {}

impl FromStr for Phase {
    type Err = UnknownPhase;
    fn from_str(text: &str) -> Result<Self, UnknownPhase> {
        Self::ALL.into_iter().find(|phase| phase.name() == text).ok_or_else(|| UnknownPhase(text.to_owned()))
    }
}

/// Why an attempt failed. Decides when the next one is due, and whether there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The program or handler failed.
    Failed,
    /// It ran longer than its `--timeout`.
    TimedOut,
    /// The worker was told to stop and the job did not end in time; the next attempt is due at once.
    Drained,
    /// Its checkpoint could not be read back.
    BadCheckpoint,
    /// It can never succeed (missing program, undecodable args, over a limit): no further attempt.
    Permanent,
    /// Its lease was gone (`ReapLostAttempt`).
    Lost,
}

/// How an attempt ended, as the ledger keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// `AcceptSuccess`: its result is the job's.
    Succeeded,
    /// `AcceptFailure`, or `ReapLostAttempt` when the cause is [`FailureCause::Lost`].
    Failed(FailureCause),
    /// `FinalizeCancel`.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_reads_back_from_its_name_and_a_stranger_is_refused_by_name() {
        for phase in Phase::ALL {
            assert_eq!(phase.name().parse(), Ok(phase));
            assert_eq!(serde_json::to_string(&phase).unwrap(), format!("\"{phase}\""));
        }
        assert!("done".parse::<Phase>().unwrap_err().to_string().contains("retry_wait"));
    }
}
