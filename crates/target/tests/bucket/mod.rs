//! The target on an S3 server, as the suite's fixture: each in a prefix of its own.
#![allow(dead_code, reason = "each binary of tests uses its part")]

pub(crate) mod wire;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutPayload};
use remora_target::conformance::Fixture;
use remora_target::s3::{Keys, S3Options, S3Target};
use remora_target::{StageId, Target};
use tempfile::TempDir;
use testbed::s3::{ACCESS_KEY, BUCKET, SECRET_KEY};

use wire::Wire;

/// A room in a prefix of its own, and the ways behind its back.
pub(crate) struct Bucket {
    pub(crate) options: S3Options,
    pub(crate) wire: Arc<Wire>,
    raw: AmazonS3,
    local: TempDir,
    /// Whatever must live as long.
    _server: Box<dyn Send + Sync>,
}

impl Bucket {
    pub(crate) fn new(endpoint: &str, server: impl Send + Sync + 'static) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let prefix = format!("case-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut options = S3Options::new(BUCKET, &prefix);
        options.endpoint = Some(endpoint.to_owned());
        options.keys = Some(Keys { id: ACCESS_KEY.into(), secret: SECRET_KEY.into(), token: None });
        options.region = Some("us-east-1".to_owned());
        // Another that is there already does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Each call has a runtime of its own, and a connection ends with its runtime.
        let connection = ClientOptions::new().with_allow_http(true).with_pool_max_idle_per_host(0);
        let raw = AmazonS3Builder::new()
            .with_client_options(connection)
            .with_endpoint(endpoint)
            .with_bucket_name(BUCKET)
            .with_access_key_id(ACCESS_KEY)
            .with_secret_access_key(SECRET_KEY)
            .build()
            .unwrap();
        let local = tempfile::tempdir().unwrap();
        Self { options, wire: Arc::new(Wire::default()), raw, local, _server: Box::new(server) }
    }

    pub(crate) fn room(&self) -> S3Target {
        S3Target::open_through(self.options.clone(), &wire::Through(Arc::clone(&self.wire))).unwrap()
    }

    pub(crate) fn whole(&self, key: &str) -> String {
        format!("{}/{key}", self.options.prefix)
    }

    fn path(&self, key: &str) -> Path {
        Path::parse(self.whole(key)).unwrap()
    }
}

/// The suite calls from inside of a runtime, and its fixtures do not wait.
fn wait<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        scope.spawn(move || runtime.block_on(work)).join().unwrap()
    })
}

impl Fixture for Bucket {
    fn target(&self) -> Arc<dyn Target> {
        Arc::new(self.room())
    }

    fn local(&self) -> PathBuf {
        self.local.path().to_owned()
    }

    fn peek(&self, key: &str) -> Option<Vec<u8>> {
        wait(async { Some(self.raw.get(&self.path(key)).await.ok()?.bytes().await.unwrap().to_vec()) })
    }

    fn change(&self, key: &str, bytes: Option<&[u8]>) {
        wait(async {
            match bytes {
                Some(bytes) => {
                    drop(self.raw.put(&self.path(key), PutPayload::from(bytes.to_vec())).await.unwrap())
                }
                None => self.raw.delete(&self.path(key)).await.unwrap(),
            }
        });
    }

    fn keys(&self, prefix: &str) -> BTreeSet<String> {
        let listed: Vec<_> =
            wait(async { self.raw.list(Some(&self.path(prefix))).try_collect().await.unwrap() });
        let own = format!("{}/", self.options.prefix);
        listed
            .iter()
            .map(|object: &object_store::ObjectMeta| {
                object.location.as_ref().strip_prefix(&own).unwrap().to_owned()
            })
            .collect()
    }

    fn results_are_local(&self) -> bool {
        false
    }

    fn make_older(&self, stage: &StageId, by: Duration) {
        let keys = self.keys(&stage.prefix()).iter().map(|key| self.whole(key)).collect();
        self.wire.make_older(keys, by);
    }
}
