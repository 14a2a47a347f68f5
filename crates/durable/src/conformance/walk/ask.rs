//! Intents: what somebody wants to ask, before it is known of whom.

use proptest::prelude::{Strategy, any as arbitrary, prop_oneof};
use proptest::strategy::{BoxedStrategy, Just};

/// Which attempt of a job a request names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose {
    /// The last one.
    Last,
    /// An earlier one, as far back as this says.
    Earlier(u8),
    /// The last one, under another token.
    WrongToken,
    /// One that nobody claimed.
    Nobodys,
}

/// Which checkpoint a request names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    /// The one that is there.
    Valid,
    /// None.
    None,
    /// One so many revisions from the job's own.
    Other(u8),
}

/// What a new job is like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Like {
    pub(super) max_attempts: u8,
    pub(super) retry_base_ms: u64,
    pub(super) window: u8,
    pub(super) scheduled_in_ms: Option<i64>,
    pub(super) key: Option<u8>,
}

/// An intent. Which of the jobs that fit is a number.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    Submit(Like),
    Claim {
        job: u8,
        on: Which,
        id: Whose,
    },
    Checkpoint {
        job: u8,
        whose: Whose,
        further: i8,
        inline: bool,
    },
    Succeed {
        job: u8,
        whose: Whose,
    },
    Fail {
        job: u8,
        whose: Whose,
        cause: u8,
        chance: u64,
    },
    Reap {
        job: u8,
        whose: Whose,
        chance: u64,
    },
    Schedule {
        job: u8,
    },
    Cancel {
        job: u8,
    },
    Finalize {
        job: u8,
        whose: Whose,
        by_worker: bool,
    },
    Invalidate {
        job: u8,
        which: Which,
    },
    Retry {
        job: u8,
        onto: Option<u8>,
    },
    Swept {
        stage: u8,
        kept: bool,
    },
    /// One of the requests above once more, as it was.
    Again(u8),
    RaiseEpoch {
        by: u8,
        stale: bool,
    },
    OpenEpoch {
        stale: bool,
    },
    Configure {
        limit: u8,
        pause: Option<bool>,
    },
    Advance {
        ms: u64,
    },
    Damage {
        job: u8,
    },
}

fn whose() -> impl Strategy<Value = Whose> {
    prop_oneof![
        12 => Just(Whose::Last),
        2 => (1..4_u8).prop_map(Whose::Earlier),
        1 => Just(Whose::WrongToken),
        1 => Just(Whose::Nobodys),
    ]
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        8 => Just(Which::Valid),
        1 => Just(Which::None),
        1 => (0..4_u8).prop_map(Which::Other),
    ]
}

fn like() -> impl Strategy<Value = Like> {
    let scheduled = prop_oneof![4 => Just(None), 1 => Just(Some(700)), 1 => Just(Some(-700))];
    let key = prop_oneof![3 => Just(None), 1 => (0..3_u8).prop_map(Some)];
    let retry = prop_oneof![2 => Just(0), 1 => Just(400_u64)];
    (prop_oneof![1 => Just(0), 9 => 1..5_u8], retry, 0..4_u8, scheduled, key).prop_map(
        |(max_attempts, retry_base_ms, window, scheduled_in_ms, key)| Like {
            max_attempts,
            retry_base_ms,
            window,
            scheduled_in_ms,
            key,
        },
    )
}

/// Which of the jobs that fit.
fn job() -> impl Strategy<Value = u8> {
    arbitrary::<u8>()
}

fn attempts() -> BoxedStrategy<Ask> {
    let claim_id = prop_oneof![12 => Just(Whose::Nobodys), 2 => Just(Whose::Last), 1 => (1..4_u8).prop_map(Whose::Earlier),
        1 => Just(Whose::WrongToken)];
    let finalized = prop_oneof![3 => whose(), 1 => Just(Whose::Nobodys)];
    prop_oneof![
        8 => (job(), which(), claim_id).prop_map(|(job, on, id)| Ask::Claim { job, on, id }),
        14 => (job(), whose(), -2..4_i8, arbitrary::<bool>())
            .prop_map(|(job, whose, further, inline)| Ask::Checkpoint { job, whose, further, inline }),
        2 => (job(), whose()).prop_map(|(job, whose)| Ask::Succeed { job, whose }),
        3 => (job(), whose(), 0..14_u8, arbitrary::<u64>())
            .prop_map(|(job, whose, cause, chance)| Ask::Fail { job, whose, cause, chance }),
        2 => (job(), whose(), arbitrary::<u64>())
            .prop_map(|(job, whose, chance)| Ask::Reap { job, whose, chance }),
        3 => (job(), finalized, arbitrary::<bool>())
            .prop_map(|(job, whose, by_worker)| Ask::Finalize { job, whose, by_worker }),
    ]
    .boxed()
}

fn verbs() -> BoxedStrategy<Ask> {
    prop_oneof![
        6 => job().prop_map(|job| Ask::Schedule { job }),
        2 => job().prop_map(|job| Ask::Cancel { job }),
        2 => (job(), which()).prop_map(|(job, which)| Ask::Invalidate { job, which }),
        2 => (job(), prop_oneof![5 => Just(None), 1 => job().prop_map(Some)])
            .prop_map(|(job, onto)| Ask::Retry { job, onto }),
        2 => (0..4_u8, arbitrary::<bool>()).prop_map(|(stage, kept)| Ask::Swept { stage, kept }),
    ]
    .boxed()
}

fn pool() -> BoxedStrategy<Ask> {
    prop_oneof![
        (0..3_u8, arbitrary::<bool>()).prop_map(|(by, stale)| Ask::RaiseEpoch { by, stale }),
        arbitrary::<bool>().prop_map(|stale| Ask::OpenEpoch { stale }),
        (0..3_u8, proptest::option::of(arbitrary::<bool>()))
            .prop_map(|(limit, pause)| Ask::Configure { limit, pause }),
    ]
    .boxed()
}

/// Any intent.
pub(super) fn any() -> BoxedStrategy<Ask> {
    prop_oneof![
        5 => like().prop_map(Ask::Submit),
        30 => attempts(),
        14 => verbs(),
        6 => arbitrary::<u8>().prop_map(Ask::Again),
        2 => pool(),
        4 => prop_oneof![Just(1), Just(300), Just(2_000), Just(400_000)].prop_map(|ms| Ask::Advance { ms }),
        1 => job().prop_map(|job| Ask::Damage { job }),
    ]
    .boxed()
}
