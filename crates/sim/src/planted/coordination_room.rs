//! Faults of the coordination room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use coordination::*;
use protocol::{AttemptId, Fault, Incarnation, JobId, Stamped, Step};
use tokio::sync::broadcast;

use super::{Planted, planted_port};

pub(super) struct PlantedCoordination {
    inner: Arc<dyn CoordinationRoom>,
    fault: Planted,
    released: Mutex<BTreeSet<AttemptId>>,
    names: Mutex<BTreeMap<Incarnation, String>>,
}

fn all<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PlantedCoordination {
    pub(super) fn new(inner: Arc<dyn CoordinationRoom>, fault: Planted) -> Self {
        Self { inner, fault, released: Mutex::default(), names: Mutex::default() }
    }

    async fn leases(&self) -> Vec<HeldLease> {
        let page = self.inner.holdings(None, usize::MAX).await;
        page.map(|page| page.jobs.into_iter().flat_map(|job| job.leases).collect()).unwrap_or_default()
    }

    async fn greet(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault> {
        all(&self.names).insert(registration.worker, registration.name.clone());
        if self.fault == Planted::LeaseByName {
            let leases = self.leases().await;
            let same = |lease: &HeldLease| all(&self.names).get(&lease.worker) == Some(&registration.name);
            let batch: Vec<_> = leases
                .into_iter()
                .filter(same)
                .map(|lease| RenewLease { job: lease.job, attempt: lease.attempt, worker: lease.worker })
                .collect();
            self.inner.renew_lease(at, &batch).await?;
        }
        self.inner.register(at, registration).await
    }

    async fn release(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()> {
        let mut also = Vec::new();
        for one in batch {
            let again = !all(&self.released).insert(one.attempt);
            for lease in self.leases().await {
                let taken_along = match self.fault {
                    Planted::ReleaseTwice => again && lease.job != one.job && also.is_empty(),
                    Planted::ReleaseByJob => lease.job == one.job && lease.attempt != one.attempt,
                    _ => false,
                };
                if taken_along {
                    let judged = one.judged.clone();
                    also.push(ReleaseLease { job: lease.job, attempt: lease.attempt, judged });
                }
            }
        }
        self.inner.release_lease(at, &also).await?;
        self.inner.release_lease(at, batch).await
    }

    async fn activate(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease> {
        let mut answers = self.inner.activate_attempt(at, batch).await?;
        if self.fault == Planted::ActivateWithoutPermit {
            let lease_ms = self.inner.pool().await?.config.lease_ms;
            for answer in answers.iter_mut().filter(|answer| answer.step.refused().is_some()) {
                answer.step = Step::Taken(Lease { lease_ms });
            }
        }
        Ok(answers)
    }

    async fn observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()> {
        match self.fault {
            Planted::ReapFromSilence => {
                let mark = self.inner.pool().await?.mark;
                Ok(batch.iter().map(|_| Stamped::taken(mark, ())).collect())
            }
            _ => self.inner.reap_observe(at, batch).await,
        }
    }

    async fn set(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault> {
        let mut config = config.clone();
        if self.fault == Planted::LimitForgotten {
            config.global_limit = 1_000;
        }
        self.inner.configure(at, &config).await
    }
}

macro_rules! coordination_body {
    (register $this:ident $at:ident $registration:ident) => {
        $this.greet($at, $registration).await
    };
    (release_lease $this:ident $at:ident $batch:ident) => {
        $this.release($at, $batch).await
    };
    (activate_attempt $this:ident $at:ident $batch:ident) => {
        $this.activate($at, $batch).await
    };
    (reap_observe $this:ident $at:ident $batch:ident) => {
        $this.observe($at, $batch).await
    };
    (configure $this:ident $at:ident $config:ident) => {
        $this.set($at, $config).await
    };
    ($method:ident $this:ident $($argument:ident)*) => {
        $this.inner.$method($($argument),*).await
    };
}

wire::coordination_actions!(planted_port[PlantedCoordination coordination_body
    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.inner.wakes()
    }
]);
wire::coordination_reads!(planted_port[PlantedCoordination coordination_body]);
