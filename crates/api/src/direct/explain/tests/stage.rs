//! Rooms whose clocks stand still, and what is done in them.

use coordination::{ActivateAttempt, At, Coordination as _, Enqueue, PoolConfig, Registration, Reserve};
use durable::{AcceptFailure, AuthorizeAttempt, Configure, Durable as _, DurableReads as _, RaiseEpoch};
use protocol::{AttemptId, FailureCause, Incarnation, JobId, ReservationId, id};
use target::StageId;

use crate::Api as _;
use crate::conformance::Place;
use crate::v1::{Inspection, ReasonCode, Submission, Why};

pub(super) const ANNA: Incarnation = Incarnation(21);
pub(super) const BERT: Incarnation = Incarnation(22);

pub(super) struct Rooms {
    pub(super) place: Place,
    pub(super) epoch: u64,
}

impl Rooms {
    pub(super) async fn new() -> Self {
        Self { place: Place::still().await, epoch: 1 }
    }

    pub(super) fn at(&self) -> At {
        At { epoch: self.epoch, ..self.place.at() }
    }

    pub(super) async fn why(&self, job: JobId) -> Why {
        self.place.direct().why(job).await.unwrap()
    }

    pub(super) async fn inspect(&self, job: JobId) -> Inspection {
        self.place.direct().inspect(job).await.unwrap()
    }

    pub(super) async fn submit(&self) -> JobId {
        self.submit_as(Submission { kind: Some("exec".to_owned()), ..Submission::default() }).await
    }

    pub(super) async fn submit_as(&self, job: Submission) -> JobId {
        self.place.direct().submit(vec![job]).await.unwrap().remove(0).into_result().unwrap().job
    }

    pub(super) async fn register(
        &self,
        worker: Incarnation,
        name: &str,
        change: impl FnOnce(&mut Registration),
    ) {
        let mut registration = Registration {
            worker,
            name: name.to_owned(),
            pid: 7,
            host: "desk".to_owned(),
            slots: 1,
            queues: None,
            kinds: vec!["exec".to_owned()],
            draining: false,
        };
        change(&mut registration);
        self.place.coordination.register(&self.at(), &registration).await.unwrap();
    }

    pub(super) async fn enqueue(&self, job: JobId) {
        let found = self.place.durable.dispatch_read_jobs(&[job]).await.unwrap().remove(0);
        let entry = Enqueue {
            job,
            window: found.window,
            position: found.position,
            checkpoint_revision: found.checkpoint_revision,
            judged: vec![],
        };
        taken(self.place.coordination.enqueue(&self.at(), &[entry]).await.unwrap().remove(0));
    }

    pub(super) async fn reserve(&self, job: JobId, worker: Incarnation) -> ReservationId {
        self.enqueue(job).await;
        self.take(job, worker).await
    }

    pub(super) async fn take(&self, job: JobId, worker: Incarnation) -> ReservationId {
        let window = self.place.durable.dispatch_read_jobs(&[job]).await.unwrap().remove(0).window;
        let reservation = ReservationId(u128::from(self.place.number()));
        let request = Reserve { worker, reservations: vec![reservation], windows: vec![window] };
        let reserved = taken(self.place.coordination.reserve(&self.at(), &request).await.unwrap().remove(0));
        assert_eq!(reserved.job, job);
        reservation
    }

    pub(super) async fn claim(&self, job: JobId, worker: Incarnation, reservation: ReservationId) -> StageId {
        let attempt = AttemptId(id::v7(self.place.number(), 6));
        let checkpoint_revision = self.place.direct().view(job).await.unwrap().checkpoint_revision;
        let claim = AuthorizeAttempt {
            job,
            attempt,
            worker,
            reservation,
            epoch: self.epoch,
            checkpoint_revision,
            judged: vec![],
        };
        let answers = self.place.durable.authorize_attempt(&self.place.origin(), &[claim]).await;
        StageId { job, token: taken(answers.unwrap().remove(0)).token, attempt }
    }

    pub(super) async fn activate(&self, stage: &StageId, worker: Incarnation, reservation: ReservationId) {
        let request = ActivateAttempt {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            reservation,
            worker,
            judged: vec![],
        };
        taken(self.place.coordination.activate_attempt(&self.at(), &[request]).await.unwrap().remove(0));
    }

    /// A job that runs under the worker.
    pub(super) async fn run(&self, worker: Incarnation) -> StageId {
        let job = self.submit().await;
        self.run_job(job, worker).await
    }

    pub(super) async fn run_job(&self, job: JobId, worker: Incarnation) -> StageId {
        let reservation = self.reserve(job, worker).await;
        let stage = self.claim(job, worker, reservation).await;
        self.activate(&stage, worker, reservation).await;
        stage
    }

    pub(super) async fn fail(&self, stage: &StageId, cause: FailureCause, chance: u64) {
        let failure = AcceptFailure {
            job: stage.job,
            attempt: stage.attempt,
            token: stage.token,
            cause,
            error: "no such day\nmore".to_owned(),
            exit: Some(durable::ProgramExit::Code(3)),
            chance,
        };
        taken(self.place.durable.accept_failure(&self.place.origin(), &[failure]).await.unwrap().remove(0));
    }

    pub(super) async fn configure(&self, change: Configure) {
        let row = self.place.durable.configure(&self.place.origin(), &change).await.unwrap();
        let config = PoolConfig {
            revision: row.config_revision,
            global_limit: row.global_limit,
            lease_ms: row.lease_ms,
            paused: row.paused,
        };
        taken(self.place.coordination.configure(&self.at(), &config).await.unwrap());
    }

    /// Loses coordination and rebuilds it in the next epoch, up to its opening.
    pub(super) async fn rebuild(&mut self, open: bool) {
        self.place.coordination.lose();
        let change = RaiseEpoch { from: self.epoch, to: self.epoch + 1 };
        taken(self.place.durable.raise_epoch(&self.place.origin(), &change).await.unwrap());
        self.epoch += 1;
        self.place.coordination.install_epoch(self.epoch, protocol::InstallationId(1)).await.unwrap();
        self.configure(Configure::default()).await;
        if open {
            let running = self.place.durable.running(None, 10).await.unwrap();
            let attempts: Vec<_> = running.iter().map(|running| running.attempt).collect();
            taken(self.place.coordination.account(&self.at(), &attempts).await.unwrap());
            taken(self.place.durable.open_epoch(&self.place.origin(), self.epoch).await.unwrap());
            taken(self.place.coordination.open_epoch(&self.at()).await.unwrap());
        }
    }
}

#[track_caller]
pub(super) fn taken<T>(answer: protocol::Stamped<T>) -> T {
    answer.step.taken().expect("the step is taken")
}

pub(super) fn codes(why: &Why) -> Vec<ReasonCode> {
    why.because.iter().map(|reason| reason.code).collect()
}

/// That these are the reasons, and the first of them says so.
#[track_caller]
pub(super) fn says(why: &Why, expected: &[ReasonCode], text: &str) {
    assert_eq!(codes(why), expected, "{why:#?}");
    assert!(why.summary.contains(text), "{text:?} is not in {:?}", why.summary);
    assert!(!why.next.is_empty(), "{why:#?}");
}

#[track_caller]
pub(super) fn next(why: &Why, text: &str) {
    assert!(why.next.iter().any(|next| next.text.contains(text)), "{text:?} is not in {:#?}", why.next);
}
