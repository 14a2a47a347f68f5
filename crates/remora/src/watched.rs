//! A store that gives no answer is told of, once.
//!
//! Promises: a line with the cause when a store goes away, at most one a minute while it stays away, and one when it is
//! back; for each store and process, however many tasks ask it. What the silence means for a job, whoever asked tells.
//! Does not ask by itself, repeat anything or change an answer.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Fault, FaultKind, Violation, told};
use runtime::Clock;
use worker::Rooms;

/// The least time between two lines about the same silence.
const MINUTE: Duration = Duration::from_secs(60);

/// Hears how long a store took: store, action, time, and whether it answered.
pub type Timer = Arc<dyn Fn(&'static str, &'static str, Duration, bool) + Send + Sync>;

/// The stores that a process watches.
#[derive(Clone)]
pub struct Watches {
    durable: Arc<Watch>,
    coordination: Arc<Watch>,
    timer: Option<Timer>,
}

impl Watches {
    /// Over this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let watch = |store| Arc::new(Watch { store, clock: Arc::clone(&clock), silence: Mutex::default() });
        Self { durable: watch("durable"), coordination: watch("coordination"), timer: None }
    }

    /// The same, and tells how long each answer took.
    #[must_use]
    pub fn timed(mut self, timer: Timer) -> Self {
        self.timer = Some(timer);
        self
    }

    /// The same rooms, watched. Others over the same watches are the same stores.
    #[must_use]
    pub fn over(&self, rooms: Rooms) -> Rooms {
        Rooms {
            durable: Arc::new(Watched {
                room: rooms.durable,
                watch: Arc::clone(&self.durable),
                timer: self.timer.clone(),
            }),
            coordination: Arc::new(Watched {
                room: rooms.coordination,
                watch: Arc::clone(&self.coordination),
                timer: self.timer.clone(),
            }),
            target: rooms.target,
        }
    }
}

/// What is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    Away,
    StillAway(Duration),
    Back(Duration),
}

/// What is known of a store's answers.
#[derive(Debug, Default)]
struct Silence {
    /// Since when there was none.
    since: Option<Duration>,
    /// Whether that was told.
    is_told: bool,
    /// When something was told of it last.
    told: Option<Duration>,
    /// When the newest request that was answered had been sent.
    answered: Option<Duration>,
}

impl Silence {
    fn silent(&mut self, sent: Duration, now: Duration) -> Option<News> {
        // It may have waited for its limit through all of a short silence.
        if self.answered.is_some_and(|answered| answered > sent) {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        if self.told.is_some_and(|told| now.saturating_sub(told) < MINUTE) {
            return None;
        }
        self.told = Some(now);
        let was_told = std::mem::replace(&mut self.is_told, true);
        Some(if was_told { News::StillAway(now.saturating_sub(since)) } else { News::Away })
    }

    fn answered(&mut self, sent: Duration, now: Duration) -> Option<News> {
        self.answered = self.answered.max(Some(sent));
        let since = self.since.take()?;
        std::mem::take(&mut self.is_told).then(|| News::Back(now.saturating_sub(since)))
    }
}

struct Watch {
    store: &'static str,
    clock: Arc<dyn Clock>,
    silence: Mutex<Silence>,
}

impl Watch {
    fn hear<T>(&self, sent: Duration, answer: &Result<T, Fault>) {
        let now = self.clock.boottime();
        let mut silence = self.silence.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = answer.as_ref().err().filter(|fault| is_silence(fault));
        let news = match silent {
            Some(_) => silence.silent(sent, now),
            None => silence.answered(sent, now),
        };
        drop(silence);
        let store = self.store;
        let cause = silent.map(|fault| told(fault)).unwrap_or_default();
        match news {
            Some(News::Away) => tracing::warn!(store, error = %cause, "a store gives no answer"),
            Some(News::StillAway(time)) => {
                tracing::warn!(store, away_s = time.as_secs(), error = %cause, "a store still gives no answer");
            }
            Some(News::Back(time)) => {
                tracing::info!(store, away_s = time.as_secs(), "the store answers again");
            }
            None => {}
        }
    }
}

/// Whether it tells of the store, and not of what was asked or is stored.
fn is_silence(fault: &Fault) -> bool {
    let is_refusal = fault.source().is_some_and(|source| source.is::<Violation>());
    fault.kind != FaultKind::Corrupt && !is_refusal
}

/// A room whose answers are watched.
struct Watched<R: ?Sized> {
    room: Arc<R>,
    watch: Arc<Watch>,
    timer: Option<Timer>,
}

macro_rules! watched {
    ([$room:ident $($extra:item)?] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        #[async_trait]
        impl $port for Watched<dyn $room> {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                let sent = self.watch.clock.boottime();
                let answer = self.room.$method($($argument),*).await;
                self.watch.hear(sent, &answer);
                if let Some(timer) = &self.timer {
                    let took = self.watch.clock.boottime().saturating_sub(sent);
                    timer(self.watch.store, stringify!($method), took, answer.is_ok());
                }
                answer
            })*

            $($extra)?
        }
    };
}

