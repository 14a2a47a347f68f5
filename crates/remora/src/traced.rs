//! Traces of jobs, where this build knows them and the environment asks for them; otherwise nothing.
//!
//! Promises: without a collector's address everything passes through as it is. Settings that cannot be used are told once
//! and cost the traces, never work. docs/reference/traces.md lists what is told.

use std::sync::Arc;

use durable::DurableRoom;
use protocol::EventSink;
use worker::{Companion, Rooms};

/// Whose answers pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ear {
    /// Those of this process itself.
    Own,
    /// Those of workers that it serves and that tell of their attempts themselves.
    Served,
}

#[cfg(feature = "otel")]
mod told {
    use protocol::{AttemptId, JobId};
    use traces::Traces;
    use worker::Stop;

    use super::*;

    /// The traces of a process; told to the end when it is dropped.
    #[derive(Debug, Default)]
    pub struct Traced(Option<Traces>);

    impl Traced {
        /// Begins, where the environment asks for it. `service`: who tells, unless the environment says.
        #[must_use]
        pub fn begin(service: &'static str) -> Self {
            Self(Traces::begin(service).unwrap_or_else(|error| {
                tracing::warn!(error = %worker::describe(&error), "no traces are told");
                None
            }))
        }

        /// Events on their way to `to` are told of.
        #[must_use]
        pub fn telling(&self, to: Arc<dyn EventSink>) -> Arc<dyn EventSink> {
            match &self.0 {
                Some(traces) => traces.telling(to),
                None => to,
            }
        }

        /// The same rooms, whose answers are told of.
        #[must_use]
        pub fn over(&self, rooms: Rooms, ear: Ear) -> Rooms {
            Rooms { durable: self.over_durable(rooms.durable, ear), ..rooms }
        }

        /// The same for the durable room alone.
        #[must_use]
        pub fn over_durable(&self, room: Arc<dyn DurableRoom>, ear: Ear) -> Arc<dyn DurableRoom> {
            let Some(traces) = &self.0 else { return room };
            let ear = match ear {
                Ear::Own => traces::Ear::Own,
                Ear::Served => traces::Ear::Served,
            };
            traces.over(room, ear)
        }

        pub(crate) fn companion(&self) -> Option<Arc<dyn Companion>> {
            self.0.clone().map(|traces| Arc::new(Along(traces)) as Arc<dyn Companion>)
        }

        /// Asks for the number of spans that were dropped; `None` where none are told.
        #[must_use]
        pub fn dropped(&self) -> Option<impl Fn() -> u64 + Send + Sync + use<>> {
            let traces = self.0.clone()?;
            Some(move || traces.dropped())
        }
    }

    impl Drop for Traced {
        fn drop(&mut self) {
            if let Some(traces) = &self.0 {
                traces.finish();
            }
        }
    }

    /// Goes along with a worker's attempts.
    #[derive(Debug)]
    struct Along(Traces);

    impl Companion for Along {
        fn stopped(&self, attempt: AttemptId, stop: Stop) {
            let why = match stop {
                Stop::None => return,
                Stop::Drain => "drain",
                Stop::TimedOut => "timed_out",
                Stop::Cancel => "cancel",
                Stop::LeaseLost => "lease_lost",
            };
            self.0.stopped(attempt, why);
        }

        fn left(&self, attempt: AttemptId) {
            self.0.left(attempt);
        }

        fn variables(&self, job: JobId, attempt: AttemptId) -> Vec<(String, String)> {
            vec![("TRACEPARENT".to_owned(), self.0.traceparent(job, attempt))]
        }
    }
}

#[cfg(not(feature = "otel"))]
mod told {
    use super::*;

    /// This build tells no traces.
    #[derive(Debug, Default)]
    pub struct Traced;

    impl Traced {
        /// Nothing begins; where the environment asks for it, that is said.
        #[must_use]
        pub fn begin(_: &'static str) -> Self {
            if std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").is_ok_and(|endpoint| !endpoint.is_empty()) {
                tracing::warn!(
                    "OTEL_EXPORTER_OTLP_ENDPOINT is set, but this build was made without the feature `otel`"
                );
            }
            Self
        }

        /// As it is.
        #[must_use]
        pub fn telling(&self, to: Arc<dyn EventSink>) -> Arc<dyn EventSink> {
            to
        }

        /// As they are.
        #[must_use]
        pub fn over(&self, rooms: Rooms, _: Ear) -> Rooms {
            rooms
        }

        /// As it is.
        #[must_use]
        pub fn over_durable(&self, room: Arc<dyn DurableRoom>, _: Ear) -> Arc<dyn DurableRoom> {
            room
        }

        pub(crate) fn companion(&self) -> Option<Arc<dyn Companion>> {
            None
        }

        /// None are told.
        #[must_use]
        pub fn dropped(&self) -> Option<impl Fn() -> u64 + Send + Sync + use<>> {
            None::<fn() -> u64>
        }
    }
}

pub use told::Traced;
