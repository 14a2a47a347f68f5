//! Which target a prefix is: an object that is written on the condition that nothing lies there.
//!
//! Promises what the port promises. Where a store knows no conditions (`conditional=false`) it is looked at first and read
//! back afterwards: of two makers in the same moment both may believe themselves the first.

use http::Method;
use protocol::TargetId;

use super::S3Target;
use super::client::Request;
use crate::marker;
use crate::port::TargetFault;

impl S3Target {
    pub(super) async fn read_identity(&self) -> Result<Option<TargetId>, TargetFault> {
        let place = format!("s3://{}/{}", self.client.options.bucket, self.client.options.whole(marker::KEY));
        match self.client.ask(&Request::new(Method::GET, marker::KEY)).await {
            Ok(reply) => marker::read(&reply.body, &place).map(Some),
            Err(refusal) if refusal.is_missing() => Ok(None),
            Err(refusal) => Err(self.client.fault("read", marker::KEY, refusal)),
        }
    }

    pub(super) async fn offer_identity(&self, offered: TargetId) -> Result<Option<TargetId>, TargetFault> {
        if let Some(known) = self.read_identity().await? {
            return Ok(Some(known));
        }
        let mut request = Request::new(Method::PUT, marker::KEY).body(marker::text(offered));
        if self.client.options.conditional {
            request = request.header("if-none-match", "*");
        }
        match self.client.ask(&request).await {
            Ok(_) => {}
            // Somebody else was first, or this very write was, and its answer was lost.
            Err(refusal) if matches!(refusal.status(), 409 | 412) => {}
            Err(refusal) => return Err(self.client.fault("write", marker::KEY, refusal)),
        }
        self.read_identity().await
    }
}
