//! Whether the rooms named together are one installation's.
//!
//! Promises: a process that would publish where nobody reads, or take places in a pool that is not its own, is told so
//! before it does anything. The durable room is the truth: it remembers its installation's id and where it publishes; the
//! target has a marker, the pool a claim. Does not see a bucket that was copied together with its marker.

use std::time::Duration;

use durable::{DurableRoom, PoolRow};
use protocol::{Fault, Finding, NoEvents, TargetId, told};
use runtime::{Caller, Runtime};
use target::{Target, TargetFault};
use thiserror::Error;

use crate::rooms::{Opened, RoomUrls, RoomsError};

/// What helps against the wrong target.
pub(crate) const OTHER_TARGET: &str = "name the target that the others name, and for a new installation a bucket, a prefix \
                                       or a folder of its own; whoever moves a target copies everything in it, its marker \
                                       `remora-target` too; where it is lost for good, a new one takes its place with that id \
                                       in its marker";
/// What helps against the wrong pool.
pub(crate) const OTHER_INSTALLATION: &str = "name a pool of its own with ?pool=NAME; if that installation is gone for good, \
                                             `remora dev lose-coordination` gives its pool up";

/// How long whoever only asks waits for the target's word.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks only. What is silent is passed over: whoever adopts an epoch compares the pool again.
pub(crate) async fn compare(urls: &RoomUrls, opened: &Opened) -> Result<(), RoomsError> {
    let row = row(opened).await?;
    let target = tokio::time::timeout(PATIENCE, opened.rooms.target.identity(None));
    let (pool, marker) = tokio::join!(compare_pool(urls, opened, &row), target);
    pool?;
    match marker {
        // Nobody has published yet: whoever does first makes the marker.
        Ok(Ok(None)) if row.target.is_none() => Ok(()),
        Ok(Ok(marker)) => same_target(urls, marker, own_target(&row)),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

/// The target that the installation publishes to: the one that was adopted, or a new one with the installation's own id.
/// Two installations in one target would sweep each other's results away as those of jobs that nobody knows.
fn own_target(row: &PoolRow) -> TargetId {
    row.target.unwrap_or(TargetId(row.installation.0))
}

/// Looks, and makes the marker where nobody has published yet.
pub(crate) async fn adopt(urls: &RoomUrls, opened: &Opened) -> Result<(), RoomsError> {
    compare_pool(urls, opened, &row(opened).await?).await?;
    let adopted = adopt_target(opened.rooms.durable.as_ref(), opened.rooms.target.as_ref()).await;
    adopted.map_err(|error| match error {
        TargetError::Durable(fault) => of_durable(fault),
        TargetError::Target(fault) => fault.into(),
        TargetError::Other { marker, publishes } => {
            RoomsError::OtherTarget { target: urls.shown_target(), marker, publishes }
        }
    })
}

/// Why a target cannot be written to.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The durable room.
    #[error(transparent)]
    Durable(#[from] Fault),
    /// The target.
    #[error("cannot ask the target which one it is")]
    Target(#[from] TargetFault),
    /// It is another installation's, or not the one that was published to so far.
    #[error("another target than this installation's ({}, its own is {publishes})", marked(*marker))]
    Other {
        /// What its marker says, where it has one.
        marker: Option<TargetId>,
        /// The installation's own.
        publishes: TargetId,
    },
}

pub(crate) fn marked(marker: Option<TargetId>) -> String {
    marker.map_or_else(|| "it has no marker".to_owned(), |marker| format!("its marker is {marker}"))
}

/// Makes this target the one that the durable room remembers, where it remembers none, and refuses another.
///
/// # Errors
/// Another target, or a room that gives no answer.
pub async fn adopt_target(durable: &dyn DurableRoom, target: &dyn Target) -> Result<(), TargetError> {
    let row = durable.pool().await?;
    let publishes = own_target(&row);
    // Of several processes that begin at once each offers the same.
    let marker = target.identity(row.target.is_none().then_some(publishes)).await?;
    if marker != Some(publishes) {
        return Err(TargetError::Other { marker, publishes });
    }
    if row.target.is_none() {
        let origin = Caller::new(Runtime::system().new_actor_id()).send().origin;
        durable.adopt_target(&origin, publishes).await?;
    }
    Ok(())
}

/// What the two are, for people: the pool, then the target. Nothing where the rooms cannot be opened, which others say.
pub(crate) async fn findings(urls: &RoomUrls) -> (Option<Finding>, Option<Finding>) {
    let Ok(opened) = urls.opened(&NoEvents::shared()).await else { return (None, None) };
    let Ok(row) = row(&opened).await else { return (None, None) };
    let refused = |name, error: &RoomsError| {
        Finding::bad(name, format!("{}; {}", told(error), error.hint().unwrap_or_default()))
    };
    let pool = match compare_pool(urls, &opened, &row).await {
        Ok(()) => Finding::ok("installation", format!("{}, {}", row.installation, opened.pool)),
        Err(error) => refused("installation", &error),
    };
    let marker = match (tokio::time::timeout(PATIENCE, opened.rooms.target.identity(None)).await, row.target)
    {
        (Err(_), _) => return (Some(pool), None),
        (Ok(Err(fault)), _) => Finding::bad("marker", told(&fault)),
        (Ok(Ok(None)), None) => {
            Finding::ok("marker", "nobody has published yet: the first worker's target is the one")
        }
        (Ok(Ok(found)), _) => match same_target(urls, found, own_target(&row)) {
            Ok(()) => Finding::ok("marker", format!("{}, the target of this installation", own_target(&row))),
            Err(error) => refused("marker", &error),
        },
    };
    (Some(pool), Some(marker))
}

fn of_durable(fault: Fault) -> RoomsError {
    RoomsError::Durable(Box::new(fault))
}

async fn row(opened: &Opened) -> Result<PoolRow, RoomsError> {
    opened.rooms.durable.pool().await.map_err(of_durable)
}

async fn compare_pool(urls: &RoomUrls, opened: &Opened, row: &PoolRow) -> Result<(), RoomsError> {
    let there = opened.rooms.coordination.pool().await.ok().and_then(|state| state.installation);
    match there {
        Some(theirs) if theirs != row.installation => Err(RoomsError::OtherInstallation {
            coordination: urls.shown_coordination(),
            pool: opened.pool.clone(),
            theirs,
            durable: urls.shown_durable(),
            ours: row.installation,
        }),
        _ => Ok(()),
    }
}

fn same_target(urls: &RoomUrls, marker: Option<TargetId>, publishes: TargetId) -> Result<(), RoomsError> {
    if marker == Some(publishes) {
        return Ok(());
    }
    Err(RoomsError::OtherTarget { target: urls.shown_target(), marker, publishes })
}
