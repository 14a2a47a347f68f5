//! A place in the server that tests share.

use std::sync::atomic::{AtomicU64, Ordering};

/// The URL of a schema that nobody else uses, on the shared server. It may not be there yet.
pub(crate) fn fresh_url() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let server = testbed::postgres::shared();
    format!("{server}?sslmode=disable&connections=4&schema=t{}_{number}", std::process::id())
}
