//! The URL of a server.
//!
//! Promises: what is wrong is named, and the password in it is not shown, neither in errors nor by `Debug`.
//! Forms: `redis://`, `rediss://` (TLS), `redis+unix://` (a path), `redis+sentinel://` and `rediss+sentinel://` (Sentinels
//! and a master's name).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Where a server is, how to speak to it, and which pool of it is meant.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) place: Place,
    pub(super) tls: Option<Tls>,
    pub(super) login: Login,
    pub(super) sentinel_login: Login,
    pub(super) time_limit: Option<Duration>,
    pub(super) eviction_allowed: bool,
    /// The installation's name, part of every key: `remora` unless the URL says otherwise.
    pub installation: String,
    /// The pool's name, part of every key: `default` unless the URL says otherwise.
    pub pool: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tcp(String, u16),
    Unix(PathBuf),
    Sentinel { hosts: Vec<(String, u16)>, master: String },
}

/// Who says that the server is the right one, and who we are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tls {
    /// Certificates to trust; those of the system otherwise.
    pub(super) ca: Option<PathBuf>,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

/// Why a text is no address. Never holds a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} of the coordination url {problem}")]
pub struct BadAddress {
    field: String,
    problem: String,
}

fn bad<T>(field: &str, problem: impl Into<String>) -> Result<T, BadAddress> {
    Err(BadAddress { field: field.to_owned(), problem: problem.into() })
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Without users and passwords.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.tls.is_some() { "s" } else { "" };
        match &self.place {
            Place::Tcp(host, port) => write!(f, "redis{s}://{}", Host(host, *port)),
            Place::Unix(path) => write!(f, "redis+unix://{}", path.display()),
            Place::Sentinel { hosts, master } => {
                let hosts: Vec<_> = hosts.iter().map(|(host, port)| Host(host, *port).to_string()).collect();
                write!(f, "redis{s}+sentinel://{}/{master}", hosts.join(","))
            }
        }
    }
}

pub(super) struct Host<'a>(pub(super) &'a str, pub(super) u16);

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(host, port) = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Address {
    /// Reads a URL.
    ///
    /// # Errors
    /// Names the part that is wrong.
    pub fn parse(url: &str) -> Result<Self, BadAddress> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return bad(
                "scheme",
                "is missing; redis://, rediss://, redis+unix:// or redis+sentinel:// is expected",
            );
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.contains('@') && query.contains('@') {
            return bad("user or password", "may have a ? in it; write ? as %3F, and @ in the query as %40");
        }
        let mut parameters = parameters(query)?;
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (read_login(login)?, rest),
            None => (Login::default(), rest),
        };
        let (place, secure) = match scheme {
            "redis" => (tcp(rest)?, false),
            "rediss" => (tcp(rest)?, true),
            "redis+unix" | "unix" => (unix(rest)?, false),
            "redis+sentinel" => (sentinel(rest)?, false),
            "rediss+sentinel" => (sentinel(rest)?, true),
            other => {
                return bad(
                    "scheme",
                    format!("is `{other}`; redis, rediss, redis+unix or redis+sentinel is expected"),
                );
            }
        };
        let mut take = |name: &str| parameters.remove(name);
        let paths = [take("ca"), take("cert"), take("key")].map(|path| path.map(PathBuf::from));
        let files = paths.iter().any(Option::is_some);
        let [ca, cert, key] = paths;
        if files && !secure {
            return bad("`ca`, `cert` or `key`", "makes sense with TLS only: rediss://");
        }
        if cert.is_some() != key.is_some() {
            return bad("`cert` or `key`", "is missing: they come together");
        }
        let address = Self {
            place,
            tls: secure.then_some(Tls { ca, cert, key }),
            login,
            sentinel_login: Login { user: take("sentinel_user"), password: take("sentinel_password") },
            time_limit: take("time_limit_ms").map(|text| time_limit(&text)).transpose()?,
            eviction_allowed: match take("eviction").as_deref() {
                None => false,
                Some("allow") => true,
                Some(_) => return bad("`eviction`", "can only be `allow`"),
            },
            installation: name("installation", take("installation"), "remora")?,
            pool: name("pool", take("pool"), "default")?,
        };
        match parameters.keys().next() {
            None => Ok(address),
            Some(unknown) => bad(
                &format!("`{unknown}`"),
                "is not known; installation, pool, ca, cert, key, time_limit_ms, eviction, sentinel_user and \
                 sentinel_password are",
            ),
        }
    }
}

fn name(field: &str, given: Option<String>, otherwise: &str) -> Result<String, BadAddress> {
    let name = given.unwrap_or_else(|| otherwise.to_owned());
    match protocol::job::check_name(field, &name) {
        Ok(()) => Ok(name),
        Err(violation) => bad(&format!("`{field}`"), format!("is wrong: {violation}")),
    }
}

fn time_limit(text: &str) -> Result<Duration, BadAddress> {
    match text.parse() {
        Ok(ms @ 10..=3_600_000) => Ok(Duration::from_millis(ms)),
        _ => bad("`time_limit_ms`", "is no number from 10 to 3600000"),
    }
}

fn parameters(query: &str) -> Result<BTreeMap<String, String>, BadAddress> {
    let mut all = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return bad("query", "has a part without a value");
        };
        all.insert(name.to_owned(), decoded(name, value)?);
    }
    Ok(all)
}

