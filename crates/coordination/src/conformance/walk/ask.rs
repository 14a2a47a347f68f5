//! Intents: what somebody wants to ask, before it is known of what.

use proptest::prelude::{Strategy, any as arbitrary, prop_oneof};
use proptest::strategy::{BoxedStrategy, Just};

/// Which reservation or lease a request names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose {
    /// One that is held, exactly as it is held.
    Held(u8),
    /// One that is held, by another worker's word.
    NotTheirs(u8),
    /// One that is held, for another job.
    OtherJob(u8),
    /// Whatever these numbers say.
    Any { job: u8, id: u8, worker: u8 },
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum What {
    Enqueue { job: u8, window: u8, position: u8 },
    Reserve { worker: u8, again: Option<u8>, places: u8, windows: u8 },
    ClaimRefused(Whose),
    Activate { whose: Whose, attempt: u8 },
    Renew(Whose),
    RenewReservation(Whose),
    Expire { limit: u8 },
    DropReservation { limit: u8 },
    ReleaseReservation(Whose),
    ReleaseLease(Whose),
    Notice { job: u8 },
    Clean { job: u8 },
    Report { whose: Whose, done: u8 },
    Restore(Whose),
    Observe { whose: Whose, reserved: bool, epochs_ago: u8, by_holder: bool },
    Settle { attempt: u8 },
    Account { first: u8, second: u8 },
    OpenEpoch,
    Configure { older: bool, limit: u8, lease: u8, paused: bool },
    Register { worker: u8, serves: u8, draining: bool },
}

/// An intent.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    /// A request that names the epoch, or so many epochs off.
    Now {
        what: What,
        epochs_off: i8,
    },
    /// One of the requests before once more, as it was.
    Again(u8),
    Deregister {
        worker: u8,
    },
    Advance {
        ms: u64,
    },
    /// Everything is lost, and an epoch is installed, opening.
    Lose {
        known_running: u8,
    },
    /// A lease is given while leases are short and ends while they are long again: by age, and inside the grace.
    ShortLease {
        lease: u8,
    },
    /// An epoch is installed over the one that is there.
    Install {
        by: u8,
    },
}

fn whose() -> BoxedStrategy<Whose> {
    prop_oneof![
        8 => arbitrary::<u8>().prop_map(Whose::Held),
        1 => arbitrary::<u8>().prop_map(Whose::NotTheirs),
        1 => arbitrary::<u8>().prop_map(Whose::OtherJob),
        2 => anybodys(),
    ]
    .boxed()
}

fn anybodys() -> impl Strategy<Value = Whose> {
    (0..6_u8, 0..10_u8, 0..3_u8).prop_map(|(job, id, worker)| Whose::Any { job, id, worker })
}

fn places() -> BoxedStrategy<What> {
    let again = prop_oneof![6 => Just(None), 1 => (0..8_u8).prop_map(Some)];
    prop_oneof![
        8 => (0..6_u8, 0..4_u8, 0..50_u8)
            .prop_map(|(job, window, position)| What::Enqueue { job, window, position }),
        7 => (0..3_u8, again, 1..3_u8, 0..16_u8)
            .prop_map(|(worker, again, places, windows)| What::Reserve { worker, again, places, windows }),
        2 => whose().prop_map(What::ClaimRefused),
        2 => whose().prop_map(What::RenewReservation),
        1 => (1..3_u8).prop_map(|limit| What::DropReservation { limit }),
        1 => whose().prop_map(What::ReleaseReservation),
    ]
    .boxed()
}

fn leases() -> BoxedStrategy<What> {
    prop_oneof![
        6 => (whose(), 0..10_u8).prop_map(|(whose, attempt)| What::Activate { whose, attempt }),
        3 => whose().prop_map(What::Renew),
        4 => (1..3_u8).prop_map(|limit| What::Expire { limit }),
        2 => whose().prop_map(What::ReleaseLease),
        4 => (whose(), 0..3_u8).prop_map(|(whose, done)| What::Report { whose, done }),
        2 => whose().prop_map(What::Restore),
        3 => anybodys().prop_map(What::Restore),
        3 => (whose(), arbitrary::<bool>(), 0..2_u8, arbitrary::<bool>()).prop_map(
            |(whose, reserved, epochs_ago, by_holder)| What::Observe { whose, reserved, epochs_ago, by_holder }
        ),
    ]
    .boxed()
}

fn rest() -> BoxedStrategy<What> {
    prop_oneof![
        2 => (0..6_u8).prop_map(|job| What::Notice { job }),
        2 => (0..6_u8).prop_map(|job| What::Clean { job }),
        2 => (0..10_u8).prop_map(|attempt| What::Settle { attempt }),
        2 => (0..10_u8, 0..10_u8).prop_map(|(first, second)| What::Account { first, second }),
        6 => Just(What::OpenEpoch),
        3 => (arbitrary::<bool>(), 1..7_u8, 0..2_u8, proptest::bool::weighted(0.3))
            .prop_map(|(older, limit, lease, paused)| What::Configure { older, limit, lease, paused }),
        4 => (0..3_u8, 0..8_u8, proptest::bool::weighted(0.1))
            .prop_map(|(worker, serves, draining)| What::Register { worker, serves, draining }),
    ]
    .boxed()
}

/// Any intent.
pub(super) fn any() -> BoxedStrategy<Ask> {
    let what = prop_oneof![12 => places(), 12 => leases(), 8 => rest()];
    let epochs_off = prop_oneof![14 => Just(0_i8), 1 => Just(-1), 1 => Just(1)];
    prop_oneof![
        90 => (what, epochs_off).prop_map(|(what, epochs_off)| Ask::Now { what, epochs_off }),
        12 => arbitrary::<u8>().prop_map(Ask::Again),
        1 => (0..3_u8).prop_map(|worker| Ask::Deregister { worker }),
        9 => prop_oneof![Just(1), Just(400), Just(1_100), Just(3_000)].prop_map(|ms| Ask::Advance { ms }),
        1 => (0..8_u8).prop_map(|known_running| Ask::Lose { known_running }),
        1 => arbitrary::<u8>().prop_map(|lease| Ask::ShortLease { lease }),
        1 => (0..2_u8).prop_map(|by| Ask::Install { by }),
    ]
    .boxed()
}
