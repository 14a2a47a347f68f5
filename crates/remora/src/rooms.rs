//! The three rooms of an installation, each by its URL.
//!
//! Promises: what is wrong in a URL is named, and no password is shown, neither in errors nor by `Debug`. Does not hold the
//! rooms of a data folder: those belong to its owner, and are reached through it.

use std::fmt;
use std::sync::Arc;

use protocol::{EventSink, Finding, InstallationId, TargetId, told};
use thiserror::Error;
use worker::Rooms;

use crate::belonging;

/// Where the rooms of an installation are.
#[derive(Clone, PartialEq, Eq)]
pub struct RoomUrls {
    /// Truth: `postgres://…`.
    pub durable: String,
    /// Coordination: `redis://…`, `rediss://…`, with or without Sentinels; or `postgres://…`, for teams that want no second
    /// store.
    pub coordination: String,
    /// Results: `file:/…`, which every machine must have, or `s3://…`.
    pub target: String,
}

/// Why a room could not be opened.
#[derive(Debug, Error)]
pub enum RoomsError {
    /// One of several is missing.
    #[error(
        "{missing} is missing; the rooms of an installation are named together, by --durable, --coordination and --target"
    )]
    Missing {
        /// The option.
        missing: &'static str,
    },
    /// A scheme that is not one of this room's.
    #[error("{room} begins with `{scheme}:`; it must be one of {allowed}")]
    Scheme {
        /// The option.
        room: &'static str,
        /// What it begins with.
        scheme: String,
        /// What it may begin with.
        allowed: &'static str,
    },
    /// A room of the embedded default, which only an owner has.
    #[error("{room} {scheme}: is held by the owner of a data folder; use `remora dev` with --dir")]
    Embedded {
        /// The option.
        room: &'static str,
        /// What it begins with.
        scheme: String,
    },
    /// This build has no such rooms.
    #[error("this build knows no {0} rooms; it was made without the feature `fleet`")]
    NotBuilt(&'static str),
    /// The durable room.
    #[error("cannot open the durable store")]
    Durable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The coordination room.
    #[error("cannot open the coordination store")]
    Coordination(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The target.
    #[error("cannot open the target")]
    Target(#[from] target::OpenError),
    /// The target, when it was asked which one it is.
    #[error("cannot ask the target which one it is")]
    TargetAway(#[from] target::TargetFault),
    /// Another target than the one that the others read.
    #[error(
        "--target {target} is not the target of this installation ({}, the installation publishes to {publishes})",
        belonging::marked(*marker)
    )]
    OtherTarget {
        /// Where.
        target: String,
        /// What its marker says, where it has one.
        marker: Option<TargetId>,
        /// The one that the durable room remembers.
        publishes: TargetId,
    },
    /// A pool that another installation claimed.
    #[error(
        "--coordination {coordination}, {pool}, belongs to another installation (it is that of {theirs}, --durable {durable} \
         is {ours})"
    )]
    OtherInstallation {
        /// Where.
        coordination: String,
        /// Which pool there.
        pool: String,
        /// Whose it is.
        theirs: InstallationId,
        /// The durable room.
        durable: String,
        /// Its installation.
        ours: InstallationId,
    },
}

/// The variables that name the rooms.
pub const ROOM_VARIABLES: [&str; 3] = ["REMORA_DURABLE", "REMORA_COORDINATION", "REMORA_TARGET"];

