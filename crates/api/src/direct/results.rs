//! Published results.

use std::ops::Range;

use durable::PublishedResult;
use futures_util::stream;
use protocol::JobId;
use target::{Entry, Node};

use super::Direct;
use super::jobs::stage_of;
use crate::port::{Answer, FileBody};
use crate::v1::{Code, EntryKind, Page, Problem, ResultEntry, ResultSummary};

/// Entries on one page, at most.
const PAGE: usize = 10_000;

fn entry(entry: &Entry) -> ResultEntry {
    let path = entry.path.clone();
    match &entry.node {
        Node::File { parts, executable } => ResultEntry {
            path,
            kind: EntryKind::File,
            bytes: Some(parts.iter().map(|part| part.length).sum()),
            executable: *executable,
            blake3: digest(&entry.node),
            to: None,
        },
        Node::Folder => ResultEntry {
            path,
            kind: EntryKind::Folder,
            bytes: None,
            executable: false,
            blake3: None,
            to: None,
        },
        Node::Link { to } => ResultEntry {
            path,
            kind: EntryKind::Link,
            bytes: None,
            executable: false,
            blake3: None,
            to: Some(to.clone()),
        },
    }
}

/// A whole file's digest, where it is known.
fn digest(node: &Node) -> Option<String> {
    match node {
        Node::File { parts, .. } => match parts.as_slice() {
            [] => Some(target::Digest::of(&[]).to_string()),
            [part] => Some(part.digest.to_string()),
            _ => None,
        },
        Node::Folder | Node::Link { .. } => None,
    }
}

impl Direct {
    async fn published(&self, job: JobId) -> Answer<PublishedResult> {
        if let Some(result) = self.rooms.listing.result(job).await? {
            return Ok(result);
        }
        let phase = self.view(job).await?.summary.phase;
        Err(Problem::new(Code::NotFound, format!("{job} has no result: it is {phase}")))
    }

    pub(super) async fn summary_of_result(&self, job: JobId) -> Answer<ResultSummary> {
        Ok(self.result_summary(&self.published(job).await?))
    }

    pub(super) async fn entries(
        &self,
        job: JobId,
        after: Option<&str>,
        limit: usize,
    ) -> Answer<Page<ResultEntry>> {
        let result = self.published(job).await?;
        let manifest = self.manifests.of(self.rooms.target.as_ref(), &result).await?;
        let from = after.map_or(0, |after| manifest.entries.partition_point(|entry| *entry.path <= *after));
        let rest = manifest.entries.get(from..).unwrap_or_default();
        let items: Vec<_> = rest.iter().take(limit.min(PAGE)).map(entry).collect();
        let next = items.last().filter(|_| items.len() < rest.len()).map(|last| last.path.clone());
        Ok(Page { items, next })
    }

    pub(super) async fn file(&self, job: JobId, path: &str, range: Range<u64>) -> Answer<FileBody> {
        let result = self.published(job).await?;
        let manifest = self.manifests.of(self.rooms.target.as_ref(), &result).await?;
        let found = manifest.entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        let found = found.ok().and_then(|at| manifest.entries.get(at));
        let digest = match found.map(|entry| &entry.node) {
            Some(node @ Node::File { .. }) => digest(node),
            Some(Node::Folder) => return Err(not_a_file(job, path, "a folder")),
            Some(Node::Link { to }) => return Err(not_a_file(job, path, &format!("a link to {to:?}"))),
            None => {
                return Err(Problem::new(
                    Code::NotFound,
                    format!("the result of {job} has no file {path:?}"),
                ));
            }
        };
        let file = self.rooms.target.open_result(&stage_of(&result), path, range.clone()).await?;
        let length = file.length();
        let range = range.start.min(length)..range.end.min(length);
        let bytes = stream::unfold(Some(file), |file| async {
            let mut file = file?;
            match file.next().await {
                Ok(Some(bytes)) => Some((Ok(bytes), Some(file))),
                Ok(None) => None,
                Err(fault) => Some((Err(fault.into()), None)),
            }
        });
        Ok(FileBody { length, range, digest, bytes: Box::pin(bytes) })
    }
}

fn not_a_file(job: JobId, path: &str, what: &str) -> Problem {
    Problem::new(Code::NotFound, format!("{path:?} in the result of {job} is {what}, not a file"))
}
