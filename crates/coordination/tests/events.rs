//! What the embedded room records (protocol §6), and what it does when it cannot go on.
#![cfg(feature = "memory")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::{
    Action, ActorId, AttemptId, Event, EventSink, Guard, Incarnation, JobId, Judged, Mark, Origin, Outcome,
    Position, Priority, ReservationId, Room, Token, Window,
};
use remora_coordination::memory::{MemoryRoom, Options};
use remora_coordination::{
    ActivateAttempt, At, Coordination, CoordinationReads, Enqueue, PoolConfig, Registration, ReleaseLease,
    RenewLease, Reserve,
};

#[derive(Default)]
struct Trace {
    events: Mutex<Vec<Event>>,
    panics: AtomicBool,
}

impl EventSink for Trace {
    fn record(&self, event: Event) {
        assert!(!self.panics.swap(false, Ordering::SeqCst), "the sink fails once");
        self.events.lock().unwrap().push(event);
    }
}

struct World {
    room: MemoryRoom,
    trace: Arc<Trace>,
    clock_ms: Arc<AtomicU64>,
    sequence: AtomicU64,
}

const JOB: JobId = JobId(1);
const ATTEMPT: AttemptId = AttemptId(2);
const WORKER: Incarnation = Incarnation(3);
const RESERVATION: ReservationId = ReservationId(4);
const ACTOR: ActorId = ActorId(5);

fn judged() -> Vec<Judged> {
    vec![Judged::durable(Mark { epoch: 0, order: 9 })]
}

fn window() -> Window {
    Window { queue: "q".to_owned(), kind: "k".to_owned(), priority: Priority(2) }
}

impl World {
    async fn open() -> Self {
        let trace = Arc::new(Trace::default());
        let clock_ms = Arc::new(AtomicU64::new(100_000));
        let clock = Arc::clone(&clock_ms);
        let options = Options {
            clock: Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst))),
            events: trace.clone(),
            ..Options::default()
        };
        let room = MemoryRoom::new(options);
        let world = Self { room, trace, clock_ms, sequence: AtomicU64::new(0) };
        world.room.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
        let config = PoolConfig { revision: 1, global_limit: 8, lease_ms: 1_000, paused: vec![] };
        world.room.configure(&world.at(), &config).await.unwrap();
        let registration = Registration {
            worker: WORKER,
            name: "w".to_owned(),
            pid: 1,
            host: "h".to_owned(),
            slots: 1,
            queues: None,
            kinds: vec!["k".to_owned()],
            draining: false,
        };
        world.room.register(&world.at(), &registration).await.unwrap();
        world.room.open_epoch(&world.at()).await.unwrap();
        world
    }

    fn at(&self) -> At {
        let sequence = self.sequence.fetch_add(1, Ordering::SeqCst);
        At { origin: Origin { actor: ACTOR, sequence, sent_after: sequence }, epoch: 1 }
    }

    async fn enqueue(&self) -> Option<Guard> {
        let position = Position::default();
        let request =
            Enqueue { job: JOB, window: window(), position, checkpoint_revision: 6, judged: judged() };
        self.room.enqueue(&self.at(), &[request]).await.unwrap()[0].step.refused()
    }

    async fn reserve(&self) -> Option<Guard> {
        let request = Reserve { worker: WORKER, reservations: vec![RESERVATION], windows: vec![window()] };
        self.room.reserve(&self.at(), &request).await.unwrap()[0].step.refused()
    }

    async fn activate(&self) {
        let request = ActivateAttempt {
            job: JOB,
            attempt: ATTEMPT,
            token: Token(1),
            reservation: RESERVATION,
            worker: WORKER,
            judged: judged(),
        };
        self.room.activate_attempt(&self.at(), &[request]).await.unwrap();
    }

    async fn renew(&self) {
        let request = RenewLease { job: JOB, attempt: ATTEMPT, worker: WORKER };
        self.room.renew_lease(&self.at(), &[request]).await.unwrap();
    }

    async fn release(&self) {
        let request = ReleaseLease { job: JOB, attempt: ATTEMPT, judged: judged() };
        self.room.release_lease(&self.at(), &[request]).await.unwrap();
    }

    fn events(&self) -> Vec<Event> {
        self.trace.events.lock().unwrap().clone()
    }

    fn actions(&self) -> Vec<(Action, Outcome)> {
        self.events().iter().map(|event| (event.action, event.outcome)).collect()
    }
}