impl RoomUrls {
    /// The variables that name these rooms to a process.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, &str); 3] {
        let [durable, coordination, target] = ROOM_VARIABLES;
        [(durable, &self.durable), (coordination, &self.coordination), (target, &self.target)]
    }

    /// What the variables name.
    ///
    /// # Errors
    /// When one of several is missing.
    pub fn from_variables() -> Result<Option<Self>, RoomsError> {
        let [durable, coordination, target] = ROOM_VARIABLES.map(|name| std::env::var(name).ok());
        Self::of(durable, coordination, target)
    }

    /// The three, where at least one is named.
    ///
    /// # Errors
    /// When one is missing.
    pub fn of(
        durable: Option<String>,
        coordination: Option<String>,
        target: Option<String>,
    ) -> Result<Option<Self>, RoomsError> {
        if [&durable, &coordination, &target].iter().all(|url| url.is_none()) {
            return Ok(None);
        }
        let missing = |missing| RoomsError::Missing { missing };
        Ok(Some(Self {
            durable: durable.ok_or(missing("--durable"))?,
            coordination: coordination.ok_or(missing("--coordination"))?,
            target: target.ok_or(missing("--target"))?,
        }))
    }

    /// Examines all three: what is looked at in each, and how it is. A room that cannot be opened is one finding.
    pub async fn doctor(&self) -> Vec<(&'static str, Vec<Finding>)> {
        let mut coordination = real::coordination_doctor(&self.coordination).await.unwrap_or_else(closed);
        let mut target = real::target_doctor(&self.target).await.unwrap_or_else(closed);
        let (pool, marker) = belonging::findings(self).await;
        coordination.extend(pool);
        target.extend(marker);
        let durable = real::durable_doctor(&self.durable).await.unwrap_or_else(closed);
        vec![("durable", durable), ("coordination", coordination), ("target", target)]
    }

    /// Opens all three, for whoever asks and reads. The events of what this process asks the stores go to the sink. A pool
    /// or a target of another installation is refused; one that is silent is passed over, for it may not be needed.
    ///
    /// # Errors
    /// When a URL is wrong or leads to what is not this installation's, or the durable store is not there or not of this
    /// version.
    pub async fn open(&self, sink: &Arc<dyn EventSink>) -> Result<Rooms, RoomsError> {
        let opened = self.opened(sink).await?;
        belonging::compare(self, &opened).await?;
        Ok(opened.rooms)
    }

    /// The same, for whoever writes to the target: the first one's is from then on the installation's.
    ///
    /// # Errors
    /// The same, and when the target gives no answer.
    pub async fn open_to_publish(&self, sink: &Arc<dyn EventSink>) -> Result<Rooms, RoomsError> {
        let opened = self.opened(sink).await?;
        belonging::adopt(self, &opened).await?;
        Ok(opened.rooms)
    }

    pub(crate) async fn opened(&self, sink: &Arc<dyn EventSink>) -> Result<Opened, RoomsError> {
        let target = target::open(&self.target)?;
        let durable = real::durable(&self.durable, sink).await?;
        let (coordination, pool) = real::coordination(&self.coordination, sink).await?;
        Ok(Opened { rooms: Rooms { durable, coordination, target }, pool })
    }

    /// The durable room's URL, without secrets.
    pub(crate) fn shown_durable(&self) -> String {
        shown(&self.durable)
    }

    /// The coordination room's.
    pub(crate) fn shown_coordination(&self) -> String {
        shown(&self.coordination)
    }

    /// The target's.
    pub(crate) fn shown_target(&self) -> String {
        shown(&self.target)
    }
}

/// Rooms that nobody has looked at yet.
pub(crate) struct Opened {
    pub(crate) rooms: Rooms,
    /// Which pool of coordination it is, for people.
    pub(crate) pool: String,
}

/// The finding that a room cannot be opened, with its causes in one line.
fn closed(error: RoomsError) -> Vec<Finding> {
    vec![Finding::bad("open", told(&error))]
}

impl RoomUrls {
    /// `LoseCoordinationState`, on purpose: what the pool holds is deleted, and nothing else of its server.
    ///
    /// # Errors
    /// When the URL is wrong or the server gives no answer.
    pub async fn lose_coordination(&self) -> Result<(), RoomsError> {
        real::lose_coordination(&self.coordination).await
    }
}

/// A URL without what stands before its host and behind its path.
fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    if scheme == "file" {
        return url.to_owned();
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest.trim_start_matches('/'), |(_, rest)| rest);
    format!("{scheme}://{rest}")
}

/// Without users, passwords and options.
impl fmt::Display for RoomUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} and {}", shown(&self.durable), shown(&self.coordination), shown(&self.target))
    }
}

impl RoomsError {
    /// Whether the URLs are wrong, rather than a store away.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Missing { .. } | Self::Scheme { .. } | Self::Embedded { .. } => true,
            Self::NotBuilt(_) | Self::Target(_) => true,
            Self::OtherTarget { .. } | Self::OtherInstallation { .. } => true,
            Self::TargetAway(_) => false,
            Self::Durable(source) | Self::Coordination(source) => real::is_usage(source.as_ref()),
        }
    }

    /// What can be done about it, where that is not plain.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OtherTarget { .. } => Some(belonging::OTHER_TARGET),
            Self::OtherInstallation { .. } => Some(belonging::OTHER_INSTALLATION),
            _ => None,
        }
    }
}

impl fmt::Debug for RoomUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomUrls")
            .field("durable", &shown(&self.durable))
            .field("coordination", &shown(&self.coordination))
            .field("target", &shown(&self.target))
            .finish()
    }
}

