//! The model reaches what it is about: properties that hold because nothing happens would be worth nothing.
//!
//! Each test asks for a state, or plays a story step by step, every step allowed by the law.

use protocol::Phase;
use protocol::machine::{
    Attempt, AttemptState, Constants, Job, Law, LeaseState, Module, Move, Service, State, Wants, Worker,
};
use remora_model::{explore, story};

const J: Job = Job(0);
const W1: Worker = Worker(0);
const W2: Worker = Worker(1);
const FIRST: Attempt = Attempt { job: J, token: 1 };
const SECOND: Attempt = Attempt { job: J, token: 2 };
const ENOUGH: usize = 50_000;

/// The shortest way to a state as described, which must exist.
#[track_caller]
fn reached(law: &Law, is: impl Fn(&State) -> bool) -> Vec<Move> {
    let explored = explore(law, ENOUGH).expect("small bounds");
    explored.reach(is).expect("such a state is reachable")
}

/// The state after these steps, each of which must be allowed.
#[track_caller]
fn played(law: &Law, steps: &[Move]) -> State {
    let mut state = State::initial(&law.constants);
    for (number, step) in steps.iter().enumerate() {
        let answer = step.spec_guard(law, &state);
        assert_eq!(answer, Ok(()), "at {step} in\n{}", story::steps(&steps[..=number]));
        step.apply(law, &mut state);
    }
    state
}

fn remora(constants: Constants) -> Law {
    Law::of(Module::Remora, constants)
}

fn two_stores(constants: Constants) -> Law {
    Law::of(Module::TwoStores, constants.with_faults(&[Service::Coordination]))
}

const TWO_ATTEMPTS: Constants = Constants { max_attempts: 2, ..Constants::ONE };
const TWO_WORKERS: Constants = Constants { workers: 2, initial_workers: 2, ..Constants::ONE };

#[test]
fn a_zombie_executes_while_a_later_attempt_commits() {
    let constants = Constants { workers: 2, initial_workers: 2, ..TWO_ATTEMPTS };
    let law = remora(constants);
    let state = played(
        &law,
        &[
            Move::Enqueue(J),
            Move::Reserve(J, W1),
            Move::AuthorizeAttempt(J, W1),
            Move::ActivateAttempt(FIRST),
            Move::Tick,
            Move::ExpireLease(FIRST),
            Move::ReapLostAttempt(FIRST),
            Move::ScheduleRetry(J),
            Move::Enqueue(J),
            Move::Reserve(J, W2),
            Move::AuthorizeAttempt(J, W2),
            Move::ActivateAttempt(SECOND),
            Move::AdvanceAttempt(SECOND, 1),
            Move::SendOutcome(SECOND, Wants::Success),
            Move::AcceptSuccess(SECOND),
            // The zombie has noticed nothing: it still writes, and asks to publish.
            Move::AdvanceAttempt(FIRST, 1),
            Move::SendOutcome(FIRST, Wants::Success),
            Move::RejectOutcome(FIRST),
        ],
    );
    assert_eq!(state[J].committed_attempt, Some(SECOND));
    assert_eq!(state[FIRST].attempt_state, AttemptState::Executing);
    assert!(Move::AcceptSuccess(FIRST).spec_guard(&law, &state).is_err());
}

#[test]
fn an_attempt_resumes_from_a_complete_checkpoint_and_commits_without_work() {
    let law = remora(TWO_ATTEMPTS);
    let resumed = |s: &State| s[SECOND].resumed_from_checkpoint && s[J].committed_attempt == Some(SECOND);
    let way = reached(&law, resumed);
    assert!(!way.contains(&Move::AdvanceAttempt(SECOND, 1)), "{}", story::steps(&way));
    assert!(way.contains(&Move::PersistCheckpoint(FIRST)), "{}", story::steps(&way));
}

#[test]
fn a_cancel_races_a_success_and_either_wins() {
    let law = remora(Constants::ONE);
    let sent = [
        Move::Enqueue(J),
        Move::Reserve(J, W1),
        Move::AuthorizeAttempt(J, W1),
        Move::ActivateAttempt(FIRST),
        Move::AdvanceAttempt(FIRST, 1),
        Move::SendOutcome(FIRST, Wants::Success),
    ];
    let cancelled =
        played(&law, &[&sent[..], &[Move::RequestCancel(J), Move::RejectOutcome(FIRST)]].concat());
    assert_eq!((cancelled[J].phase, cancelled[J].committed_attempt), (Phase::Cancelling, None));
    let published = played(&law, &[&sent[..], &[Move::AcceptSuccess(FIRST)]].concat());
    assert_eq!(published[J].phase, Phase::Succeeded);
    assert!(Move::RequestCancel(J).spec_guard(&law, &published).is_err());
}

