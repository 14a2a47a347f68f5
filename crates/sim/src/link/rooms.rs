//! The first two rooms, as a process reaches them.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use coordination::CoordinationRoom;
use durable::DurableRoom;
use protocol::{Fault, Origin};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Path;
use crate::core::{Core, Domain};

/// The durable room over a link.
pub(crate) struct DurableLink {
    pub(crate) path: Path,
    pub(crate) room: Arc<dyn DurableRoom>,
}

/// The coordination room over a link.
pub(crate) struct CoordinationLink {
    pub(crate) path: Path,
    pub(crate) room: Arc<dyn CoordinationRoom>,
    pub(crate) wakes: broadcast::Sender<coordination::Wake>,
}

/// Wake-ups kept for a process that is behind.
const WAKES_KEPT: usize = 64;

/// Carries wake-ups to a process, as far as they get through. They pile up while it is frozen.
pub(crate) fn carry_wakes(
    core: &Arc<Core>,
    domain: Domain,
    path: Path,
    room: &Arc<dyn CoordinationRoom>,
) -> broadcast::Sender<coordination::Wake> {
    let (to, _) = broadcast::channel(WAKES_KEPT);
    let (sender, mut from) = (to.clone(), room.wakes());
    core.spawn(
        domain,
        Box::pin(async move {
            loop {
                match from.recv().await {
                    // Nobody listening is no fault.
                    Ok(wake) if !path.loses_wake() => drop(sender.send(wake)),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        }),
    );
    to
}

/// A port's argument: kept while it is under way, lent to the room.
trait Argument<'a>: Sized {
    type Owned: Clone + Send + Sync + 'static;

    fn keep(self) -> Self::Owned;

    fn lend(owned: &'a Self::Owned) -> Self;
}

impl<'a, T> Argument<'a> for &'a T
where
    T: ToOwned + ?Sized,
    T::Owned: Clone + Send + Sync + 'static,
{
    type Owned = T::Owned;

    fn keep(self) -> T::Owned {
        self.to_owned()
    }

    fn lend(owned: &'a T::Owned) -> Self {
        std::borrow::Borrow::borrow(owned)
    }
}

macro_rules! by_value {
    ($($argument:ty),*) => {$(
        impl<'a> Argument<'a> for $argument {
            type Owned = Self;

            fn keep(self) -> Self {
                self
            }

            fn lend(owned: &'a Self) -> Self {
                *owned
            }
        }
    )*};
}

by_value!(
    u64,
    usize,
    protocol::JobId,
    protocol::Incarnation,
    protocol::InstallationId,
    protocol::TargetId,
    protocol::Timestamp,
    Option<u64>,
    Option<protocol::JobId>,
    Option<protocol::AttemptId>
);

/// Who sent it, where that is said by this argument.
fn origin_of(owned: &dyn Any) -> Option<Origin> {
    let at = || owned.downcast_ref::<coordination::At>().map(|at| at.origin);
    owned.downcast_ref::<Origin>().copied().or_else(at)
}

macro_rules! adapter {
    ([$link:ident $($extra:item)?] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        #[async_trait]
        impl $port for $link {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                let room = Arc::clone(&self.room);
                $(let $argument = <$type as Argument<'_>>::keep($argument);)*
                let named: &[Option<Origin>] = &[$(origin_of(&$argument)),*];
                let origin = named.iter().copied().flatten().next();
                self.path.call(stringify!($method), origin, move || {
                    let room = Arc::clone(&room);
                    $(let $argument = $argument.clone();)*
                    async move { room.$method($(<$type as Argument<'_>>::lend(&$argument)),*).await }
                }).await
            })*

            $($extra)?
        }
    };
}

mod durable_room {
    use durable::*;
    use protocol::{AttemptId, JobId, Stamped, Window};

    use super::*;

    wire::durable_actions!(adapter[DurableLink]);
    wire::durable_reads!(adapter[DurableLink]);
    wire::durable_listing!(adapter[DurableLink]);
    wire::durable_access!(adapter[DurableLink]);
}

mod coordination_room {
    use coordination::*;
    use protocol::{AttemptId, Incarnation, JobId, Stamped};

    use super::*;

    wire::coordination_actions!(adapter[CoordinationLink
        fn wakes(&self) -> broadcast::Receiver<Wake> {
            self.wakes.subscribe()
        }
    ]);
    wire::coordination_reads!(adapter[CoordinationLink]);
}
