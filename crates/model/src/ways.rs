//! In how many ways TLC takes one instance of an action.
//!
//! TLC counts the successors it generates, and it splits a disjunction in a guard: two true disjuncts give the
//! same successor twice, and so do two witnesses of an `\E`. The number says nothing about the protocol; it is
//! kept so that "generated" can be compared with TLC's, digit for digit, which it could not be if a guard's
//! disjuncts were wrong here.

use protocol::Phase;
use protocol::machine::{
    Attempt, AttemptState, Job, Law, LeaseState, Module, Move, Service, StageState, State, Wants, WorkerState,
};

/// How often TLC generates the successor of an enabled instance.
pub(crate) fn ways(law: &Law, s: &State, step: Move) -> u64 {
    let ways = match step {
        Move::Tick => {
            let limit = law.constants.lease_limit;
            s.attempts
                .iter()
                .filter(|row| row.lease_state == LeaseState::Live && row.lease_age < limit)
                .count()
        }
        Move::ReleaseReservation(job) => release_reservation(s, job),
        Move::ReapLostAttempt(of) if law.rules.module == Module::Remora => {
            count([s[of].attempt_state != AttemptState::Authorized, s[of.job].reservation.is_none()])
        }
        Move::CooperativeStop(of) => cooperative_stop(s, of),
        Move::ReleaseLease(of) => count([
            matches!(s[of].attempt_state, AttemptState::Stopped | AttemptState::Committed),
            !s.current_authority(of),
            s.terminal(of.job),
        ]),
        Move::CleanTerminalCoordination(job) => count([
            s[job].queued,
            s[job].reservation.is_some(),
            s[job].cancel_notice,
            s[job].live_progress != 0,
            s[job].live_progress_attempt.is_some(),
        ]),
        Move::PersistCheckpoint(of) => {
            count([!s[of.job].checkpoint_valid, s[of.job].checkpoint != s[of].attempt_progress])
        }
        Move::ReportProgress(of) => count([
            s[of.job].live_progress != s[of].attempt_progress,
            s[of.job].live_progress_attempt != Some(of),
        ]),
        Move::SendOutcome(of, wants) => {
            count([wants == Wants::Failure, s[of].stage_state == StageState::Complete])
        }
        Move::CleanupStage(of) if law.rules.module == Module::Remora => count([
            s[of].attempt_state == AttemptState::Stopped,
            s[of].attempt_worker.is_some_and(|worker| s[worker].worker_state == WorkerState::Down),
        ]),
        _ => 1,
    };
    // None of them true: a law with that conjunct taken out.
    u64::try_from(ways.max(1)).unwrap_or(u64::MAX)
}

fn count<const N: usize>(disjuncts: [bool; N]) -> usize {
    disjuncts.into_iter().filter(|one| *one).count()
}

fn release_reservation(s: &State, job: Job) -> usize {
    let row = &s[job];
    count([
        row.phase.is_terminal(),
        row.phase == Phase::Cancelling,
        !s.up(row.reservation),
        row.authority.is_some_and(|of| s[of].attempt_state != AttemptState::Authorized),
    ])
}

fn cooperative_stop(s: &State, of: Attempt) -> usize {
    count([
        s[of].lease_state == LeaseState::Expired,
        s[of.job].cancel_notice,
        s.can_reach(s[of].attempt_worker, Service::Durable) && s[of.job].cancel_requested,
        !s.current_authority(of),
    ])
}
