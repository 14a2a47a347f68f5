//! `why` and `inspect`.

use protocol::JobId;

use super::Direct;
use crate::port::Answer;
use crate::v1::{Code, Inspection, Problem, Why};

impl Direct {
    pub(super) async fn explain(&self, job: JobId) -> Answer<Why> {
        self.view(job).await?;
        Err(Problem::new(Code::Unsupported, "not told yet"))
    }

    pub(super) async fn lay_side_by_side(&self, job: JobId) -> Answer<Inspection> {
        self.view(job).await?;
        Err(Problem::new(Code::Unsupported, "not told yet"))
    }
}
