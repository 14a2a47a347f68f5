//! The suite on S3: over s3s-fs inside of this process.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bucket;

use std::sync::Arc;

use remora_target::conformance::Fixture;

fn fixture() -> Arc<dyn Fixture> {
    let server = testbed::s3::InProcess::start();
    Arc::new(bucket::Bucket::new(&server.endpoint(), server))
}

remora_target::target_conformance!(crate::fixture());