/// The scheme of a URL, for a room that has these and, in a data folder, another one.
fn scheme<'a>(
    room: &'static str,
    url: &'a str,
    embedded: &str,
    allowed: &'static str,
) -> Result<&'a str, RoomsError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme == embedded {
        return Err(RoomsError::Embedded { room, scheme: scheme.to_owned() });
    }
    if allowed.split(", ").any(|one| one.strip_suffix(':') == Some(scheme)) {
        return Ok(scheme);
    }
    Err(RoomsError::Scheme { room, scheme: scheme.to_owned(), allowed })
}

#[cfg(feature = "fleet")]
mod real {
    use std::sync::Arc;

    use coordination::CoordinationRoom;
    use coordination::dragonfly::{self, DragonflyRoom};
    use durable::DurableRoom;
    use durable::postgres::{self, PostgresRoom};
    use protocol::{AttemptId, EventSink, Finding, JobId, NoEvents, Token};
    use target::StageId;

    use super::{RoomsError, scheme};
    use crate::folder::writable;

    pub(super) async fn durable(
        url: &str,
        sink: &Arc<dyn EventSink>,
    ) -> Result<Arc<dyn DurableRoom>, RoomsError> {
        scheme("--durable", url, "sqlite", "postgres:, postgresql:")?;
        let options = postgres::Options { sink: Arc::clone(sink), ..postgres::Options::default() };
        let room = PostgresRoom::open(url, options).await;
        Ok(Arc::new(room.map_err(|error| RoomsError::Durable(Box::new(error)))?))
    }

    pub(super) async fn coordination(
        url: &str,
        sink: &Arc<dyn EventSink>,
    ) -> Result<(Arc<dyn CoordinationRoom>, String), RoomsError> {
        Ok(match Coordination::open(url, sink).await? {
            Coordination::Dragonfly(room) => {
                let pool = room.place();
                (room, pool)
            }
            Coordination::Postgres(room) => {
                let pool = room.place();
                (room, pool)
            }
        })
    }

    /// The coordination room of a URL's scheme.
    enum Coordination {
        Dragonfly(Arc<DragonflyRoom>),
        Postgres(Arc<coordination::postgres::PostgresRoom>),
    }

    impl Coordination {
        async fn open(url: &str, sink: &Arc<dyn EventSink>) -> Result<Self, RoomsError> {
            const ALLOWED: &str =
                "redis:, rediss:, redis+unix:, redis+sentinel:, rediss+sentinel:, postgres:, postgresql:";
            let events = Arc::clone(sink);
            if scheme("--coordination", url, "memory", ALLOWED)?.starts_with("postgres") {
                let options = coordination::postgres::Options { events, ..Default::default() };
                let room = coordination::postgres::PostgresRoom::open(url, options).await;
                return room
                    .map(|room| Self::Postgres(Arc::new(room)))
                    .map_err(|error| RoomsError::Coordination(Box::new(error)));
            }
            let options = dragonfly::Options { events, ..dragonfly::Options::default() };
            let room = DragonflyRoom::open(url, options).await;
            room.map(|room| Self::Dragonfly(Arc::new(room)))
                .map_err(|error| RoomsError::Coordination(Box::new(error)))
        }
    }

    pub(super) async fn lose_coordination(url: &str) -> Result<(), RoomsError> {
        let lost = match Coordination::open(url, &NoEvents::shared()).await? {
            Coordination::Dragonfly(room) => room.lose().await,
            Coordination::Postgres(room) => room.lose().await,
        };
        lost.map_err(|fault| RoomsError::Coordination(Box::new(fault)))
    }

    pub(super) fn is_usage(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
        use postgres::OpenError;
        let durable = error.downcast_ref::<OpenError>();
        durable.is_some_and(|error| matches!(error, OpenError::Address(_) | OpenError::BadOption { .. }))
            || error.is::<dragonfly::link::BadAddress>()
            || error
                .downcast_ref::<coordination::postgres::OpenError>()
                .is_some_and(|error| matches!(error, coordination::postgres::OpenError::Address(_)))
    }

    pub(super) async fn durable_doctor(url: &str) -> Result<Vec<Finding>, RoomsError> {
        scheme("--durable", url, "sqlite", "postgres:, postgresql:")?;
        let room = PostgresRoom::open(url, postgres::Options::default()).await;
        let room = room.map_err(|error| RoomsError::Durable(Box::new(error)))?;
        postgres::doctor(&room).await.map_err(|fault| RoomsError::Durable(Box::new(fault)))
    }

