//! Faults of the durable room.

use std::sync::Arc;

use async_trait::async_trait;
use durable::*;
use protocol::{AttemptId, Fault, JobId, Mark, Origin, Phase, Position, Stamped, Step, Token, Window};

use super::{Planted, planted_port};

pub(super) struct PlantedDurable {
    pub(super) inner: Arc<dyn DurableRoom>,
    pub(super) fault: Planted,
}

impl PlantedDurable {
    /// The attempt of a job that has authority.
    async fn authority(&self, job: JobId) -> Option<RunningAttempt> {
        self.inner.running(None, usize::MAX).await.ok()?.into_iter().find(|running| running.job == job)
    }

    /// Who a request is taken for when it is known by its job only.
    async fn whoever_runs(&self, job: JobId, attempt: &mut AttemptId, token: &mut Token) {
        if let Some(running) = self.authority(job).await {
            (*attempt, *token) = (running.attempt, running.token);
        }
    }

    async fn claim(&self, origin: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized> {
        let mut answers = self.inner.authorize_attempt(origin, batch).await?;
        if self.fault == Planted::TokenReused {
            for answer in &mut answers {
                if let Step::Taken(authorized) = &mut answer.step {
                    authorized.token = Token(authorized.token.0.saturating_sub(1).max(1));
                }
            }
        }
        Ok(answers)
    }

    async fn succeed(&self, origin: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended> {
        let mut batch = batch.to_vec();
        if self.fault == Planted::SuccessWithoutToken {
            for one in &mut batch {
                self.whoever_runs(one.job, &mut one.attempt, &mut one.token).await;
            }
        }
        self.inner.accept_success(origin, &batch).await
    }

    async fn persist(&self, origin: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted> {
        let mut batch = batch.to_vec();
        match self.fault {
            Planted::CheckpointWithoutToken => {
                for one in &mut batch {
                    self.whoever_runs(one.job, &mut one.attempt, &mut one.token).await;
                }
            }
            Planted::CheckpointForgotten => {
                let said = |_: &PersistCheckpoint| {
                    Stamped::taken(Mark::default(), Persisted { checkpoint_revision: 1 })
                };
                return Ok(batch.iter().map(said).collect());
            }
            _ => {}
        }
        self.inner.persist_checkpoint(origin, &batch).await
    }

    async fn reap(&self, origin: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended> {
        let mut batch = batch.to_vec();
        if self.fault == Planted::ReapByJob {
            for one in &mut batch {
                self.whoever_runs(one.job, &mut one.attempt, &mut one.token).await;
            }
        }
        self.inner.reap_lost_attempt(origin, &batch).await
    }

    async fn cancel(&self, origin: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested> {
        let said = |phase| Stamped::taken(Mark::default(), CancelRequested { phase, attempt: None });
        if self.fault == Planted::CancelForgotten {
            return Ok(batch.iter().map(|_| said(Phase::Cancelling)).collect());
        }
        let mut answers = self.inner.request_cancel(origin, batch).await?;
        if self.fault == Planted::CancelAfterPublish {
            for answer in &mut answers {
                if answer.step.refused().is_some() {
                    *answer = said(Phase::Cancelled);
                }
            }
        }
        Ok(answers)
    }

    /// What is offered, with what must not be, or without what must.
    async fn offered(&self, mut rows: Vec<Dispatchable>, window: Option<&Window>) -> Vec<Dispatchable> {
        match self.fault {
            Planted::OutboxRowSkipped => rows.retain(|row| row.job.0 % 4 != 0),
            Planted::EnqueueOfRunning => {
                for running in self.inner.running(None, usize::MAX).await.unwrap_or_default() {
                    if let Some(window) = window {
                        rows.push(Dispatchable {
                            job: running.job,
                            window: window.clone(),
                            position: Position::default(),
                            checkpoint_revision: 0,
                            mark: running.mark,
                        });
                    }
                }
            }
            _ => {}
        }
        rows
    }

    async fn windows(&self) -> Result<Vec<Window>, Fault> {
        let mut windows = self.inner.waiting_windows().await?;
        if self.fault == Planted::EnqueueOfRunning {
            for running in self.inner.running(None, usize::MAX).await? {
                let spec = self.inner.job(running.job).await?.map(|view| view.spec);
                let of = |spec: protocol::JobSpec| Window {
                    queue: spec.queue,
                    kind: spec.kind,
                    priority: spec.priority,
                };
                windows.extend(spec.map(of));
            }
        }
        Ok(windows)
    }

    async fn sweeps(&self, limit: usize) -> Result<Vec<SweepStage>, Fault> {
        let mut stages = self.inner.stages_to_sweep(limit).await?;
        match self.fault {
            Planted::SweepKeepsNothing => stages.iter_mut().for_each(|stage| stage.keep.clear()),
            Planted::SweepOfLiveStage => {
                let running = self.inner.running(None, limit).await?;
                stages.extend(running.into_iter().map(|running| SweepStage {
                    job: running.job,
                    attempt: running.attempt,
                    token: running.token,
                    ended_ms_ago: u64::from(u32::MAX),
                    stopped: true,
                    committed: false,
                    terminal: false,
                    keep: Vec::new(),
                }));
            }
            _ => {}
        }
        Ok(stages)
    }
}

macro_rules! durable_body {
    (authorize_attempt $this:ident $origin:ident $batch:ident) => {
        $this.claim($origin, $batch).await
    };
    (accept_success $this:ident $origin:ident $batch:ident) => {
        $this.succeed($origin, $batch).await
    };
    (persist_checkpoint $this:ident $origin:ident $batch:ident) => {
        $this.persist($origin, $batch).await
    };
    (reap_lost_attempt $this:ident $origin:ident $batch:ident) => {
        $this.reap($origin, $batch).await
    };
    (request_cancel $this:ident $origin:ident $batch:ident) => {
        $this.cancel($origin, $batch).await
    };
    (dispatch_read $this:ident $read:ident) => {{
        let rows = $this.inner.dispatch_read($read).await?;
        Ok($this.offered(rows, Some(&$read.window)).await)
    }};
    (dispatch_read_jobs $this:ident $jobs:ident) => {{
        let rows = $this.inner.dispatch_read_jobs($jobs).await?;
        Ok($this.offered(rows, None).await)
    }};
    (waiting_windows $this:ident) => {
        $this.windows().await
    };
    (stages_to_sweep $this:ident $limit:ident) => {
        $this.sweeps($limit).await
    };
    ($method:ident $this:ident $($argument:ident)*) => {
        $this.inner.$method($($argument),*).await
    };
}

wire::durable_actions!(planted_port[PlantedDurable durable_body]);
wire::durable_reads!(planted_port[PlantedDurable durable_body]);
wire::durable_listing!(planted_port[PlantedDurable durable_body]);
wire::durable_access!(planted_port[PlantedDurable durable_body]);