mod durable_room {
    use durable::*;
    use protocol::{AttemptId, JobId, Origin, Stamped, Window};

    use super::*;

    wire::durable_actions!(watched[DurableRoom]);
    wire::durable_reads!(watched[DurableRoom]);
    wire::durable_listing!(watched[DurableRoom]);
    wire::durable_access!(watched[DurableRoom]);
}

mod coordination_room {
    use coordination::*;
    use protocol::{AttemptId, Incarnation, JobId, Stamped};
    use tokio::sync::broadcast;

    use super::*;

    wire::coordination_actions!(watched[CoordinationRoom
        fn wakes(&self) -> broadcast::Receiver<Wake> {
            self.room.wakes()
        }
    ]);
    wire::coordination_reads!(watched[CoordinationRoom]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is set by hand.
    #[derive(Default)]
    struct Hand(Mutex<Duration>);

    impl Hand {
        fn at(&self, seconds: u64) -> Duration {
            *self.0.lock().unwrap() = Duration::from_secs(seconds);
            Duration::from_secs(seconds)
        }
    }

    #[async_trait]
    impl Clock for Hand {
        fn boottime(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        fn unix_ms(&self) -> u64 {
            0
        }

        async fn sleep(&self, _: Duration) {}
    }

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_silence_is_told_when_it_begins_each_minute_and_when_it_ends() {
        let mut silence = Silence::default();
        assert_eq!(silence.answered(s(0), s(0)), None);
        assert_eq!(silence.silent(s(1), s(2)), Some(News::Away));
        let told: Vec<_> = (3..130).filter_map(|now| silence.silent(s(now - 1), s(now))).collect();
        assert_eq!(told, [News::StillAway(s(60)), News::StillAway(s(120))]);
        assert_eq!(silence.answered(s(130), s(131)), Some(News::Back(s(129))));
        assert_eq!(silence.answered(s(131), s(132)), None);
        assert_eq!(silence.silent(s(300), s(301)), Some(News::Away), "another one");
    }

    #[test]
    fn a_store_that_comes_and_goes_is_told_of_once_a_minute() {
        let mut silence = Silence::default();
        let mut told = Vec::new();
        for now in 1..=100 {
            told.extend(silence.silent(s(now), s(now)));
            told.extend(silence.answered(s(now), s(now)));
        }
        let back = News::Back(s(0));
        assert_eq!(told, [News::Away, back, News::Away, back]);
    }

    #[test]
    fn a_request_that_waited_through_a_short_silence_begins_no_other_one() {
        let mut silence = Silence::default();
        assert_eq!(silence.silent(s(1), s(5)), Some(News::Away));
        assert_eq!(silence.answered(s(5), s(6)), Some(News::Back(s(1))));
        assert_eq!(silence.silent(s(4), s(90)), None, "sent before what was answered");
        assert_eq!(silence.silent(s(6), s(91)), Some(News::Away));
    }

    #[test]
    fn bad_data_and_a_wrong_request_are_answers() {
        let hand = Arc::new(Hand::default());
        let watches = Watches::new(Arc::clone(&hand) as Arc<dyn Clock>);
        let watch = &watches.durable;
        let violation = Violation { field: "f".to_owned(), value: "1".to_owned(), allowed: "2".to_owned() };
        let answers = [
            Fault::unreachable("configure the pool", violation),
            Fault::new(FaultKind::Corrupt, "read a row"),
        ];
        for fault in answers {
            let sent = hand.at(1);
            watch.hear::<()>(sent, &Err(fault));
            assert_eq!(watch.silence.lock().unwrap().since, None);
        }
        let sent = hand.at(2);
        watch.hear::<()>(sent, &Err(Fault::new(FaultKind::Ambiguous, "claim attempts")));
        assert_eq!(watch.silence.lock().unwrap().since, Some(s(2)));
        assert_eq!(watches.coordination.silence.lock().unwrap().since, None, "each store has its own");
        let sent = hand.at(3);
        watch.hear(sent, &Ok(()));
        assert_eq!(watch.silence.lock().unwrap().since, None);
    }
}
