//! What was dropped rather than waited for: counted where it happens, and asked for here.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;

type Ask = Box<dyn Fn() -> u64 + Send + Sync>;

/// A count that somebody else keeps; 0 where nobody does.
#[derive(Default)]
pub(crate) struct Dropped(Mutex<Option<Ask>>);

impl Dropped {
    pub(crate) fn register(registry: &mut Registry, name: &'static str, help: &'static str) -> Arc<Self> {
        let dropped = Arc::<Self>::default();
        registry.register_collector(Box::new(Told { name, help, dropped: Arc::clone(&dropped) }));
        dropped
    }

    pub(crate) fn ask(&self, ask: impl Fn() -> u64 + Send + Sync + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(ask));
    }
}

struct Told {
    name: &'static str,
    help: &'static str,
    dropped: Arc<Dropped>,
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Collector for Told {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let asked = self.dropped.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.as_ref().map_or(0, |ask| ask());
        let encoder = encoder.encode_descriptor(self.name, self.help, None, MetricType::Counter)?;
        ConstCounter::new(count).encode(encoder)
    }
}
