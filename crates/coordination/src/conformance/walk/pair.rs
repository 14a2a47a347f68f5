//! The two rooms: what an intent means now, both answers, and both states.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, Origin, Position, ReservationId, Timestamp, Token, UserProgress,
    Window,
};
use tokio::runtime::{Builder, Runtime};

use super::Adapter;
use super::ask::{Ask, What, Whose};
use super::request::Request;
use crate::conformance::Fixture;
use crate::conformance::pool::{HERE, window};
use crate::oracle::OracleRoom;
use crate::{
    ActivateAttempt, At, CleanTerminal, Coordination as _, CoordinationReads as _, CoordinationRoom, Enqueue,
    HandBack, Holding, PoolConfig, PublishCancelNotice, ReapObserve, Registration, ReleaseLease,
    ReleaseReservation, RenewLease, ReportProgress, Reserve, RestoreLease,
};

/// Where both clocks begin.
const BEGINNING_MS: u64 = 1_000_000;
/// Jobs that a walk knows.
const JOBS: u8 = 6;

/// What a request names: job, attempt or reservation, worker.
type Named = (JobId, u128, Incarnation);

/// An adapter's room and the law's.
pub(super) struct Pair {
    fixture: Box<dyn Fixture>,
    real: Arc<dyn CoordinationRoom>,
    law: Arc<OracleRoom>,
    clock_ms: Arc<AtomicU64>,
    /// The highest epoch and revision of a configuration, and the last reservation's id.
    epoch: u64,
    configured: u64,
    reservations: u128,
    sequence: u64,
    sent: Vec<(At, Request)>,
    runtime: Runtime,
}

fn job(number: u8) -> JobId {
    JobId(u128::from(number) + 1)
}

fn attempt(number: u8) -> AttemptId {
    AttemptId(u128::from(number) + 1)
}

fn worker(number: u8) -> Incarnation {
    Incarnation(u128::from(number) + 1)
}

/// One of two queues, each with two priorities.
fn one_window(number: u8) -> Window {
    window(if number & 1 == 0 { "p" } else { "q" }, 1 + (number >> 1 & 1))
}

fn pick<T: Copy>(among: &[T], number: u8) -> Option<T> {
    usize::from(number).checked_rem(among.len()).map(|place| among[place])
}

