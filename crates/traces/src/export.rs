//! Spans on their way out of the process.
//!
//! Promises: handing over a span never waits; what the queue cannot take, or the collector does not, is dropped and counted. A
//! collector that is away costs a thread of its own some tries and the log one line a minute. The end takes at most
//! [`LAST`], whatever the collector does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use opentelemetry_otlp::{
    ExporterBuildError, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};

/// Spans that wait, at most; of 1 KiB each it is 8 MiB.
const QUEUE: usize = 8_192;
/// Spans in one request.
const BATCH: usize = 512;
/// How long a span waits for company.
const COMPANY: Duration = Duration::from_millis(500);
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pauses between tries of one batch.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The least time between two lines about a collector that is away.
const MINUTE: Duration = Duration::from_secs(60);
/// How long the end may take.
pub(crate) const LAST: Duration = Duration::from_secs(4);

/// What thread and senders share.
#[derive(Debug, Default)]
struct Shared {
    dropped: AtomicU64,
    ended: AtomicBool,
}

impl Shared {
    fn drop_of(&self, spans: usize) {
        self.dropped.fetch_add(u64::try_from(spans).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// A queue and the thread that empties it.
#[derive(Debug)]
pub(crate) struct Exporter {
    sender: Mutex<Option<SyncSender<SpanData>>>,
    shared: Arc<Shared>,
    thread: Mutex<Option<(JoinHandle<()>, Receiver<()>)>>,
}

/// Why nothing is exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The variables do not name a collector.
    #[error("cannot set up the export of traces")]
    Settings(#[from] ExporterBuildError),
    /// No HTTP client.
    #[error("cannot make an HTTP client for traces")]
    Client(#[from] reqwest::Error),
    /// The system refused something.
    #[error("cannot start the thread that exports traces")]
    Thread(#[from] std::io::Error),
}

impl Exporter {
    /// Starts the thread. Without an endpoint the collector is where `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin say.
    pub(crate) fn start(resource: &Resource, endpoint: Option<String>) -> Result<Self, ExportError> {
        let async_runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // A second installation of the same provider is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        // Tries are repeated here, where an end is heard.
        let once = RetryPolicy::disabled();
        let builder = SpanExporter::builder().with_http().with_http_client(client).with_retry_policy(once);
        let mut exporter = match endpoint {
            Some(endpoint) => builder.with_endpoint(endpoint).build()?,
            None => builder.build()?,
        };
        exporter.set_resource(resource);
        let (sender, receiver) = sync_channel(QUEUE);
        let (done, is_done) = sync_channel(0);
        let shared = Arc::new(Shared::default());
        let sending = Sending { exporter, async_runtime, shared: Arc::clone(&shared), told: None };
        let thread = thread::Builder::new().name("remora-traces".to_owned()).spawn(move || {
            // Dropped at the end, a panic included.
            let _done = done;
            sending.run(&receiver);
        })?;
        Ok(Self { sender: Mutex::new(Some(sender)), shared, thread: Mutex::new(Some((thread, is_done))) })
    }

    pub(crate) fn send(&self, span: SpanData) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if sender.as_ref().is_none_or(|sender| sender.try_send(span).is_err()) {
            self.shared.drop_of(1);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Sends what waits, as far as the collector takes it in time.
    pub(crate) fn finish(&self) {
        self.shared.ended.store(true, Ordering::Release);
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some((thread, is_done)) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        thread.thread().unpark();
        // Its end hangs up. A thread that is still waiting for an answer is left behind.
        if is_done.recv_timeout(LAST) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("traces were not exported in time; the last ones are lost");
        }
    }
}

/// The thread's own.
struct Sending {
    exporter: SpanExporter,
    async_runtime: tokio::runtime::Runtime,
    shared: Arc<Shared>,
    /// When a silence was told of last.
    told: Option<Instant>,
}

impl Sending {
    fn run(mut self, receiver: &Receiver<SpanData>) {
        while let Ok(first) = receiver.recv() {
            let batch = gather(receiver, first);
            self.export(batch);
        }
    }

    fn export(&mut self, batch: Vec<SpanData>) {
        let mut pauses = PAUSES.iter();
        loop {
            let sent = self.exporter.export(batch.clone());
            let limited = async { tokio::time::timeout(PATIENCE, sent).await };
            let error = match self.async_runtime.block_on(limited) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer in time".to_owned(),
            };
            self.tell(&error);
            let Some(pause) = pauses.next().filter(|_| !self.shared.ended.load(Ordering::Acquire)) else {
                break;
            };
            thread::park_timeout(*pause);
        }
        self.shared.drop_of(batch.len());
    }

    fn tell(&mut self, error: &str) {
        if self.told.is_some_and(|told| told.elapsed() < MINUTE) {
            return;
        }
        self.told = Some(Instant::now());
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        tracing::warn!(error, dropped, "the collector of traces takes none; work goes on");
    }
}

/// The first span and those that come soon after it.
fn gather(receiver: &Receiver<SpanData>, first: SpanData) -> Vec<SpanData> {
    let until = Instant::now() + COMPANY;
    let mut batch = vec![first];
    while batch.len() < BATCH {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(span) => batch.push(span),
            Err(_) => break,
        }
    }
    batch
}
