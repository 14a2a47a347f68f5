//! The eleven state invariants, under the spec's names.
//!
//! Promises: each is the spec's formula over [`State`], true in every reachable state of both modules.
//! Does not say which action keeps it true; `spec/mutants.toml` shows what breaks it.

use super::constants::Constants;
use super::rows::{Attempt, AttemptRow, AttemptState, Job, JobRow, LeaseState, StageState};
use super::state::State;
use crate::phase::Phase;

/// An invariant: its name in the spec and its formula.
#[derive(Debug, Clone, Copy)]
pub struct Invariant {
    /// The spec's name.
    pub name: &'static str,
    /// Whether it holds in a state.
    pub holds: fn(&Constants, &State) -> bool,
}

/// All eleven, in the spec's order.
pub static INVARIANTS: [Invariant; 11] = [
    Invariant { name: "TypeOK", holds: type_ok },
    Invariant { name: "StateConsistency", holds: state_consistency },
    Invariant { name: "AtMostOneAuthoritativeAttempt", holds: at_most_one_authoritative_attempt },
    Invariant { name: "FencingTokensUnique", holds: fencing_tokens_unique },
    Invariant { name: "CommittedResultConsistent", holds: committed_result_consistent },
    Invariant { name: "CancellationSafety", holds: cancellation_safety },
    Invariant { name: "PermitSafety", holds: permit_safety },
    Invariant { name: "QueueRecoverable", holds: queue_recoverable },
    Invariant { name: "AttemptIsolation", holds: attempt_isolation },
    Invariant { name: "ResumeValidity", holds: resume_validity },
    Invariant { name: "ZombieIsolation", holds: zombie_isolation },
];

fn every_attempt(s: &State, holds: impl Fn(Attempt, &AttemptRow) -> bool) -> bool {
    s.attempt_ids().zip(&s.attempts).all(|(of, row)| holds(of, row))
}

fn every_job(s: &State, holds: impl Fn(Job, &JobRow) -> bool) -> bool {
    s.job_ids().zip(&s.jobs).all(|(job, row)| holds(job, row))
}

/// `TypeOK`: what the types here leave open, the ranges.
#[doc(alias = "TypeOK")]
#[must_use]
pub fn type_ok(constants: &Constants, s: &State) -> bool {
    let known = |of: Option<Attempt>| of.is_none_or(|of| s.is_attempt(of));
    let worker = |of: Option<super::rows::Worker>| of.is_none_or(|of| of.0 < constants.workers);
    s.jobs.iter().all(|row| {
        row.current_token <= constants.max_attempts
            && known(row.authority)
            && known(row.committed_attempt)
            && row.checkpoint <= constants.max_progress
            && worker(row.reservation)
            && row.live_progress <= constants.max_progress
            && known(row.live_progress_attempt)
    }) && s.attempts.iter().all(|row| {
        row.lease_age <= constants.lease_limit
            && worker(row.attempt_worker)
            && row.attempt_progress <= constants.max_progress
            && row.initial_progress <= constants.max_progress
    })
}

/// `StateConsistency`: the variables of a job, and of an attempt, fit each other.
#[doc(alias = "StateConsistency")]
#[must_use]
pub fn state_consistency(_: &Constants, s: &State) -> bool {
    every_job(s, |job, row| {
        let own = |of: Attempt| of.job == job && of.token == row.current_token;
        let authority_fits = match row.phase {
            Phase::Running | Phase::Cancelling => row.authority.is_some_and(own),
            _ => row.authority.is_none(),
        };
        let cancelling = matches!(row.phase, Phase::Cancelling | Phase::Cancelled);
        authority_fits
            && row.cancel_requested == cancelling
            && row.committed_attempt.is_some() == (row.phase == Phase::Succeeded)
            && (row.phase != Phase::Queued || row.dispatch_needed)
            && (row.reservation.is_none() || !row.queued)
    }) && every_attempt(s, |of, row| {
        let unused = row.attempt_state == AttemptState::Unused;
        unused == row.attempt_worker.is_none()
            && (unused || of.token <= s[of.job].current_token)
            && (row.lease_state != LeaseState::Live || !unused)
            && (row.stage_state != StageState::Cleaned || s[of.job].committed_attempt != Some(of))
    })
}

