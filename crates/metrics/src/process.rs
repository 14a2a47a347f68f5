//! The process itself.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use crate::Of;

/// Reads the process's numbers when it is asked.
#[derive(Debug)]
struct Process;

/// A number of `/proc/self/status`, such as `VmRSS`.
fn status(name: &str) -> Option<i64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<i64> {
    i64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let numbers = [
            ("process_memory", "Memory in use", Some(Unit::Bytes), status("VmRSS").map(|kib| kib * 1_024)),
            ("process_threads", "Threads", None, status("Threads")),
            ("process_files", "Open files and sockets", None, open_files()),
        ];
        for (name, help, unit, number) in numbers {
            let Some(number) = number else { continue };
            let encoder = encoder.encode_descriptor(name, help, unit.as_ref(), MetricType::Gauge)?;
            ConstGauge::new(number).encode(encoder)?;
        }
        Ok(())
    }
}

pub(crate) fn register(registry: &mut Registry) {
    let build: Family<Of<1>, Gauge> = Family::default();
    build.get_or_create(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
    registry.register("build_info", "Always 1; the label tells the version", build);
    registry.register_collector(Box::new(Process));
}
