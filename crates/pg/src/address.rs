//! Reads a URL: `postgres://user:password@host:port/database?sslmode=…&schema=…`.
//!
//! Promises libpq's meaning of what both know, and an error that names the part that is wrong and never shows the
//! password. What is this program's own (`schema`, `statements`, `connections`, `call_timeout_ms`) and all of TLS is
//! read here; the rest is tokio-postgres's. Does not look at the environment.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use protocol::Violation;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Where libpq looks for a server's socket when no host is named, on Debian.
const SOCKETS: &str = "/var/run/postgresql";

/// How far the connection is secured (`sslmode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secured {
    /// Never.
    Disable,
    /// Where the server offers it; nothing is verified. The default, as libpq's.
    Prefer,
    /// Always; nothing is verified, unless there is an `sslrootcert`.
    Require,
    /// Always; the certificate must be signed by a root that is trusted.
    VerifyCa,
    /// Always; and it must be the host's.
    VerifyFull,
}

/// Whether statements are prepared under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// Prepared once a session: the fastest. Not through a pooler that gives each transaction another session.
    Named,
    /// Sent whole each time, in one trip: for poolers in transaction mode.
    Unnamed,
    /// Found out at start.
    Detect,
}

/// A URL, read.
#[derive(Clone)]
pub struct Address {
    /// How tokio-postgres connects.
    pub config: Config,
    /// How far connections are secured.
    pub secured: Secured,
    /// Roots to verify with: the system's where none is named.
    pub root_cert: Option<PathBuf>,
    /// What this client shows of itself: certificate and key.
    pub client_cert: Option<(PathBuf, PathBuf)>,
    /// The schema that holds everything: `remora`.
    pub schema: String,
    /// Whether statements are prepared: found out.
    pub statements: Statements,
    /// Connections of this process for its decisions, at most: 8; people's reads have two more. Too few: requests wait
    /// for one another. Too many: the server's `max_connections` is reached by few processes.
    pub connections: usize,
    /// How long a call may take, all in all: 10 s. Too short: a busy server's answers come for nobody. Too long: a frozen
    /// server is noticed late.
    pub call_timeout: Duration,
}

/// A URL that cannot be used. Never shows the password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It begins otherwise.
    #[error("the URL of a PostgreSQL server begins with postgres://")]
    Scheme,
    /// A part of it is wrong.
    #[error(transparent)]
    Part(#[from] Violation),
    /// What remains cannot be read.
    #[error("the URL of the PostgreSQL server cannot be read")]
    Rest(#[source] tokio_postgres::Error),
}

/// A part of a URL that is wrong.
#[must_use]
pub fn wrong(field: &str, value: &str, allowed: &str) -> AddressError {
    Violation { field: field.to_owned(), value: format!("{value:?}"), allowed: allowed.to_owned() }.into()
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        Self::read(url, "remora")
    }
}