/// `AtMostOneAuthoritativeAttempt`.
#[doc(alias = "AtMostOneAuthoritativeAttempt")]
#[must_use]
pub fn at_most_one_authoritative_attempt(_: &Constants, s: &State) -> bool {
    every_job(s, |job, _| s.attempt_ids().filter(|of| of.job == job && s.current_authority(*of)).count() <= 1)
}

/// `FencingTokensUnique`: no attempt in use is ahead of its job's token.
#[doc(alias = "FencingTokensUnique")]
#[must_use]
pub fn fencing_tokens_unique(_: &Constants, s: &State) -> bool {
    every_attempt(s, |of, row| {
        row.attempt_state == AttemptState::Unused || of.token <= s[of.job].current_token
    })
}

/// `CommittedResultConsistent`: what is committed is the job's last attempt, whole.
#[doc(alias = "CommittedResultConsistent")]
#[must_use]
pub fn committed_result_consistent(_: &Constants, s: &State) -> bool {
    every_job(s, |job, row| {
        row.committed_attempt.is_none_or(|of| {
            of.job == job
                && of.token == row.current_token
                && s.is_attempt(of)
                && s[of].attempt_state == AttemptState::Committed
                && s[of].stage_state == StageState::Complete
        })
    })
}

/// `CancellationSafety`: nothing of a cancelled job is published.
#[doc(alias = "CancellationSafety")]
#[must_use]
pub fn cancellation_safety(_: &Constants, s: &State) -> bool {
    every_job(s, |_, row| !row.cancel_requested || row.committed_attempt.is_none())
}

/// `PermitSafety`: the limits hold, for what is given out and for what really executes.
#[doc(alias = "PermitSafety")]
#[must_use]
pub fn permit_safety(constants: &Constants, s: &State) -> bool {
    s.places_in_use() <= usize::from(constants.global_limit)
        && s.worker_ids().all(|worker| s.slots_in_use(worker) <= usize::from(constants.local_limit))
}

/// `QueueRecoverable`: a queued job is in the outbox, whatever coordination has lost.
#[doc(alias = "QueueRecoverable")]
#[must_use]
pub fn queue_recoverable(_: &Constants, s: &State) -> bool {
    every_job(s, |_, row| row.phase != Phase::Queued || row.dispatch_needed)
}

/// `AttemptIsolation`: what is committed stays whole.
#[doc(alias = "AttemptIsolation")]
#[must_use]
pub fn attempt_isolation(_: &Constants, s: &State) -> bool {
    every_attempt(s, |of, row| {
        s[of.job].committed_attempt != Some(of) || row.stage_state == StageState::Complete
    })
}

/// `ResumeValidity`: an attempt goes on from where it started, and that was a checkpoint or nothing.
#[doc(alias = "ResumeValidity")]
#[must_use]
pub fn resume_validity(_: &Constants, s: &State) -> bool {
    s.attempts.iter().all(|row| {
        row.attempt_progress >= row.initial_progress
            && row.resumed_from_checkpoint == (row.initial_progress > 0)
    })
}

