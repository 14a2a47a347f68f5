//! Taking away what nothing refers to: objects, and uploads that nobody finishes.
//!
//! Promises that an attempt that was swept and wrote on touches nothing but its own prefix, which the next sweep takes.
//! Ages are measured by the store's clock alone: what it calls now (`Date`) against what it says of each object.
//! Finding old stages lists the whole room, 1,000 keys a request.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::Method;
use jiff::Timestamp;
use md5::{Digest as _, Md5};

use super::S3Target;
use super::client::{Refusal, Request};
use super::keys;
use super::upload::unreadable;
use super::xml;
use crate::port::{StageId, Sweep, TargetFault};

/// S3 deletes so many in one request.
const BATCH: usize = 1000;

/// An object in a listing.
#[derive(Debug)]
pub(super) struct Listed {
    /// Its key in the room.
    pub key: String,
    pub length: u64,
    pub modified: Option<Timestamp>,
}

/// An upload that is not finished.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub key: String,
    pub id: String,
    pub begun: Option<Timestamp>,
}

impl S3Target {
    /// Whatever lies below a prefix of the room, in the order of keys; gives the store's time, where it tells it.
    pub(super) async fn each_below(
        &self,
        prefix: &str,
        mut each: impl FnMut(Listed) + Send,
    ) -> Result<Option<Timestamp>, TargetFault> {
        let (mut token, mut now) = (None, None);
        loop {
            let page = self.page(prefix, token.as_deref()).await?;
            now = now.max(page.now);
            page.objects.into_iter().for_each(&mut each);
            token = page.next;
            if token.is_none() {
                return Ok(now);
            }
        }
    }

    async fn page(&self, prefix: &str, token: Option<&str>) -> Result<Page, TargetFault> {
        let whole = self.client.options.whole(prefix);
        let mut request = Request::new(Method::GET, "").query("list-type", "2").xml();
        request = request.query("encoding-type", "url").query("prefix", &whole);
        if let Some(token) = token {
            request = request.query("continuation-token", token);
        }
        let reply =
            self.client.ask(&request).await.map_err(|refusal| self.client.fault("list", prefix, refusal))?;
        let listing: xml::Listing = xml::read(&reply.body).ok_or_else(|| unreadable("list", &whole))?;
        let escaped = listing.encoding_type.as_deref() == Some("url");
        let objects = listing.contents.into_iter().filter_map(|object| {
            let key = self.in_room(&object.key, escaped)?;
            Some(Listed { key, length: object.size, modified: time(&object.last_modified) })
        });
        let next = listing.next_continuation_token.filter(|_| listing.is_truncated);
        Ok(Page { objects: objects.collect(), next, now: reply.header("date").and_then(date) })
    }

    fn in_room(&self, key: &str, escaped: bool) -> Option<String> {
        let key = if escaped { keys::unescape(&key.replace('+', "%20"))? } else { key.to_owned() };
        let prefix = &self.client.options.prefix;
        if prefix.is_empty() {
            Some(key)
        } else {
            Some(key.strip_prefix(prefix)?.strip_prefix('/')?.to_owned())
        }
    }

