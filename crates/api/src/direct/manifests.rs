//! Manifests of published results, read once for many questions.

use std::sync::{Arc, Mutex, PoisonError};

use durable::{Document, PublishedResult};
use protocol::AttemptId;
use target::{Manifest, Part, Target};

use crate::port::Answer;
use crate::v1::{Code, Problem};

/// So many are kept.
const KEPT: usize = 8;
/// One with more entries than this is read anew each time.
const ENTRIES: usize = 50_000;

/// The last manifests read. A published result never changes, so none of them grows old.
#[derive(Default)]
pub(super) struct Manifests {
    kept: Mutex<Vec<(AttemptId, Arc<Manifest>)>>,
}

impl Manifests {
    /// The manifest of a result.
    pub(super) async fn of(&self, target: &dyn Target, result: &PublishedResult) -> Answer<Arc<Manifest>> {
        let find = |kept: &Vec<(AttemptId, Arc<Manifest>)>| {
            kept.iter()
                .find(|(attempt, _)| *attempt == result.attempt)
                .map(|(_, manifest)| Arc::clone(manifest))
        };
        if let Some(manifest) = find(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(manifest);
        }
        let bytes = match &result.record.manifest {
            Document::Inline(bytes) => bytes.clone(),
            Document::Stored { key, length, digest } => {
                target.read(&Part::stored(key, *length, *digest)).await?
            }
        };
        let bad = |error| Problem::new(Code::Damaged, format!("the result of {}: {error}", result.job));
        let manifest = Arc::new(Manifest::decode(&bytes).map_err(bad)?);
        if manifest.entries.len() <= ENTRIES {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((result.attempt, Arc::clone(&manifest)));
        }
        Ok(manifest)
    }
}
