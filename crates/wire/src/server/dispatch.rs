//! From a request's bytes to the room's method of that name, and back.

use protocol::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Rooms;
use crate::fault::SentFault;
use crate::frame::{self, Head, Purpose};
use crate::methods::{
    Argument, coordination_actions, coordination_reads, durable_access, durable_actions, durable_listing,
    durable_reads,
};

/// A request that could be told apart from nonsense.
struct Call<'a> {
    number: u64,
    method: &'a str,
    arguments: &'a [u8],
}

impl Call<'_> {
    fn arguments<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        postcard::from_bytes(self.arguments)
            .map_err(|error| Fault::corrupt(format!("read the arguments of {}", self.method), error))
    }

    fn reply<T: Serialize>(&self, answer: Result<T, Fault>) -> Option<Vec<u8>> {
        let frame = match &answer {
            Ok(value) => frame::reply(Head::Value { call: self.number }, value),
            Err(fault) => return self.fault(fault),
        };
        frame.map_or_else(
            |error| self.fault(&Fault::corrupt(format!("send the answer to {}", self.method), error)),
            Some,
        )
    }

    fn fault(&self, fault: &Fault) -> Option<Vec<u8>> {
        frame::reply(Head::Fault { call: self.number }, &SentFault::from(fault)).ok()
    }
}

/// Answers one request. `None` only when not even a fault can be sent.
pub(super) async fn answer(purpose: Purpose, rooms: &Rooms, frame: &[u8]) -> Option<Vec<u8>> {
    let (number, method, arguments) = frame::read_request(frame).ok()?;
    let call = Call { number, method, arguments };
    match purpose {
        Purpose::Durable => durable_room::answer(rooms.durable.as_ref(), &call).await,
        Purpose::Coordination => coordination_room::answer(rooms.coordination.as_ref(), &call).await,
        Purpose::Control => match call.arguments::<(String,)>() {
            Ok((request,)) => call.reply(Ok(rooms.control.handle(request).await)),
            Err(fault) => call.fault(&fault),
        },
    }
}

fn unknown(call: &Call<'_>) -> Option<Vec<u8>> {
    call.fault(&Fault::corrupt(format!("find a method `{}`", call.method), "the port has none of that name"))
}

macro_rules! dispatch {
    ([$function:ident $room:ident] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        /// The reply, or `Err` when the method is another port's.
        async fn $function(room: &dyn $room, call: &Call<'_>) -> Result<Option<Vec<u8>>, ()> {
            match call.method {
                $(stringify!($method) => {
                    match call.arguments::<($(<$type as Argument<'_>>::Owned,)*)>() {
                        Ok(owned) => {
                            let ($($argument,)*) = &owned;
                            let answer: Result<$value, Fault> =
                                room.$method($(<$type as Argument<'_>>::lend($argument)),*).await;
                            Ok(call.reply(answer))
                        }
                        Err(fault) => Ok(call.fault(&fault)),
                    }
                })*
                _ => Err(()),
            }
        }
    };
}

mod durable_room {
    use durable::*;
    use protocol::{AttemptId, JobId, Origin, Stamped, Timestamp, Window};

    use super::*;

    pub(super) async fn answer(room: &dyn DurableRoom, call: &Call<'_>) -> Option<Vec<u8>> {
        if let Ok(reply) = action(room, call).await {
            return reply;
        }
        if let Ok(reply) = read(room, call).await {
            return reply;
        }
        if let Ok(reply) = listing(room, call).await {
            return reply;
        }
        access(room, call).await.unwrap_or_else(|()| unknown(call))
    }

    durable_actions!(dispatch[action DurableRoom]);
    durable_reads!(dispatch[read DurableRoom]);
    durable_listing!(dispatch[listing DurableRoom]);
    durable_access!(dispatch[access DurableRoom]);
}

mod coordination_room {
    use coordination::*;
    use protocol::{AttemptId, Incarnation, JobId, Stamped};

    use super::*;

    pub(super) async fn answer(room: &dyn CoordinationRoom, call: &Call<'_>) -> Option<Vec<u8>> {
        if let Ok(reply) = action(room, call).await {
            return reply;
        }
        read(room, call).await.unwrap_or_else(|()| unknown(call))
    }

    coordination_actions!(dispatch[action CoordinationRoom]);
    coordination_reads!(dispatch[read CoordinationRoom]);
}