    pub(super) async fn coordination_doctor(url: &str) -> Result<Vec<Finding>, RoomsError> {
        Ok(match Coordination::open(url, &NoEvents::shared()).await? {
            Coordination::Dragonfly(room) => dragonfly::doctor(&room).await,
            Coordination::Postgres(room) => coordination::postgres::doctor(&room).await,
        })
    }

    pub(super) async fn target_doctor(url: &str) -> Result<Vec<Finding>, RoomsError> {
        if url.starts_with("s3:") {
            let target = target::s3::S3Options::parse(url).and_then(target::s3::S3Target::open)?;
            return Ok(target::s3::doctor(&target).await);
        }
        let target = target::open(url)?;
        let stage = StageId { job: JobId(0), token: Token(0), attempt: AttemptId(0) };
        let folder = target.local_result(&stage);
        let folder = folder.as_deref().and_then(|path| path.ancestors().nth(3));
        Ok(folder.map_or_else(Vec::new, |folder| vec![writable(folder)]))
    }
}

#[cfg(not(feature = "fleet"))]
mod real {
    use std::sync::Arc;

    use coordination::CoordinationRoom;
    use durable::DurableRoom;
    use protocol::{EventSink, Finding};

    use super::{RoomsError, scheme};

    pub(super) async fn durable(
        url: &str,
        _: &Arc<dyn EventSink>,
    ) -> Result<Arc<dyn DurableRoom>, RoomsError> {
        scheme("--durable", url, "sqlite", "postgres:, postgresql:")?;
        Err(RoomsError::NotBuilt("durable"))
    }

    pub(super) async fn coordination(
        url: &str,
        _: &Arc<dyn EventSink>,
    ) -> Result<(Arc<dyn CoordinationRoom>, String), RoomsError> {
        scheme("--coordination", url, "memory", "redis:, rediss:, postgres:, postgresql:")?;
        Err(RoomsError::NotBuilt("coordination"))
    }

    pub(super) fn is_usage(_: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
        false
    }

    pub(super) async fn durable_doctor(_: &str) -> Result<Vec<Finding>, RoomsError> {
        Err(RoomsError::NotBuilt("durable"))
    }

    pub(super) async fn lose_coordination(_: &str) -> Result<(), RoomsError> {
        Err(RoomsError::NotBuilt("coordination"))
    }

    pub(super) async fn coordination_doctor(_: &str) -> Result<Vec<Finding>, RoomsError> {
        Err(RoomsError::NotBuilt("coordination"))
    }

    pub(super) async fn target_doctor(_: &str) -> Result<Vec<Finding>, RoomsError> {
        Err(RoomsError::NotBuilt("target"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn rooms_are_named_together_or_not_at_all() {
        assert_eq!(RoomUrls::of(None, None, None).unwrap(), None);
        let missing = RoomUrls::of(url("postgres://h/d"), None, url("file:/t")).unwrap_err();
        assert!(missing.to_string().starts_with("--coordination is missing"), "{missing}");
        let all = RoomUrls::of(url("postgres://h/d"), url("redis://h"), url("file:/t")).unwrap().unwrap();
        assert_eq!(all.coordination, "redis://h");
    }

    #[test]
    fn debug_shows_neither_passwords_nor_options() {
        let urls = RoomUrls {
            durable: "postgres://u:p%40ss@db:5432/remora?password=other".to_owned(),
            coordination: "rediss://:p@ss@cache/0".to_owned(),
            target: "s3://bucket/prefix?secret_key=x".to_owned(),
        };
        let shown = format!("{urls:?}");
        for secret in ["ss@", "p%40", "other", "secret"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("postgres://db:5432/remora") && shown.contains("rediss://cache/0"), "{shown}");
    }

    #[test]
    fn a_scheme_of_the_embedded_default_or_of_nobody_is_refused_by_name() {
        let embedded = scheme("--durable", "sqlite:x.db", "sqlite", "postgres:, postgresql:").unwrap_err();
        assert!(embedded.to_string().contains("use `remora dev`"), "{embedded}");
        let other = scheme("--durable", "mysql://h", "sqlite", "postgres:, postgresql:").unwrap_err();
        assert_eq!(
            other.to_string(),
            "--durable begins with `mysql:`; it must be one of postgres:, postgresql:"
        );
        assert_eq!(
            scheme("--durable", "postgresql://h", "sqlite", "postgres:, postgresql:").unwrap(),
            "postgresql"
        );
    }
}
