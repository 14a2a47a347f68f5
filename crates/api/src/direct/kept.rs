//! Answers made for all who ask and not for each.
//!
//! Promises: who asks while an answer is being made is given that one; after it, it is shown for `SHARE` times as long as it
//! took to make. So however many ask, and however often, making them takes at most one part in `SHARE` of the time of one
//! connection, and an answer is milliseconds old in a small store, seconds in one of ten million jobs. Faults are not kept.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

struct Made<T> {
    at: Instant,
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
    pub(super) async fn get<E>(&self, make: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let asked = Instant::now();
        let mut kept = self.0.lock().await;
        let good = |made: &&Made<T>| made.at > asked || made.at.elapsed() < made.took * SHARE;
        if let Some(made) = kept.as_ref().filter(good) {
            return Ok(made.answer.clone());
        }
        let began = Instant::now();
        let answer = make.await?;
        *kept = Some(Made { at: Instant::now(), took: began.elapsed(), answer: answer.clone() });
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    async fn numbered(made: &AtomicU32) -> Result<u32, &'static str> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(made.fetch_add(1, Relaxed) + 1)
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_are_given_one_answer_until_it_is_twenty_times_as_old_as_it_took() {
        let (kept, made) = (Kept::<_, 20>::default(), AtomicU32::new(0));
        let ask = || kept.get(numbered(&made));
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        tokio::time::advance(Duration::from_millis(1_999)).await;
        assert_eq!(ask().await, Ok(1));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!((ask().await, made.load(Relaxed)), (Ok(2), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_kept_is_made_once_for_those_who_ask_together() {
        let (kept, made) = (Kept::<_, 0>::default(), AtomicU32::new(0));
        let ask = || kept.get(numbered(&made));
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(1), Ok(1), Ok(1)));
        assert_eq!(ask().await, Ok(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_is_told_to_who_asked_and_not_kept() {
        let kept = Kept::<_, 20>::default();
        assert_eq!(kept.get(async { Err("away") }).await, Err("away"));
        assert_eq!(kept.get(async { Ok::<_, &str>(1) }).await, Ok(1));
    }
}
