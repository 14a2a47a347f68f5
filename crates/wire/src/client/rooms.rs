//! The clients as adapters of the ports: every method is one call of the same name.

use async_trait::async_trait;
use protocol::Fault;

use super::{CoordinationClient, DurableClient};
use crate::methods::{
    coordination_actions, coordination_reads, durable_access, durable_actions, durable_listing, durable_reads,
};

macro_rules! adapter {
    ([$client:ident $($extra:item)?] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        #[async_trait]
        impl $port for $client {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                self.link.call(stringify!($method), &($($argument,)*)).await
            })*

            $($extra)?
        }
    };
}

mod durable_room {
    use durable::*;
    use protocol::{AttemptId, JobId, Origin, Stamped, Window};

    use super::*;

    durable_actions!(adapter[DurableClient]);
    durable_reads!(adapter[DurableClient]);
    durable_listing!(adapter[DurableClient]);
    durable_access!(adapter[DurableClient]);
}

mod coordination_room {
    use coordination::*;
    use protocol::{AttemptId, Incarnation, JobId, Stamped};
    use tokio::sync::broadcast;

    use super::*;

    coordination_actions!(adapter[CoordinationClient
        fn wakes(&self) -> broadcast::Receiver<Wake> {
            self.subscribe()
        }
    ]);
    coordination_reads!(adapter[CoordinationClient]);
}
