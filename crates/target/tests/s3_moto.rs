//! The suite on S3, over an implementation that is none of ours: moto. One server and one test for all cases.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bucket;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use testbed::s3::S3Server;

#[test]
fn every_case_of_the_suite_holds_on_moto() {
    let server = match S3Server::start_moto() {
        Ok(server) => server,
        Err(error) => {
            println!("LEFT OUT: there is no moto here, so nothing was tried on it: {error}");
            return;
        }
    };
    let mut failed = Vec::new();
    for (suite, case, run) in remora_target::target_case_list!() {
        let fixture = Arc::new(bucket::Bucket::new(&server.endpoint(), ()));
        if catch_unwind(AssertUnwindSafe(|| run(fixture))).is_err() {
            failed.push(format!("{suite}::{case}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
