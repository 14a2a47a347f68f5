//! Rooms of this crate never wait: what they are asked is answered at the first poll.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that does not wait.
///
/// # Panics
/// When it does.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a room in memory answers at once"),
    }
}
