//! Rooms and what is counted and told of them, as one thing to be served.

use std::ops::Deref;
use std::sync::Arc;

use agents::AgentRooms;
use metrics::Metrics;
use protocol::{EventSink, NoEvents};
use remora::{Ear, FileEvents, Traced, Watches};
use runtime::Clock;
use worker::Rooms;

/// Stages that are counted, at most: each one that is read brings what must be kept of it.
const OWED: usize = 100;

/// The three rooms, and the numbers and traces of the process that holds or reaches them.
pub struct HeldRooms {
    rooms: AgentRooms,
    metrics: Arc<Metrics>,
    /// Told to the end when this is dropped.
    _traced: Traced,
}

impl HeldRooms {
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

/// What hears of events and requests on their way.
pub(crate) struct Instruments {
    metrics: Arc<Metrics>,
    traced: Traced,
    /// Where rooms record their events.
    pub(crate) sink: Arc<dyn EventSink>,
    watches: Watches,
}

impl Instruments {
    /// `events`: the files that events go to. `scraped`: whether anybody can ask for numbers; where nobody can, counting
    /// costs nothing.
    pub(crate) fn begin(
        service: &'static str,
        events: Option<&Arc<FileEvents>>,
        scraped: bool,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let metrics = Metrics::new();
        let traced = Traced::begin(service);
        let files = events.map(|events| Arc::clone(events) as Arc<dyn EventSink>);
        let mut sink = files.unwrap_or_else(NoEvents::shared);
        let mut watches = Watches::new(clock);
        if scraped {
            sink = metrics.counting(sink);
            watches = watches.timed(metrics.timer());
            if let Some(events) = events.map(Arc::clone) {
                metrics.events_dropped(move || events.dropped());
            }
            if let Some(dropped) = traced.dropped() {
                metrics.spans_dropped(dropped);
            }
        }
        Self { metrics, sink: traced.telling(sink), traced, watches }
    }

    /// The same rooms, whose silences are told, and whose answers are timed where that is asked for.
    pub(crate) fn over(&self, rooms: Rooms) -> Rooms {
        self.watches.over(rooms)
    }

    /// The same rooms, for worker processes that tell of their attempts themselves.
    pub(crate) fn served(&self, rooms: &Rooms) -> Rooms {
        self.traced.over(rooms.clone(), Ear::Served)
    }

    /// The same rooms, for this process's own agents and API.
    pub(crate) fn hold(self, rooms: Rooms) -> HeldRooms {
        let Rooms { durable, coordination, target } = self.traced.over(rooms, Ear::Own);
        let rooms = AgentRooms { durable, coordination, target };
        let reads = Arc::clone(&rooms.durable);
        self.metrics.stages_owed(move || {
            let reads = Arc::clone(&reads);
            Box::pin(async move { reads.stages_to_sweep(OWED).await.ok().map(|stages| stages.len()) })
        });
        HeldRooms { rooms, metrics: self.metrics, _traced: self.traced }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::SystemClock;

    #[test]
    fn where_nobody_can_ask_for_numbers_and_no_events_are_kept_rooms_build_none() {
        let sink_is_on = |events: Option<&Arc<FileEvents>>, scraped| {
            Instruments::begin("remora", events, scraped, Arc::new(SystemClock)).sink.is_on()
        };
        assert!(!sink_is_on(None, false) && sink_is_on(None, true));
        let folder = tempfile::tempdir().expect("a folder for the test");
        let events = FileEvents::start(folder.path(), "owner").expect("events are recorded");
        assert!(sink_is_on(Some(&events), false));
        events.finish();
    }
}
