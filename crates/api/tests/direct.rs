//! The port over the rooms passes the suite.

use std::sync::Arc;

use durable::Access;
use remora_api as api;
use remora_api::Api;
use remora_api::conformance::Way;

async fn direct(api: Arc<dyn Api>, _: Arc<dyn Access>) -> Way {
    (api, Box::new(()))
}

api::api_conformance!(crate::direct);