    /// Every unfinished upload below a prefix of the room.
    pub(super) async fn uploads_below(&self, prefix: &str) -> Result<Vec<Unfinished>, TargetFault> {
        let whole = self.client.options.whole(prefix);
        let mut found = Vec::new();
        let mut after: Option<(String, String)> = None;
        loop {
            let mut request = Request::new(Method::GET, "").query("uploads", "").xml();
            request = request.query("encoding-type", "url").query("prefix", &whole);
            if let Some((key, id)) = &after {
                request = request.query("key-marker", key).query("upload-id-marker", id);
            }
            let reply = match self.client.ask(&request).await {
                // A store that cannot list them needs a lifecycle rule (docs/guides/s3.md).
                Err(refusal) if refusal.status() == 501 => return Ok(found),
                reply => {
                    reply.map_err(|refusal| self.client.fault("list the uploads below", prefix, refusal))?
                }
            };
            let page: xml::Uploads =
                xml::read(&reply.body).ok_or_else(|| unreadable("list the uploads below", &whole))?;
            let escaped = page.encoding_type.as_deref() == Some("url");
            for upload in page.upload {
                // Some stores list more than was asked for.
                let Some(key) = self.in_room(&upload.key, escaped).filter(|key| key.starts_with(prefix))
                else {
                    continue;
                };
                found.push(Unfinished { key, id: upload.upload_id, begun: time(&upload.initiated) });
            }
            after = page.next_key_marker.filter(|_| page.is_truncated).map(|key| {
                let key = if escaped { keys::unescape(&key.replace('+', "%20")).unwrap_or(key) } else { key };
                (key, page.next_upload_id_marker.unwrap_or_default())
            });
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Deletes all objects below a prefix.
    pub(super) async fn delete_below(&self, prefix: &str) -> Result<(), TargetFault> {
        let mut found = Vec::new();
        self.each_below(prefix, |object| found.push(object.key)).await?;
        self.delete(found).await
    }

    pub(super) async fn delete(&self, keys: Vec<String>) -> Result<(), TargetFault> {
        if !self.client.options.bulk_delete || keys.len() == 1 {
            let deleting = stream::iter(0..keys.len()).map(|place| self.delete_one(&keys[place]));
            return deleting.buffer_unordered(self.client.options.requests).try_collect().await;
        }
        for batch in keys.chunks(BATCH) {
            self.delete_batch(batch).await?;
        }
        Ok(())
    }

    async fn delete_one(&self, key: &str) -> Result<(), TargetFault> {
        match self.client.ask(&Request::new(Method::DELETE, key)).await {
            Err(refusal) if !refusal.is_missing() => Err(self.client.fault("delete", key, refusal)),
            _ => Ok(()),
        }
    }

    async fn delete_batch(&self, batch: &[String]) -> Result<(), TargetFault> {
        let whole: Vec<_> = batch.iter().map(|key| self.client.options.whole(key)).collect();
        let body = xml::delete(whole.iter().map(String::as_str));
        let sum = base64::prelude::BASE64_STANDARD.encode(Md5::digest(body.as_bytes()));
        let request = Request::new(Method::POST, "").query("delete", "").header("content-md5", sum).xml();
        let doing = "delete a batch of objects, among them";
        let first = batch.first().map_or("", String::as_str);
        let reply = self.client.ask(&request.body(body)).await;
        let reply = reply.map_err(|refusal| self.client.fault(doing, first, refusal))?;
        let deleted: xml::Deleted = xml::read(&reply.body).unwrap_or_default();
        let Some(kept) = deleted.errors.into_iter().find(|error| error.code != "NoSuchKey") else {
            return Ok(());
        };
        let refusal = Refusal::Answer { status: 200, code: kept.code, message: kept.message, tries: 1 };
        let key = self.in_room(&kept.key, false).unwrap_or(kept.key);
        Err(self.client.fault("delete", &key, refusal))
    }

    pub(super) async fn sweep_stage(
        &self,
        stage: &StageId,
        keep: &BTreeSet<String>,
    ) -> Result<Sweep, TargetFault> {
        let prefix = format!("{}/", stage.prefix());
        let (mut gone, mut kept) = (Vec::new(), 0);
        self.each_below(&prefix, |object| {
            if is_kept(&object.key, prefix.len(), keep) {
                kept += 1;
            } else {
                gone.push(object.key);
            }
        })
        .await?;
        let deleted = u64::try_from(gone.len()).unwrap_or(u64::MAX);
        self.delete(gone).await?;
        for upload in self.uploads_below(&prefix).await? {
            self.client.abort(&upload.key, &upload.id).await?;
        }
        Ok(Sweep { deleted, kept })
    }

    pub(super) async fn find_old_stages(
        &self,
        age: std::time::Duration,
    ) -> Result<Vec<StageId>, TargetFault> {
        let mut newest: BTreeMap<StageId, Timestamp> = BTreeMap::new();
        let mut latest = None;
        let mut note = |key: &str, at: Option<Timestamp>| {
            // What has no time counts as just written.
            let at = at.unwrap_or(Timestamp::MAX);
            if at < Timestamp::MAX {
                latest = latest.max(Some(at));
            }
            if let Some(stage) = keys::stage_of(key) {
                let known = newest.entry(stage).or_insert(at);
                *known = at.max(*known);
            }
        };
        let now = self.each_below("", |object| note(&object.key, object.modified)).await?;
        for upload in self.uploads_below("").await? {
            note(&upload.key, upload.begun);
        }
        // A store that does not tell its time told it with its newest object.
        let Some(now) = now.or(latest) else { return Ok(Vec::new()) };
        let old = |at: &Timestamp| {
            u128::try_from(now.duration_since(*at).as_millis()).is_ok_and(|ms| ms > age.as_millis())
        };
        Ok(newest.into_iter().filter(|(_, at)| old(at)).map(|(stage, _)| stage).collect())
    }
}

struct Page {
    objects: Vec<Listed>,
    next: Option<String>,
    now: Option<Timestamp>,
}

/// The key itself, or a folder that it is in, below the stage's own.
fn is_kept(key: &str, below: usize, keep: &BTreeSet<String>) -> bool {
    let folders =
        key.match_indices('/').map(|(end, _)| end).filter(|end| *end >= below).map(|end| &key[..end]);
    keep.contains(key) || folders.into_iter().any(|folder| keep.contains(folder))
}

fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// A header's form: `Mon, 30 Nov 2026 18:00:00 GMT`.
pub(super) fn date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_time_are_read() {
        let at = time("2026-11-30T18:00:00.000Z").unwrap();
        assert_eq!(date("Mon, 30 Nov 2026 18:00:00 GMT"), Some(at));
        assert_eq!((time("yesterday"), date("yesterday")), (None, None));
    }

    #[test]
    fn a_folder_keeps_what_is_in_it_and_the_stage_itself_keeps_nothing() {
        let keep = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let below = "j/s/".len();
        assert!(is_kept("j/s/out/a/b", below, &keep(&["j/s/out"])));
        assert!(is_kept("j/s/out/a/b", below, &keep(&["j/s/out/a/b"])));
        for other in ["j", "j/s", "j/s/ou", "j/s/out/a/b/", "j/s/out/a/bc"] {
            assert!(!is_kept("j/s/out/a/b", below, &keep(&[other])), "{other}");
        }
    }
}
