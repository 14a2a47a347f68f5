//! The operations: s3s-fs's own, with keys translated, in turn.

use std::fs;

use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

use super::{PAGE, Store, failed, stored, time, whole};

fn translated(source: &CopySource) -> S3Result<CopySource> {
    match source {
        CopySource::Bucket { bucket, key, version_id } => Ok(CopySource::Bucket {
            bucket: bucket.clone(),
            key: stored(key).into(),
            version_id: version_id.clone(),
        }),
        _ => Err(s3_error!(NotImplemented)),
    }
}

fn page(asked: Option<i32>) -> usize {
    asked.and_then(|count| usize::try_from(count).ok()).unwrap_or(PAGE).min(PAGE)
}

impl Store {
    fn list(&self, input: &ListObjectsV2Input) -> S3Result<ListObjectsV2Output> {
        let prefix = input.prefix.clone().unwrap_or_default();
        let after = input.continuation_token.clone().or(input.start_after.clone()).unwrap_or_default();
        let count = page(input.max_keys);
        let mut keys = self.keys(&input.bucket, &prefix, &after, count);
        let more = keys.len() > count;
        keys.truncate(count);
        let next = keys.last().cloned().filter(|_| more);
        let mut contents = Vec::new();
        for key in keys {
            // A key whose object was never finished.
            let Ok(metadata) = fs::metadata(self.path(&input.bucket, &key)) else { continue };
            contents.push(Object {
                key: Some(key),
                size: Some(i64::try_from(metadata.len()).map_err(failed)?),
                last_modified: Some(time(metadata.modified().map_err(failed)?)),
                ..Object::default()
            });
        }
        Ok(ListObjectsV2Output {
            is_truncated: Some(more),
            next_continuation_token: next,
            contents: Some(contents),
            ..ListObjectsV2Output::default()
        })
    }

    fn list_uploads(&self, input: &ListMultipartUploadsInput) -> ListMultipartUploadsOutput {
        let prefix = format!("{}/{}", input.bucket, input.prefix.clone().unwrap_or_default());
        let bucket = input.bucket.len() + 1;
        let after = input.key_marker.clone().map(|key| {
            (
                format!("{}/{key}", input.bucket),
                input.upload_id_marker.clone().unwrap_or("\u{10ffff}".to_owned()),
            )
        });
        let mut found: Vec<_> = self.index().uploads.values().cloned().collect();
        found.sort();
        found.retain(|upload| upload.key.starts_with(&prefix));
        found.retain(|upload| {
            after.as_ref().is_none_or(|after| (&upload.key, &upload.id) > (&after.0, &after.1))
        });
        let count = page(input.max_uploads);
        let more = found.len() > count;
        found.truncate(count);
        let last = found.last().filter(|_| more);
        ListMultipartUploadsOutput {
            is_truncated: Some(more),
            next_key_marker: last.map(|upload| upload.key[bucket..].to_owned()),
            next_upload_id_marker: last.map(|upload| upload.id.clone()),
            uploads: Some(
                found
                    .into_iter()
                    .map(|upload| MultipartUpload {
                        key: Some(upload.key[bucket..].to_owned()),
                        upload_id: Some(upload.id),
                        initiated: Some(time(upload.begun)),
                        ..MultipartUpload::default()
                    })
                    .collect(),
            ),
            ..ListMultipartUploadsOutput::default()
        }
    }
}

#[async_trait::async_trait]
impl S3 for Store {
    async fn create_bucket(
        &self,
        req: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        let _turn = self.turn().await;
        self.inner.create_bucket(req).await
    }

    async fn head_bucket(&self, req: S3Request<HeadBucketInput>) -> S3Result<S3Response<HeadBucketOutput>> {
        let _turn = self.turn().await;
        self.inner.head_bucket(req).await
    }

    async fn put_object(&self, mut req: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        req.input.body = whole(req.input.body.take()).await?;
        let _turn = self.turn().await;
        self.remember(&req.input.bucket, &req.input.key)?;
        req.input.key = stored(&req.input.key);
        self.inner.put_object(req).await
    }