impl Address {
    /// Reads a URL; the schema where it names none.
    ///
    /// # Errors
    /// Names the part that is wrong, with what is allowed.
    pub fn read(url: &str, schema: &str) -> Result<Self, AddressError> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or(AddressError::Scheme)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut read = Self {
            config: Config::new(),
            secured: Secured::Prefer,
            root_cert: None,
            client_cert: None,
            schema: schema.to_owned(),
            statements: Statements::Detect,
            connections: 8,
            call_timeout: Duration::from_secs(10),
        };
        let (mut certificate, mut key) = (None, None);
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(name, value)?;
            match name {
                "sslcert" => certificate = Some(PathBuf::from(value)),
                "sslkey" => key = Some(PathBuf::from(value)),
                name if read.own(name, &value)? => {}
                _ => others.push(pair),
            }
        }
        read.client_cert = match (certificate, key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            _ => return Err(wrong("sslcert", "without its other half", "sslcert and sslkey together")),
        };
        read.config = configured(place, &others.join("&"))?;
        read.settle();
        Ok(read)
    }

    /// Takes what is read here; whether it was.
    fn own(&mut self, name: &str, value: &str) -> Result<bool, AddressError> {
        match name {
            "schema" => {
                let fits = !value.is_empty()
                    && value.len() <= 63
                    && !value.contains(['\0', '\'', '"', '$', '\\'])
                    && !value.starts_with("pg_");
                if !fits {
                    return Err(wrong(
                        "schema",
                        value,
                        "1 to 63 bytes without quotes, $ and backslash, not beginning with pg_",
                    ));
                }
                value.clone_into(&mut self.schema);
            }
            "statements" => {
                self.statements = match value {
                    "named" => Statements::Named,
                    "unnamed" => Statements::Unnamed,
                    "detect" => Statements::Detect,
                    _ => return Err(wrong(name, value, "named, unnamed or detect")),
                };
            }
            "connections" => {
                let number = value.parse().ok().filter(|number| (1..=1_000).contains(number));
                self.connections = number.ok_or_else(|| wrong(name, value, "1 to 1000"))?;
            }
            "call_timeout_ms" => {
                let ms = value.parse().ok().filter(|ms| (100..=600_000).contains(ms));
                let ms = ms.ok_or_else(|| wrong(name, value, "100 to 600000"))?;
                self.call_timeout = Duration::from_millis(ms);
            }
            "sslmode" => {
                self.secured = match value {
                    "disable" => Secured::Disable,
                    "prefer" | "allow" => Secured::Prefer,
                    "require" => Secured::Require,
                    "verify-ca" => Secured::VerifyCa,
                    "verify-full" => Secured::VerifyFull,
                    _ => {
                        return Err(wrong(name, value, "disable, prefer, require, verify-ca or verify-full"));
                    }
                };
            }
            "sslrootcert" => self.root_cert = Some(PathBuf::from(value)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What follows from all of it together.
    fn settle(&mut self) {
        if self.config.get_hosts().is_empty() && self.config.get_hostaddrs().is_empty() {
            self.config.host_path(SOCKETS);
        }
        if self.config.get_application_name().is_none() {
            self.config.application_name("remora");
        }
        if self.config.get_connect_timeout().is_none() {
            self.config.connect_timeout(self.call_timeout);
        }
        self.config.tcp_user_timeout(self.call_timeout);
        let sockets_only = self.config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        if sockets_only && self.config.get_hostaddrs().is_empty() {
            self.secured = Secured::Disable;
        }
        // As libpq: a root that was named is not named for nothing.
        if self.secured == Secured::Require && self.root_cert.is_some() {
            self.secured = Secured::VerifyCa;
        }
        self.config.ssl_mode(match self.secured {
            Secured::Disable => SslMode::Disable,
            Secured::Prefer => SslMode::Prefer,
            Secured::Require | Secured::VerifyCa | Secured::VerifyFull => SslMode::Require,
        });
    }

    /// Who asks, where: for messages.
    #[must_use]
    pub fn place(&self) -> String {
        let host = self
            .config
            .get_hosts()
            .iter()
            .zip(self.config.get_ports().iter().chain(std::iter::repeat(&5432)));
        let host: Vec<_> = host
            .map(|(host, port)| match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(path) => format!("{}:{port}", path.display()),
            })
            .collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or("");
        format!("schema {} of {}/{database}", self.schema, host.join(","))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("place", &self.place())
            .field("secured", &self.secured)
            .finish_non_exhaustive()
    }
}

/// What tokio-postgres reads. The user's part ends at the last `@`, so that a password may hold one as it is.
fn configured(place: &str, query: &str) -> Result<Config, AddressError> {
    let (user, place) = place.rsplit_once('@').unwrap_or(("", place));
    let (user, password) = match user.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (user, None),
    };
    let mut config: Config = format!("postgres://{place}?{query}").parse().map_err(AddressError::Rest)?;
    if !user.is_empty() {
        config.user(decoded("user", user)?);
    }
    if let Some(password) = password {
        config.password(decoded("password", password)?);
    }
    Ok(config)
}

