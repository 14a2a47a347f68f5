//! Answers made for all who ask and not for each.
//!
//! Promises: who asks while an answer is being made is given that one, also when it is a fault: nobody waits for a silent room
//! behind others who do. A good one is shown after it for `SHARE` times as long as it took to make. So however many ask, and
//! however often, making them takes at most one part in `SHARE` of the time of one connection, and an answer is milliseconds
//! old in a small store, seconds in one of ten million jobs.

use std::time::Duration;

use runtime::Clock;
use tokio::sync::Mutex;

struct Made<T, E> {
    at: Duration,
    took: Duration,
    answer: Result<T, E>,
}

/// The last answer to one question.
pub struct Kept<T, E, const SHARE: u32>(Mutex<Option<Made<T, E>>>);

impl<T, E, const SHARE: u32> Default for Kept<T, E, SHARE> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone, E: Clone, const SHARE: u32> Kept<T, E, SHARE> {
    /// The answer that is kept, or a new one.
    ///
    /// # Errors
    /// What came of making it.
    pub async fn get(&self, clock: &dyn Clock, make: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let asked = clock.boottime();
        let mut kept = self.0.lock().await;
        let began = clock.boottime();
        let good = |made: &&Made<T, E>| {
            let is_fresh = began.saturating_sub(made.at) < made.took * SHARE;
            made.at > asked || is_fresh && made.answer.is_ok()
        };
        if let Some(made) = kept.as_ref().filter(good) {
            return made.answer.clone();
        }
        let answer = make.await;
        let at = clock.boottime();
        *kept = Some(Made { at, took: at.saturating_sub(began), answer: answer.clone() });
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as Plain;

    use async_trait::async_trait;

    use super::*;

    /// A clock that is moved by hand, and what was made on it.
    #[derive(Default)]
    struct Hand {
        now: Plain<Duration>,
        made: Plain<u32>,
    }

    impl Hand {
        fn on(&self, ms: u64) {
            *self.now.lock().unwrap() += Duration::from_millis(ms);
        }

        /// Takes 100 ms, and lets the others ask meanwhile.
        async fn numbered(&self) -> Result<u32, &'static str> {
            self.on(50);
            tokio::task::yield_now().await;
            self.on(50);
            let mut made = self.made.lock().unwrap();
            *made += 1;
            Ok(*made)
        }
    }

    #[async_trait]
    impl Clock for Hand {
        fn boottime(&self) -> Duration {
            *self.now.lock().unwrap()
        }

        fn unix_ms(&self) -> u64 {
            0
        }

        async fn sleep(&self, _: Duration) {}
    }

    #[tokio::test]
    async fn many_who_ask_are_given_one_answer_until_it_is_twenty_times_as_old_as_it_took() {
        let (kept, hand) = (Kept::<_, _, 20>::default(), Hand::default());
        let ask = || kept.get(&hand, hand.numbered());
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        hand.on(1_999);
        assert_eq!(ask().await, Ok(1));
        hand.on(1);
        assert_eq!(ask().await, Ok(2));
    }

    #[tokio::test]
    async fn what_is_not_kept_is_made_once_for_those_who_ask_together() {
        let (kept, hand) = (Kept::<_, _, 0>::default(), Hand::default());
        let ask = || kept.get(&hand, hand.numbered());
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        assert_eq!(ask().await, Ok(2));
    }

    #[tokio::test]
    async fn a_fault_is_told_to_those_who_wait_for_it_and_not_kept() {
        let (kept, hand) = (Kept::<_, _, 20>::default(), Hand::default());
        let fail = || async { hand.numbered().await.and(Err::<u32, _>("away")) };
        let ask = || kept.get(&hand, fail());
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Err("away"), Err("away"), Err("away")));
        assert_eq!(*hand.made.lock().unwrap(), 1, "they did not wait for one another");
        assert_eq!(kept.get(&hand, async { Ok(1) }).await, Ok(1));
    }
}