    async fn get_object(&self, mut req: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let _turn = self.turn().await;
        self.has(&req.input.bucket)?;
        req.input.key = stored(&req.input.key);
        let condition = req.input.if_match.clone();
        let answer = self.inner.get_object(req).await?;
        let etag = answer.output.e_tag.as_ref();
        if let (Some(ETagCondition::ETag(wanted)), Some(etag)) = (condition, etag)
            && !wanted.strong_cmp(etag)
        {
            return Err(s3_error!(PreconditionFailed));
        }
        Ok(answer)
    }

    async fn head_object(
        &self,
        mut req: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let _turn = self.turn().await;
        req.input.key = stored(&req.input.key);
        self.inner.head_object(req).await
    }

    async fn copy_object(
        &self,
        mut req: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        let _turn = self.turn().await;
        self.has(&req.input.bucket)?;
        req.input.copy_source = translated(&req.input.copy_source)?;
        if let CopySource::Bucket { bucket, key, .. } = &req.input.copy_source
            && self.folder.join("objects").join(&**bucket).join(&**key).exists()
        {
            // s3s-fs writes over a file that a reader may have open.
            let _ = fs::remove_file(self.path(&req.input.bucket, &req.input.key));
        }
        self.remember(&req.input.bucket, &req.input.key)?;
        req.input.key = stored(&req.input.key);
        self.inner.copy_object(req).await
    }

    async fn delete_object(
        &self,
        mut req: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let _turn = self.turn().await;
        self.forget(&req.input.bucket, &req.input.key)?;
        req.input.key = stored(&req.input.key);
        self.inner.delete_object(req).await
    }

    async fn delete_objects(
        &self,
        mut req: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let _turn = self.turn().await;
        let keys: Vec<_> = req.input.delete.objects.iter().map(|object| object.key.clone()).collect();
        for (object, key) in req.input.delete.objects.iter_mut().zip(&keys) {
            self.forget(&req.input.bucket, key)?;
            object.key = stored(key);
        }
        let mut answer = self.inner.delete_objects(req).await?;
        for (deleted, key) in answer.output.deleted.iter_mut().flatten().zip(keys) {
            deleted.key = Some(key);
        }
        Ok(answer)
    }

    async fn list_objects_v2(
        &self,
        req: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let _turn = self.turn().await;
        self.has(&req.input.bucket)?;
        Ok(S3Response::new(self.list(&req.input)?))
    }

    async fn create_multipart_upload(
        &self,
        mut req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let _turn = self.turn().await;
        let (bucket, key) = (req.input.bucket.clone(), req.input.key.clone());
        req.input.key = stored(&key);
        let answer = self.inner.create_multipart_upload(req).await?;
        self.begin(&bucket, &key, answer.output.upload_id.as_deref().unwrap_or_default())?;
        Ok(answer)
    }

    async fn upload_part(
        &self,
        mut req: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        req.input.body = whole(req.input.body.take()).await?;
        let _turn = self.turn().await;
        self.is_begun(&req.input.upload_id)?;
        req.input.key = stored(&req.input.key);
        self.inner.upload_part(req).await
    }

    async fn upload_part_copy(
        &self,
        mut req: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let _turn = self.turn().await;
        self.is_begun(&req.input.upload_id)?;
        req.input.copy_source = translated(&req.input.copy_source)?;
        req.input.key = stored(&req.input.key);
        self.inner.upload_part_copy(req).await
    }

    async fn complete_multipart_upload(
        &self,
        mut req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let _turn = self.turn().await;
        let id = req.input.upload_id.clone();
        self.is_begun(&id)?;
        self.remember(&req.input.bucket, &req.input.key)?;
        req.input.key = stored(&req.input.key);
        let answer = self.inner.complete_multipart_upload(req).await?;
        self.end(&id)?;
        Ok(answer)
    }

    async fn abort_multipart_upload(
        &self,
        mut req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let _turn = self.turn().await;
        self.is_begun(&req.input.upload_id)?;
        self.end(&req.input.upload_id)?;
        req.input.key = stored(&req.input.key);
        self.inner.abort_multipart_upload(req).await
    }

    async fn list_multipart_uploads(
        &self,
        req: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let _turn = self.turn().await;
        Ok(S3Response::new(self.list_uploads(&req.input)))
    }
}
