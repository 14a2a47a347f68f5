//! A file of a result, for whoever asks for it by name.

use std::ops::Range;

use bytes::Bytes;

use super::read::RANGE_BYTES;
use super::{S3Target, keys};
use crate::port::{ResultFile, StageId, TargetFault, inside};

struct File {
    room: S3Target,
    key: String,
    length: u64,
    etag: Option<String>,
    left: Range<u64>,
}

impl S3Target {
    pub(super) async fn open_file(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        inside(path)?;
        let key = keys::of_result(stage, path, self.client.options.prefix.len() + 1);
        let found =
            self.client.look(&key).await.map_err(|refusal| self.client.fault("look at", &key, refusal))?;
        let missing = || TargetFault::bad(format!("the result's file {path:?} is missing"));
        let found = found.ok_or_else(missing)?;
        let length = found.object_length().ok_or_else(missing)?;
        let etag = found.header("etag").map(str::to_owned);
        let left = range.start.min(length)..range.end.min(length);
        Ok(Box::new(File { room: self.clone(), key, length, etag, left }))
    }
}

#[async_trait::async_trait]
impl ResultFile for File {
    fn length(&self) -> u64 {
        self.length
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TargetFault> {
        let asked = self.left.end.saturating_sub(self.left.start).min(RANGE_BYTES);
        if asked == 0 {
            return Ok(None);
        }
        let client = &self.room.client;
        match client.range(&self.key, (self.left.start, asked), self.etag.as_deref()).await {
            Ok(reply) if super::seal::count(&reply.body) == asked => {
                self.left.start += asked;
                Ok(Some(reply.body))
            }
            Err(refusal) if !refusal.is_missing() && !matches!(refusal.status(), 412 | 416) => {
                Err(client.fault("read", &self.key, refusal))
            }
            _ => Err(TargetFault::bad(format!("the result's file {} changed while it was read", self.key))),
        }
    }
}
