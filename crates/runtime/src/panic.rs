//! Panics as errors, for tasks whose silent end would be worse than the fault itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Runs work to its end; a panic in it is an error with the panic's text.
///
/// # Errors
/// When it panics.
pub async fn catch_panic<F: Future>(work: F) -> Result<F::Output, String> {
    let mut work = Box::pin(work);
    std::future::poll_fn(move |context| {
        let poll = AssertUnwindSafe(|| work.as_mut().poll(context));
        match catch_unwind(poll) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "no message".to_owned());
                Poll::Ready(Err(text))
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_with_its_text_and_anything_else_is_given_as_it_is() {
        assert_eq!(catch_panic(async { 7 }).await, Ok(7));
        let text = catch_panic(async { panic!("number {}", 3) }).await.map(|never: ()| never);
        assert_eq!(text, Err("number 3".to_owned()));
    }
}