impl Pair {
    pub(super) fn new<A: Adapter>() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let fixture = runtime.block_on(A::fresh());
        let clock_ms = Arc::new(AtomicU64::new(BEGINNING_MS));
        let read = Arc::clone(&clock_ms);
        let clock = Arc::new(move || Duration::from_millis(read.load(Ordering::SeqCst)));
        let mut pair = Self {
            real: fixture.room(),
            fixture,
            law: Arc::new(OracleRoom::new(clock)),
            clock_ms,
            epoch: 0,
            configured: 0,
            reservations: 0,
            sequence: 0,
            sent: Vec::new(),
            runtime,
        };
        pair.install(1);
        pair.begin();
        pair.now(&What::OpenEpoch, 0);
        pair
    }

    /// What an owner does after a loss: configuration, and workers that come back.
    fn begin(&mut self) {
        self.now(&What::Configure { older: false, limit: 3, lease: 0, paused: false }, 0);
        self.now(&What::Register { worker: 0, serves: 0, draining: false }, 0);
    }

    pub(super) fn step(&mut self, ask: &Ask) {
        match *ask {
            Ask::Now { ref what, epochs_off } => self.now(what, epochs_off),
            Ask::Again(back) => {
                let place = self.sent.len().checked_sub(usize::from(back % 40) + 1);
                if let Some((at, request)) = place.map(|place| self.sent[place].clone()) {
                    self.send(at, &request);
                }
            }
            Ask::Deregister { worker: number } => {
                let at = self.at(0);
                self.send(at, &Request::Deregister(worker(number)));
            }
            Ask::Advance { ms } => self.advance(ms),
            Ask::ShortLease { lease } => self.short_lease(lease),
            Ask::Lose { known_running } => self.lose(known_running),
            Ask::Install { by } => {
                self.install(u64::from(by));
                self.begin();
            }
        }
        self.compare();
    }

    fn advance(&mut self, ms: u64) {
        self.runtime.block_on(self.fixture.advance(Duration::from_millis(ms)));
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    fn short_lease(&mut self, lease: u8) {
        let (JobId(job), id, Incarnation(worker)) = self.a_lease(Whose::Held(lease));
        let small = |number: u128| u8::try_from(number - 1).expect("a small number");
        let whose = Whose::Any { job: small(job), id: small(id), worker: small(worker) };
        let configure = |lease| What::Configure { older: false, limit: 3, lease, paused: false };
        [configure(1), What::Renew(whose), configure(0)].iter().for_each(|what| self.now(what, 0));
        self.advance(2_000);
        [What::Expire { limit: 2 }, What::Restore(whose)].iter().for_each(|what| self.now(what, 0));
    }

    fn lose(&mut self, known_running: u8) {
        self.runtime.block_on(self.fixture.lose());
        self.law.lose();
        self.compare();
        self.install(1);
        self.begin();
        self.now(&What::Account { first: known_running, second: known_running + 1 }, 0);
    }

    fn install(&mut self, by: u64) {
        self.epoch += by;
        let law = self.runtime.block_on(self.law.install_epoch(self.epoch, HERE)).expect("an answer");
        let real = self.runtime.block_on(self.real.install_epoch(self.epoch, HERE)).expect("an answer");
        assert_eq!((real.mark.epoch, real.open), (law.mark.epoch, law.open), "the epoch");
        if by > 0 {
            self.configured = 0;
        }
    }

    fn at(&mut self, epochs_off: i8) -> At {
        self.sequence += 1;
        let origin = Origin { actor: ActorId(1), sequence: self.sequence, sent_after: self.sequence - 1 };
        At { origin, epoch: self.epoch.saturating_add_signed(i64::from(epochs_off)) }
    }

    fn now(&mut self, what: &What, epochs_off: i8) {
        let at = self.at(epochs_off);
        let request = self.meant(what);
        self.send(at, &request);
        self.sent.push((at, request));
    }

    fn send(&self, at: At, request: &Request) {
        let law = self.runtime.block_on(request.send(self.law.as_ref(), &at));
        let real = self.runtime.block_on(request.send(self.real.as_ref(), &at));
        assert_eq!(real, law, "the answer to {request:?} at epoch {}", at.epoch);
        law.short.into_iter().for_each(super::tell);
    }

    fn held(&self) -> Vec<Holding> {
        self.runtime.block_on(self.law.holdings(None, 100)).expect("an answer").jobs
    }

    fn named(&self, whose: Whose, held: &[Named]) -> Named {
        let (number, chosen) = match whose {
            Whose::Held(number) | Whose::NotTheirs(number) | Whose::OtherJob(number) => {
                (number, pick(held, number))
            }
            Whose::Any { id, .. } => (id, None),
        };
        match (chosen, whose) {
            (Some((job, id, by)), Whose::NotTheirs(_)) => (job, id, Incarnation(by.0 % 3 + 1)),
            (Some((job, id, by)), Whose::OtherJob(_)) => (JobId(job.0 % u128::from(JOBS) + 1), id, by),
            (Some(named), _) => named,
            (None, Whose::Any { job: of, id, worker: by }) => (job(of), u128::from(id) + 1, worker(by)),
            (None, _) => (job(number % JOBS), u128::from(number % 10) + 1, worker(number % 3)),
        }
    }

    fn a_permit(&self, whose: Whose) -> Named {
        let permit = |held: &Holding| held.reservation.map(|(id, worker)| (held.job, id.0, worker));
        self.named(whose, &self.held().iter().filter_map(permit).collect::<Vec<_>>())
    }

    fn a_lease(&self, whose: Whose) -> Named {
        let held = self.held();
        let leases = held.iter().flat_map(|held| &held.leases);
        let leases: Vec<_> = leases.map(|lease| (lease.job, lease.attempt.0, lease.worker)).collect();
        self.named(whose, &leases)
    }

    fn hand_back(&self, whose: Whose) -> HandBack {
        let (job, id, worker) = self.a_permit(whose);
        HandBack { job, reservation: ReservationId(id), worker }
    }

    fn meant(&mut self, what: &What) -> Request {
        match *what {
            What::Enqueue { job: number, window, position } => Request::Enqueue(Enqueue {
                job: job(number),
                window: one_window(window),
                position: Position { due: Timestamp(0), sequence: u64::from(position) },
                checkpoint_revision: u64::from(position % 3),
                judged: Vec::new(),
            }),
            What::Reserve { .. } => self.reserve(what),
            What::ClaimRefused(whose) => Request::ClaimRefused(self.hand_back(whose)),
            What::RenewReservation(whose) => Request::RenewReservation(self.hand_back(whose)),
            What::ReleaseReservation(whose) => {
                let HandBack { job, reservation, .. } = self.hand_back(whose);
                Request::ReleaseReservation(ReleaseReservation { job, reservation, judged: Vec::new() })
            }
            What::DropReservation { limit } => Request::DropReservation(usize::from(limit)),
            What::Expire { limit } => Request::ExpireLease(usize::from(limit)),
            What::Notice { job: number } => {
                let (job, attempt) = (job(number), attempt(number));
                Request::PublishCancelNotice(PublishCancelNotice { job, attempt, judged: Vec::new() })
            }
            What::Clean { job: number } => {
                Request::CleanTerminal(CleanTerminal { job: job(number), judged: Vec::new() })
            }
            What::Settle { attempt: number } => Request::Settle(attempt(number)),
            What::Account { first, second } => Request::Account(vec![attempt(first), attempt(second)]),
            What::OpenEpoch => Request::OpenEpoch,
            What::Configure { older, limit, lease, paused } => self.configure(older, limit, lease, paused),
            What::Register { worker, serves, draining } => register(worker, serves, draining),
            ref what => self.of_a_lease(what),
        }
    }

    fn reserve(&mut self, what: &What) -> Request {
        let What::Reserve { worker: by, again, places, windows } = *what else { unreachable!("a Reserve") };
        let mut ids = Vec::new();
        for _ in 0..places {
            self.reservations += 1;
            ids.push(ReservationId(self.reservations));
        }
        if let Some(back) = again {
            ids[0] = ReservationId(self.reservations.saturating_sub(u128::from(back)).max(1));
        }
        let named = (0..4).filter(|number| windows == 0 || windows & 1 << number != 0);
        let windows = named.map(one_window).collect();
        Request::Reserve(Reserve { worker: worker(by), reservations: ids, windows })
    }

    fn configure(&mut self, older: bool, limit: u8, lease: u8, paused: bool) -> Request {
        if !older {
            self.configured += 1;
        }
        Request::Configure(PoolConfig {
            revision: self.configured,
            global_limit: u32::from(limit),
            lease_ms: 3_000 - 1_000 * u64::from(lease),
            paused: if paused { vec!["p".to_owned()] } else { Vec::new() },
        })
    }

    fn of_a_lease(&self, what: &What) -> Request {
        let judged = Vec::new;
        match *what {
            What::Activate { whose, attempt: number } => {
                let (job, id, worker) = self.a_permit(whose);
                let (attempt, reservation) = (attempt(number), ReservationId(id));
                let token = Token(u32::from(number) + 1);
                let judged = judged();
                Request::ActivateAttempt(ActivateAttempt { job, attempt, token, reservation, worker, judged })
            }
            What::Renew(whose) => {
                let (job, id, worker) = self.a_lease(whose);
                Request::RenewLease(RenewLease { job, attempt: AttemptId(id), worker })
            }
            What::ReleaseLease(whose) => {
                let (job, id, _) = self.a_lease(whose);
                Request::ReleaseLease(ReleaseLease { job, attempt: AttemptId(id), judged: judged() })
            }
            What::Report { whose, done } => {
                let (job, id, worker) = self.a_lease(whose);
                let progress = UserProgress { done: u64::from(done), total: Some(9), message: None };
                let attempt = AttemptId(id);
                Request::ReportProgress(ReportProgress { job, attempt, worker, progress, judged: judged() })
            }
            What::Restore(whose) => {
                let (job, id, worker) = self.a_lease(whose);
                let (attempt, token) = (AttemptId(id), Token(u32::try_from(id).expect("a small number")));
                Request::RestoreLease(RestoreLease { job, attempt, token, worker, judged: judged() })
            }
            What::Observe { whose, reserved, epochs_ago, by_holder } => {
                let (job, id, worker) = if reserved { self.a_permit(whose) } else { self.a_lease(whose) };
                let claimed_epoch = self.epoch.saturating_sub(u64::from(epochs_ago));
                Request::ReapObserve(ReapObserve {
                    job,
                    attempt: AttemptId(id),
                    worker,
                    claimed_epoch,
                    by_holder,
                })
            }
            ref other => unreachable!("{other:?} names no lease"),
        }
    }

    /// Both rooms say the same of everything.
    fn compare(&self) {
        let both = [self.law.as_ref() as &dyn CoordinationRoom, self.real.as_ref()];
        let [law, real] = both.map(|room| self.runtime.block_on(everything(room)));
        assert!(law == real, "the room\nof the law: {law:#?}\nof the adapter: {real:#?}");
    }
}