#[tokio::test]
async fn a_life_is_recorded_step_by_step_with_arguments_and_effect() {
    let world = World::open().await;
    world.enqueue().await;
    world.reserve().await;
    world.activate().await;
    world.release().await;
    let events = world.events();
    let in_use: Vec<_> = events.iter().map(|event| (event.action, event.detail.in_use)).collect();
    let expected = [
        (Action::Enqueue, Some(0)),
        (Action::Reserve, Some(1)),
        (Action::ActivateAttempt, Some(1)),
        (Action::ReleaseLease, Some(0)),
    ];
    assert_eq!(in_use, expected);
    assert!(
        events.windows(2).all(|pair| pair[0].order < pair[1].order && pair[0].sequence < pair[1].sequence)
    );
    for event in &events {
        assert_eq!((event.room, event.epoch, event.job), (Room::Coordination, 1, Some(JOB)));
        assert_eq!((event.actor, event.answered_before), (ACTOR, None));
        assert_eq!((event.detail.limit, event.detail.lease_ms), (Some(8), Some(1_000)));
    }
    assert_eq!(events[0].detail.checkpoint_revision, Some(6));
    assert_eq!(events[0].judged, judged());
    assert_eq!((events[1].detail.worker, events[1].detail.reservation), (Some(WORKER), Some(RESERVATION)));
    assert_eq!((events[2].attempt, events[2].token), (Some(ATTEMPT), Some(Token(1))));
    assert_eq!((events[3].token, events[3].detail.worker), (Some(Token(1)), Some(WORKER)));
}

#[tokio::test]
async fn refusals_are_recorded_but_not_those_of_looking_for_work_in_vain() {
    let world = World::open().await;
    assert_eq!(world.reserve().await, Some(Guard::Queued));
    world.enqueue().await;
    assert_eq!(world.enqueue().await, Some(Guard::NotQueued));
    world.release().await;
    let expected = [
        (Action::Enqueue, Outcome::Taken),
        (Action::Enqueue, Outcome::Refused(Guard::NotQueued)),
        (Action::ReleaseLease, Outcome::Refused(Guard::LeaseLive)),
    ];
    assert_eq!(world.actions(), expected);
    assert_eq!(world.events()[1].detail.in_use, None, "nothing happened");
}

#[tokio::test]
async fn a_repeat_is_recorded_once_and_so_are_the_renewals_of_a_lease() {
    let world = World::open().await;
    world.enqueue().await;
    for _ in 0..2 {
        world.reserve().await;
        world.activate().await;
    }
    for _ in 0..3 {
        world.renew().await;
    }
    let taken = world.actions().into_iter().filter(|(_, outcome)| *outcome == Outcome::Taken);
    let actions: Vec<_> = taken.map(|(action, _)| action).collect();
    assert_eq!(actions, [Action::Enqueue, Action::Reserve, Action::ActivateAttempt, Action::RenewLease]);
}

#[tokio::test]
async fn what_ends_by_age_names_whose_it_was() {
    let world = World::open().await;
    world.enqueue().await;
    world.reserve().await;
    world.clock_ms.fetch_add(1_000, Ordering::SeqCst);
    world.room.drop_reservation(&world.at(), 9).await.unwrap();
    let event = world.events().pop().unwrap();
    assert_eq!((event.action, event.job), (Action::FalseSuspicion, Some(JOB)));
    assert_eq!((event.detail.reservation, event.detail.worker), (Some(RESERVATION), Some(WORKER)));
}

#[tokio::test]
async fn a_loss_is_the_last_event_of_its_epoch() {
    let world = World::open().await;
    world.enqueue().await;
    let before = world.room.pool().await.unwrap().mark;
    world.room.lose();
    world.room.lose();
    let losses: Vec<_> =
        world.events().into_iter().filter(|event| event.action == Action::LoseCoordinationState).collect();
    assert_eq!(losses.len(), 1, "nothing was left to lose");
    assert_eq!((losses[0].room, losses[0].epoch), (Room::Coordination, 1));
    assert!(losses[0].order > before.order);
}

#[tokio::test]
async fn a_higher_epoch_over_a_full_store_is_a_loss_too() {
    let world = World::open().await;
    world.enqueue().await;
    world.room.install_epoch(2, protocol::InstallationId(1)).await.unwrap();
    assert_eq!(world.actions().last().unwrap().0, Action::LoseCoordinationState);
}

#[tokio::test]
async fn a_clock_that_goes_back_by_more_than_a_lease_empties_the_store() {
    let world = World::open().await;
    world.enqueue().await;
    world.clock_ms.fetch_sub(900, Ordering::SeqCst);
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 1, "a small step back stands still");
    world.clock_ms.fetch_sub(200, Ordering::SeqCst);
    let state = world.room.pool().await.unwrap();
    assert_eq!((state.mark.epoch, state.queued), (0, 0));
    assert_eq!(world.enqueue().await, Some(Guard::Stale));
    world.room.install_epoch(2, protocol::InstallationId(1)).await.unwrap();
    assert_eq!(world.room.pool().await.unwrap().epoch_age_ms, 0);
}

#[tokio::test]
async fn a_step_that_panics_half_way_leaves_an_empty_store_and_a_room_that_goes_on() {
    let world = Arc::new(World::open().await);
    world.trace.panics.store(true, Ordering::SeqCst);
    let other = Arc::clone(&world);
    assert!(tokio::spawn(async move { other.enqueue().await }).await.is_err(), "it panicked");
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 0);
    assert_eq!(world.enqueue().await, Some(Guard::Stale));
    world.room.install_epoch(2, protocol::InstallationId(1)).await.unwrap();
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 2);
}

#[tokio::test]
async fn a_room_whose_events_nobody_wants_works_as_well() {
    let room = MemoryRoom::default();
    room.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
    assert_eq!(room.pool().await.unwrap().mark.epoch, 1);
}