#[test]
fn a_reap_races_an_activation_and_leaves_a_zombie_with_a_lease_that_is_given_back() {
    let law = two_stores(TWO_ATTEMPTS);
    let state = played(
        &law,
        &[
            Move::DispatchRead(J),
            Move::Enqueue(J),
            Move::DispatchRead(J),
            Move::Reserve(J, W1),
            Move::AuthorizeAttempt(J, W1),
            Move::FalseSuspicion(J),
            // The reaper reads coordination while the permit is gone …
            Move::ReapObserve(FIRST),
            // … a late entry gives the same worker the job's permit again …
            Move::Enqueue(J),
            Move::Reserve(J, W1),
            // … with which it activates what it claimed before …
            Move::ActivateAttempt(FIRST),
            // … and the reaper acts on what it saw.
            Move::ReapLostAttempt(FIRST),
        ],
    );
    assert_eq!(state[J].phase, Phase::RetryWait);
    assert_eq!(state[FIRST].lease_state, LeaseState::Live);
    assert_eq!(state[FIRST].attempt_state, AttemptState::Executing);
    assert_eq!(Move::ReleaseLease(FIRST).spec_guard(&law, &state), Ok(()));
}

#[test]
fn two_workers_believe_to_hold_one_reservation_after_a_loss() {
    let law = two_stores(TWO_WORKERS);
    let both =
        |s: &State| s[J].ticket == [W1, W2] && s[J].reservation == Some(W2) && s.coordination_lost_once;
    let way = reached(&law, both);
    let lost = |step: &Move| matches!(step, Move::LoseCoordinationState | Move::FalseSuspicion(_));
    assert!(way.iter().any(lost), "{}", story::steps(&way));
    // The first of them to claim wins, the other hands back.
    let state =
        played(&law, &[&way[..], &[Move::AuthorizeAttempt(J, W1), Move::ClaimRefused(J, W2)]].concat());
    assert_eq!((state[J].authority, state[J].reservation), (Some(FIRST), None));
}

#[test]
fn a_lease_is_restored_and_its_attempt_commits() {
    let law = two_stores(Constants::ONE);
    let state = played(
        &law,
        &[
            Move::DispatchRead(J),
            Move::Enqueue(J),
            Move::Reserve(J, W1),
            Move::AuthorizeAttempt(J, W1),
            Move::ActivateAttempt(FIRST),
            Move::LoseCoordinationState,
            Move::RestoreLease(FIRST),
            Move::AdvanceAttempt(FIRST, 1),
            Move::SendOutcome(FIRST, Wants::Success),
            Move::AcceptSuccess(FIRST),
            Move::ReleaseLease(FIRST),
        ],
    );
    assert_eq!(state[J].committed_attempt, Some(FIRST));
    assert_eq!(state[FIRST].lease_state, LeaseState::Expired);
}

#[test]
fn any_one_of_the_three_rules_of_the_corridor_suffices() {
    use protocol::Action;
    use protocol::machine::ReaperJudgement;
    use remora_model::{Named, check_liveness};

    let bounds = Named::find("corridor-small").expect("named bounds").law;
    // Smaller still: nobody cancels, reports or crashes.
    let lean =
        [Action::RequestCancel, Action::ReportProgress, Action::PersistCheckpoint, Action::CrashWorker];
    let whole = lean.into_iter().fold(Law::of(Module::TwoStores, bounds.constants), |mut law, action| {
        law.rules = law.rules.without_action(action);
        law
    });
    let without = |claim: bool, activate: bool, reaper: bool| {
        let mut law = whole;
        for (removed, action) in [(claim, Action::ClaimRefused), (activate, Action::ActivateRefused)] {
            if removed {
                law.rules = law.rules.without_action(action);
            }
        }
        if reaper {
            law.rules = law.rules.with_reaper(ReaperJudgement::AnyReservation);
        }
        let explored = explore(&law, ENOUGH).expect("small bounds");
        assert!(explored.is_complete());
        check_liveness(&explored).map(|lasso| lasso.property)
    };
    assert_eq!(without(true, true, true), Some("EventuallyTerminal"));
    for (claim, activate, reaper) in [(false, true, true), (true, false, true), (true, true, false)] {
        assert_eq!(without(claim, activate, reaper), None, "{claim} {activate} {reaper}");
    }
}
