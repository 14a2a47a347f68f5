//! Waiting with a deadline: the only way in which these tests let time pass.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::bail;

const LOOK: Duration = Duration::from_millis(20);

/// Looks again and again until there is something; fails with `what` when the time is over.
///
/// # Errors
/// When the time is over, or a look fails.
pub async fn eventually<T, F>(what: &str, limit: Duration, mut look: impl FnMut() -> F) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<Option<T>>>,
{
    let began = Instant::now();
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if began.elapsed() > limit {
            bail!("waited {limit:?} in vain: {what}");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The same for a plain condition.
///
/// # Errors
/// When the time is over.
pub async fn within(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) -> anyhow::Result<()> {
    eventually(what, limit, || {
        let found = holds().then_some(());
        async move { Ok(found) }
    })
    .await
}