/// The text with its `%XX` read. The text itself is not shown: it may be the password.
///
/// # Errors
/// Where a `%` is followed by something else than two digits.
pub fn decoded(field: &str, text: &str) -> Result<String, AddressError> {
    let bad = || {
        wrong(field, "not shown", "text in which % is followed by two hexadecimal digits, %25 for % itself")
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>().ok_or_else(bad)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (high, low) = digit(digits[0]).zip(digit(digits[1])).ok_or_else(bad)?;
        bytes.push(high << 4 | low);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Address {
        url.parse().unwrap()
    }

    fn refused(url: &str) -> String {
        url.parse::<Address>().unwrap_err().to_string()
    }

    #[test]
    fn a_password_may_hold_any_character_and_is_shown_nowhere() {
        let encoded = "postgres://a%40b:p%40ss%2Fw%23rd%2525%3F%3A%5Bx%5D@h:7/d%20b";
        let address = read(encoded);
        assert_eq!(address.config.get_user(), Some("a@b"));
        assert_eq!(address.config.get_password(), Some("p@ss/w#rd%25?:[x]".as_bytes()));
        assert_eq!(address.config.get_dbname(), Some("d b"));
        assert_eq!(read("postgres://u:p@s:s@h/d").config.get_password(), Some("p@s:s".as_bytes()));
        assert!(
            !format!("{address:?}").contains("ss/w") && !format!("{:?}", address.config).contains("ss/w")
        );
        let text = refused("postgres://u:s3cret%zz@h/d");
        assert!(text.starts_with("password is") && !text.contains("s3cret"), "{text}");
        assert_eq!(read("postgres://u:@h/d").config.get_password(), Some(&b""[..]));
    }

    #[test]
    fn hosts_are_names_addresses_and_sockets() {
        assert_eq!(read("postgres:///d").config.get_hosts(), [Host::Unix(SOCKETS.into())]);
        assert_eq!(read("postgres:///d?host=/tmp").config.get_hosts(), [Host::Unix("/tmp".into())]);
        assert_eq!(read("postgres://u@%2Ftmp/d").config.get_hosts(), [Host::Unix("/tmp".into())]);
        let six = read("postgresql://u@[::1]:7/d");
        assert_eq!(
            (six.config.get_hosts(), six.config.get_ports()),
            (&[Host::Tcp("::1".into())][..], &[7][..])
        );
        assert_eq!(read("postgres:///d?sslmode=require").secured, Secured::Disable);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        assert!(refused("mysql://h").contains("postgres://"));
        assert!(refused("postgres://h/d?sslmode=sure").contains("sslmode is \"sure\"; allowed is disable"));
        assert!(refused("postgres://h/d?schema=pg_x").contains("schema is \"pg_x\""));
        assert!(refused("postgres://h/d?schema=a%27b").contains("without quotes"));
        assert!(refused("postgres://h/d?statements=x").contains("named, unnamed or detect"));
        assert!(refused("postgres://h/d?connections=0").contains("1 to 1000"));
        assert!(refused("postgres://h/d?call_timeout_ms=9").contains("100 to 600000"));
        assert!(refused("postgres://h/d?sslcert=x").contains("sslcert and sslkey together"));
        assert!(matches!("postgres://h/d?sschema=x".parse::<Address>(), Err(AddressError::Rest(_))));
    }

    #[test]
    fn a_root_that_was_named_is_asked() {
        assert_eq!(read("postgres://h/d").secured, Secured::Prefer);
        assert_eq!(read("postgres://h/d?sslmode=require").secured, Secured::Require);
        assert_eq!(read("postgres://h/d?sslmode=require&sslrootcert=/x").secured, Secured::VerifyCa);
        assert_eq!(read("postgres://h/d?sslmode=verify-full").secured, Secured::VerifyFull);
    }
}
