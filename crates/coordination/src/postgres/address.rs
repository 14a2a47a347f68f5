//! Reads a URL: `postgres://user:password@host:port/database?schema=…&pool=…&sslmode=…`.
//!
//! Promises what [`pg::address`] does. `schema` is `remora_coordination` and `pool` is `default` where the URL names none.
//! Several pools may lie in one schema. Does not look at the environment.

use std::fmt;

pub use pg::address::AddressError;
use pg::address::{Address as Server, decoded};

/// The schema where the URL names none.
const SCHEMA: &str = "remora_coordination";
/// The pool where the URL names none.
const POOL: &str = "default";

/// A URL, read.
#[derive(Clone)]
pub struct Address {
    /// The server, the database, the schema, and how they are reached.
    pub server: Server,
    /// The pool's name.
    pub pool: String,
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// Names the part that is wrong, with what is allowed. Never shows the password.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut pool = POOL.to_owned();
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("pool", name)) => pool = decoded("pool", name)?,
                _ => others.push(pair),
            }
        }
        protocol::job::check_name("pool", &pool)?;
        let server = Server::read(&format!("{place}?{}", others.join("&")), SCHEMA)?;
        Ok(Self { server, pool })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pool {} in {}", self.pool, self.server.place())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("server", &self.server).field("pool", &self.pool).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_and_schema_are_named_or_usual() {
        let usual = Address::parse("postgres://u:s3cret@h/d").unwrap();
        assert_eq!((usual.server.schema.as_str(), usual.pool.as_str()), ("remora_coordination", "default"));
        let named = Address::parse("postgresql://h/d?schema=c&pool=a%2Db&connections=3").unwrap();
        assert_eq!((named.server.schema.as_str(), named.pool.as_str()), ("c", "a-b"));
        assert_eq!(named.server.connections, 3);
        assert!(!format!("{usual:?} {usual}").contains("s3cret"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |url| Address::parse(url).unwrap_err().to_string();
        assert!(refused("postgres://h/d?pool=").contains("pool"), "{}", refused("postgres://h/d?pool="));
        assert!(refused("redis://h").contains("postgres://"));
        assert!(refused("postgres://h/d?schema=pg_x").contains("schema is \"pg_x\""));
    }
}
