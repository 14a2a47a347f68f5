//! Answers made for all who ask and not for each.
//!
//! Promises: who asks while an answer is being made is given that one; after it, it is shown for `SHARE` times as long as it
//! took to make. So however many ask, and however often, making them takes at most one part in `SHARE` of the time of one
//! connection, and an answer is milliseconds old in a small store, seconds in one of ten million jobs. Faults are not kept.

use std::time::Duration;

use runtime::Clock;
use tokio::sync::Mutex;

struct Made<T> {
    at: Duration,
    took: Duration,
    answer: T,
}

/// The last answer to one question.
pub(super) struct Kept<T, const SHARE: u32>(Mutex<Option<Made<T>>>);

impl<T, const SHARE: u32> Default for Kept<T, SHARE> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone, const SHARE: u32> Kept<T, SHARE> {
    /// The answer that is kept, or a new one.
    pub(super) async fn get<E>(
        &self,
        clock: &dyn Clock,
        make: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let asked = clock.boottime();
        let mut kept = self.0.lock().await;
        let began = clock.boottime();
        let good = |made: &&Made<T>| made.at > asked || began.saturating_sub(made.at) < made.took * SHARE;
        if let Some(made) = kept.as_ref().filter(good) {
            return Ok(made.answer.clone());
        }
        let answer = make.await?;
        let at = clock.boottime();
        *kept = Some(Made { at, took: at.saturating_sub(began), answer: answer.clone() });
        Ok(answer)
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
        let (kept, hand) = (Kept::<_, 20>::default(), Hand::default());
        let ask = || kept.get(&hand, hand.numbered());
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        hand.on(1_999);
        assert_eq!(ask().await, Ok(1));
        hand.on(1);
        assert_eq!(ask().await, Ok(2));
    }

    #[tokio::test]
    async fn what_is_not_kept_is_made_once_for_those_who_ask_together() {
        let (kept, hand) = (Kept::<_, 0>::default(), Hand::default());
        let ask = || kept.get(&hand, hand.numbered());
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        assert_eq!(ask().await, Ok(2));
    }

    #[tokio::test]
    async fn a_fault_is_told_to_who_asked_and_not_kept() {
        let (kept, hand) = (Kept::<_, 20>::default(), Hand::default());
        assert_eq!(kept.get(&hand, async { Err("away") }).await, Err("away"));
        assert_eq!(kept.get(&hand, async { Ok::<_, &str>(1) }).await, Ok(1));
    }
}