fn register(number: u8, serves: u8, draining: bool) -> Request {
    let queues = match serves {
        0..=5 => None,
        6 => Some(vec!["p".to_owned()]),
        _ => Some(vec!["q".to_owned(), "p".to_owned()]),
    };
    Request::Register(Registration {
        worker: worker(number),
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1,
        queues,
        kinds: vec!["k".to_owned()],
        draining,
    })
}

/// All reads, without the order numbers that each room gives.
async fn everything(room: &dyn CoordinationRoom) -> Vec<String> {
    let show = |what: &dyn Debug| format!("{what:?}");
    let mut state = room.pool().await.expect("an answer");
    state.mark.order = 0;
    let mut windows = room.windows().await.expect("an answer");
    windows.sort_by(|one, two| one.window.cmp(&two.window));
    let holdings = room.holdings(None, 100).await.expect("an answer");
    let first = room.holdings(holdings.jobs.first().map(|held| held.job), 1).await.expect("an answer");
    let jobs: Vec<_> = (0..JOBS).map(job).collect();
    vec![
        show(&state),
        show(&windows),
        show(&room.workers().await.expect("an answer")),
        show(&holdings.jobs),
        show(&(first.jobs, first.more)),
        show(&room.progress(&jobs).await.expect("an answer")),
    ]
}
