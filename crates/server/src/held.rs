//! Rooms and what is counted of them, as one thing to be served.

use std::ops::Deref;
use std::sync::Arc;

use agents::AgentRooms;
use metrics::Metrics;
use protocol::EventSink;
use remora::Watches;
use runtime::Clock;

/// The three rooms, and the numbers of the process that holds or reaches them.
pub struct HeldRooms {
    rooms: AgentRooms,
    metrics: Arc<Metrics>,
}

impl HeldRooms {
    pub(crate) fn new(rooms: AgentRooms, metrics: Arc<Metrics>) -> Self {
        Self { rooms, metrics }
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }
}

impl Deref for HeldRooms {
    type Target = AgentRooms;

    fn deref(&self) -> &AgentRooms {
        &self.rooms
    }
}

/// Events on their way to `sink` are counted, and requests to rooms over the watches measured.
pub(crate) fn metered(
    metrics: &Arc<Metrics>,
    sink: Arc<dyn EventSink>,
    clock: Arc<dyn Clock>,
) -> (Arc<dyn EventSink>, Watches) {
    (metrics.counting(sink), Watches::new(clock).timed(metrics.timer()))
}