fn read_login(text: &str) -> Result<Login, BadAddress> {
    let (user, password) = text.split_once(':').map_or((text, None), |(user, word)| (user, Some(word)));
    let user = decoded("user", user)?;
    Ok(Login {
        user: (!user.is_empty()).then_some(user),
        password: password.map(|word| decoded("password", word)).transpose()?,
    })
}

/// Undoes percent-encoding. The text itself is not told: it may be a password.
fn decoded(field: &str, text: &str) -> Result<String, BadAddress> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.extend(u8::try_from(16 * high + low)),
            _ => return bad(field, "has a % that two hexadecimal digits do not follow; write % as %25"),
        }
    }
    String::from_utf8(bytes).or_else(|_| bad(field, "is not UTF-8 after its percent-encoding is undone"))
}

fn tcp(rest: &str) -> Result<Place, BadAddress> {
    let (host, db) = rest.split_once('/').unwrap_or((rest, ""));
    if !matches!(db, "" | "0") {
        return bad("database", "is not 0, the only one possible: other pools have other names");
    }
    host_and_port(host, 6379).map(|(host, port)| Place::Tcp(host, port))
}

fn unix(rest: &str) -> Result<Place, BadAddress> {
    let path = decoded("path", rest)?;
    if path.starts_with('/') { Ok(Place::Unix(path.into())) } else { bad("path", "is not absolute") }
}

fn sentinel(rest: &str) -> Result<Place, BadAddress> {
    let Some((hosts, master)) = rest.split_once('/').filter(|(_, master)| !master.is_empty()) else {
        return bad("master's name", "is missing: redis+sentinel://host1,host2/name");
    };
    let hosts = hosts.split(',').map(|host| host_and_port(host, 26379)).collect::<Result<_, _>>()?;
    Ok(Place::Sentinel { hosts, master: decoded("master's name", master)? })
}

fn host_and_port(text: &str, otherwise: u16) -> Result<(String, u16), BadAddress> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => text.rsplit_once(':').unwrap_or((text, "")),
    };
    if host.is_empty() {
        return bad("host", "is missing");
    }
    match (port, port.parse()) {
        ("", _) => Ok((host.to_owned(), otherwise)),
        (_, Ok(port)) => Ok((host.to_owned(), port)),
        // It may be a password without its host.
        _ => bad("port", "is no number up to 65535"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    fn refused(url: &str) -> String {
        Address::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn the_forms_of_the_url_are_understood() {
        let plain = read("redis://cache.example");
        assert_eq!(plain.place, Place::Tcp("cache.example".to_owned(), 6379));
        assert_eq!((plain.installation.as_str(), plain.pool.as_str()), ("remora", "default"));
        assert_eq!(read("redis://[::1]:7000/0?pool=b").place, Place::Tcp("::1".to_owned(), 7000));
        let tls = read("rediss://u@h:1/?ca=/etc/ca.pem&cert=c&key=k");
        assert_eq!(tls.tls.unwrap().ca, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(read("redis+unix:///run/r.sock").place, Place::Unix("/run/r.sock".into()));
        let sentinels = read("redis+sentinel://:p@a,b:7,c/main?sentinel_password=q%20r&time_limit_ms=900");
        assert_eq!(sentinels.sentinel_login.password.as_deref(), Some("q r"));
        assert_eq!(sentinels.time_limit, Some(Duration::from_millis(900)));
        assert_eq!(sentinels.to_string(), "redis+sentinel://a:26379,b:7,c:26379/main");
    }

    #[test]
    fn a_password_may_have_any_character_and_is_shown_nowhere() {
        let address = read("redis://jo%3A:p%40%3A%2F%3F%25ss%C3%A9@h?eviction=allow");
        assert_eq!(address.login.user.as_deref(), Some("jo:"));
        assert_eq!(address.login.password.as_deref(), Some("p@:/?%ssé"));
        assert_eq!(format!("{address:?} {address}"), "Address(redis://h:6379) redis://h:6379");
        let unescaped = read("redis://u:p@ss@h");
        assert_eq!(unescaped.login.password.as_deref(), Some("p@ss"));
        let wrong = [
            "redis://u:secret%zz@h",
            "redis://u:secret",
            "redis://u:a?secret@h",
            "redis://u:a?secret=b@h",
            "redis://h/secret",
        ];
        for url in wrong {
            assert!(!refused(url).contains("secret"), "{}", refused(url));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refused("localhost").contains("scheme"));
        assert!(refused("http://h").contains("`http`"));
        assert!(refused("redis://h/3").contains("is not 0"));
        assert!(refused("redis://h:99999").contains("port"));
        assert!(refused("redis://").contains("host"));
        assert!(refused("redis://h?pol=x").contains("`pol`"));
        assert!(refused("redis://h?pool=a{b").contains("`pool`"));
        assert!(refused("redis://h?ca=x").contains("rediss://"));
        assert!(refused("rediss://h?cert=x").contains("come together"));
        assert!(refused("redis+sentinel://a").contains("master's name"));
        assert!(refused("redis+unix://r.sock").contains("not absolute"));
        assert!(refused("redis://h?time_limit_ms=0").contains("time_limit_ms"));
        assert!(refused("redis://h?eviction=yes").contains("allow"));
        assert!(refused("redis://h?pool").contains("without a value"));
    }
}
