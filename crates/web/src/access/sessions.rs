//! Sessions of browsers: a random value in a cookie, for a token that was shown once.
//!
//! Promises: only a digest of the value is kept, and only in memory, for twelve hours; a session is worth exactly what its
//! token is worth at that moment, and nothing once that is revoked or expired. Does not outlive the process, and other
//! processes do not know it: a person logs in again there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::secret::NewSecret;

/// The cookie's name.
pub(crate) const COOKIE: &str = "remora_session";
/// How long a session lasts.
pub(crate) const LASTS: Duration = Duration::from_secs(12 * 3_600);
/// Sessions kept; the oldest one makes room.
const MOST: usize = 10_000;

struct Session {
    token: String,
    since: Instant,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

fn digest(value: &str) -> [u8; 32] {
    *blake3::hash(value.as_bytes()).as_bytes()
}

impl Sessions {
    /// Begins a session of the token of this id.
    pub(crate) fn begin(&self, token: &str) -> NewSecret {
        let secret = NewSecret::session();
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.since.elapsed() < LASTS);
        if sessions.len() >= MOST
            && let Some(oldest) =
                sessions.iter().min_by_key(|(_, session)| session.since).map(|(key, _)| *key)
        {
            sessions.remove(&oldest);
        }
        sessions.insert(secret.digest(), Session { token: token.to_owned(), since: Instant::now() });
        secret
    }

    /// The id of the token that a session is of.
    pub(crate) fn token(&self, value: &str) -> Option<String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Found by the digest: how long that takes tells nothing of the value.
        let session = sessions.get(&digest(value))?;
        (session.since.elapsed() < LASTS).then(|| session.token.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&self, value: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_of_its_token_until_it_ends_and_the_oldest_makes_room() {
        let sessions = Sessions::default();
        let first = sessions.begin("t");
        assert_eq!(sessions.token(first.reveal()).as_deref(), Some("t"));
        assert_eq!(sessions.token("guess"), None);
        sessions.end(first.reveal());
        assert_eq!(sessions.token(first.reveal()), None);
        let oldest = sessions.begin("old");
        for _ in 0..MOST {
            sessions.begin("t");
        }
        assert_eq!(sessions.token(oldest.reveal()), None);
        assert_eq!(sessions.0.lock().unwrap().len(), MOST);
    }
}