/// `ZombieIsolation`: an attempt that executes without authority is not the one committed.
#[doc(alias = "ZombieIsolation")]
#[must_use]
pub fn zombie_isolation(_: &Constants, s: &State) -> bool {
    every_attempt(s, |of, row| {
        let zombie = row.attempt_state == AttemptState::Executing && !s.current_authority(of);
        !zombie || s[of.job].committed_attempt != Some(of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fixture::{A, J, V, W, World};
    use crate::machine::rows::Worker;

    /// Which invariants a state breaks.
    fn broken(world: &World) -> Vec<&'static str> {
        let broken = INVARIANTS.iter().filter(|one| !(one.holds)(&world.law.constants, &world.state));
        broken.map(|one| one.name).collect()
    }

    #[track_caller]
    fn breaks(name: &str, world: &World, spoil: fn(&mut World)) {
        assert_eq!(broken(world), [""; 0]);
        let mut spoilt = world.clone();
        spoil(&mut spoilt);
        assert!(broken(&spoilt).contains(&name), "{name}: {:?}", broken(&spoilt));
    }

    #[test]
    fn type_ok_is_broken_by_a_number_out_of_range() {
        let spoils: [fn(&mut World); 9] = [
            |w| w.job().current_token = 3,
            |w| w.job().authority = Some(Attempt { job: J, token: 3 }),
            |w| w.job().committed_attempt = Some(Attempt { job: J, token: 0 }),
            |w| w.job().live_progress_attempt = Some(Attempt { job: Job(7), token: 1 }),
            |w| w.job().checkpoint = 3,
            |w| w.job().reservation = Some(Worker(2)),
            |w| w.attempt().lease_age = 2,
            |w| w.attempt().attempt_progress = 3,
            |w| w.attempt().initial_progress = 3,
        ];
        for spoil in spoils {
            breaks("TypeOK", &World::executing(), spoil);
        }
    }

    #[test]
    fn state_consistency_is_broken_by_variables_that_do_not_fit() {
        let spoils: [fn(&mut World); 13] = [
            |w| w.job().authority = None,
            |w| w.job().authority = Some(Attempt { job: J, token: 2 }),
            |w| w.job().phase = Phase::RetryWait,
            |w| w.job().cancel_requested = true,
            |w| w.job().phase = Phase::Cancelling,
            |w| w.job().committed_attempt = Some(A),
            |w| (w.job().phase, w.job().authority) = (Phase::Succeeded, None),
            |w| (w.job().phase, w.job().authority) = (Phase::Queued, None),
            |w| (w.job().queued, w.job().reservation) = (true, Some(W)),
            |w| w.attempt().attempt_worker = None,
            |w| w.attempt().attempt_state = AttemptState::Unused,
            |w| w.second().lease_state = LeaseState::Live,
            |w| (w.second().attempt_state, w.second().attempt_worker) = (AttemptState::Stopped, Some(V)),
        ];
        for spoil in spoils {
            breaks("StateConsistency", &World::executing(), spoil);
        }
        breaks("StateConsistency", &World::committed(), |w| w.attempt().stage_state = StageState::Cleaned);
    }

    #[test]
    fn at_most_one_authoritative_attempt_cannot_be_broken_in_one_row() {
        // One row names one attempt, so the formula holds by the shape of the state; so it does in the spec.
        let mut world = World::executing();
        world.job().authority = Some(Attempt { job: J, token: 2 });
        assert!(at_most_one_authoritative_attempt(&world.law.constants, &world.state));
    }

    #[test]
    fn fencing_tokens_unique_is_broken_by_an_attempt_ahead_of_its_job() {
        breaks("FencingTokensUnique", &World::executing(), |w| w.job().current_token = 0);
    }

    #[test]
    fn committed_result_consistent_is_broken_by_a_commit_that_is_not_whole_or_not_last() {
        let spoils: [fn(&mut World); 4] = [
            |w| w.job().current_token = 2,
            |w| w.job().committed_attempt = Some(Attempt { job: Job(9), token: 1 }),
            |w| w.attempt().attempt_state = AttemptState::Executing,
            |w| w.attempt().stage_state = StageState::Partial,
        ];
        for spoil in spoils {
            breaks("CommittedResultConsistent", &World::committed(), spoil);
        }
    }

    #[test]
    fn cancellation_safety_is_broken_by_a_result_of_a_cancelled_job() {
        breaks("CancellationSafety", &World::committed(), |w| w.job().cancel_requested = true);
    }

    #[test]
    fn permit_safety_is_broken_above_either_limit() {
        breaks("PermitSafety", &World::executing(), |w| w.job().reservation = Some(V));
        breaks("PermitSafety", &World::reserved(), |w| w.second_executes_on(W));
    }

    #[test]
    fn queue_recoverable_is_broken_by_a_queued_job_outside_the_outbox() {
        breaks("QueueRecoverable", &World::queued(), |w| w.job().dispatch_needed = false);
    }

    #[test]
    fn attempt_isolation_is_broken_when_the_committed_stage_is_touched() {
        breaks("AttemptIsolation", &World::committed(), |w| w.attempt().stage_state = StageState::Cleaned);
    }

    #[test]
    fn resume_validity_is_broken_by_progress_from_nowhere_or_falling_back() {
        breaks("ResumeValidity", &World::executing(), |w| w.attempt().initial_progress = 1);
        breaks("ResumeValidity", &World::executing(), |w| w.attempt().resumed_from_checkpoint = true);
        breaks("ResumeValidity", &World::executing(), |w| {
            w.attempt().resumed_from_checkpoint = true;
            w.attempt().initial_progress = 2;
            w.attempt().attempt_progress = 1;
        });
    }

    #[test]
    fn zombie_isolation_is_broken_by_a_committed_attempt_that_still_executes() {
        breaks("ZombieIsolation", &World::committed(), |w| {
            w.attempt().attempt_state = AttemptState::Executing;
        });
    }
}
