//! Questions to the owner that are no room's business.

use std::sync::Arc;

use async_trait::async_trait;
use coordination::memory::MemoryRoom;
use serde::{Deserialize, Serialize};
use wire::server::ControlHandler;

use crate::supervisor::Supervisor;

/// A question, as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum OwnerRequest {
    /// Who are you?
    Info,
    /// `LoseCoordinationState`, for trying it.
    LoseCoordination,
}

/// Who the owner is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerInfo {
    /// Its process id.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The worker processes that it keeps running.
    pub workers: Vec<WorkerProcessInfo>,
}

/// A worker process that the owner keeps running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerProcessInfo {
    /// Its name.
    pub name: String,
    /// Its process id; none between a death and the next start.
    pub pid: Option<u32>,
    /// How often it was started again.
    pub restarts: u64,
}

pub(crate) struct Control {
    pub(crate) coordination: Arc<MemoryRoom>,
    pub(crate) supervisor: Arc<Supervisor>,
}

#[async_trait]
impl ControlHandler for Control {
    async fn handle(&self, request: String) -> Result<String, String> {
        let request: OwnerRequest = serde_json::from_str(&request)
            .map_err(|error| format!("the owner does not know this request: {error}"))?;
        match request {
            OwnerRequest::Info => {
                let info = OwnerInfo {
                    pid: std::process::id(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    workers: self.supervisor.processes(),
                };
                serde_json::to_string(&info).map_err(|error| error.to_string())
            }
            OwnerRequest::LoseCoordination => {
                tracing::warn!("coordination is lost on request");
                self.coordination.lose();
                Ok("{}".to_owned())
            }
        }
    }
}
