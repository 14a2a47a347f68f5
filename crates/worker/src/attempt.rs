//! One attempt, from its reservation to a free slot.

use std::sync::Arc;
use std::time::Duration;

use coordination::{ReleaseLease, Reserved};
use protocol::{FailureCause, Judged, Mark, ReservationId};
use runtime::catch_panic;
use target::{Manifest, StageId};
use tokio::sync::watch;

use crate::claim::{Claimed, claim, invalidate, read_document};
use crate::companion::tell_stops;
use crate::control::{AttemptControl, AttemptIdentity, Stop};
use crate::handler::{Ending, Run};
use crate::held::{HeldLease, raise};
use crate::outcome::{self, Reported};
use crate::session::Session;
use crate::stage::{AttemptFolder, OutputStage, StageError};

/// A reservation and the moment it was given.
pub(crate) struct Ticket {
    pub(crate) reserved: Reserved,
    pub(crate) epoch: u64,
    pub(crate) mark: Mark,
}

/// Starts the life of an attempt beside the caller. Its slot has been taken and is freed at its end.
pub(crate) fn start(session: &Arc<Session>, ticket: Ticket) {
    let session = Arc::clone(session);
    let spawner = Arc::clone(&session.runtime.spawner);
    spawner.spawn(Box::pin(async move {
        let _place = Place { session: Arc::clone(&session), reservation: ticket.reserved.reservation };
        if let Some(claimed) = claim(&session, &ticket).await {
            live(&session, claimed).await;
        }
    }));
}

/// A slot and the reservation it was taken for. However the attempt's task ends, a panic included, the slot
/// is free again and the reservation is renewed no more.
struct Place {
    session: Arc<Session>,
    reservation: ReservationId,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.session.held.remove_reservation(self.reservation);
        self.session.free_slot();
    }
}

async fn live(session: &Arc<Session>, claimed: Claimed) {
    let (stop, _) = watch::channel(Stop::None);
    let (deadline, deadline_reader) = watch::channel(claimed.deadline);
    let (job, attempt, token) = (claimed.job, claimed.attempt, claimed.token);
    session.held.add_lease(HeldLease {
        job,
        attempt,
        token,
        epoch: claimed.epoch,
        deadline,
        stop: stop.clone(),
    });
    // A drain that began before the lease was there to be told of it is heard here; later ones find the lease.
    if session.is_draining() {
        raise(&stop, Stop::Drain);
    }
    let stage = StageId { job, token, attempt };
    let folder = session.folder.attempt(attempt);
    let output = OutputStage::new(
        Arc::clone(&session.rooms.target),
        Arc::clone(&session.runtime.spawner),
        stage,
        folder.output(),
    );
    let checkpoint = claimed.authorized.checkpoint.as_ref();
    let identity = AttemptIdentity {
        stage,
        mark: claimed.mark,
        progress: checkpoint.map_or(0, |checkpoint| checkpoint.progress),
        shown: checkpoint.map(|checkpoint| checkpoint.user.clone()),
    };
    let control = AttemptControl::new(Arc::clone(session), &identity, stop, output);
    // A fault of the worker's own must not leave a lease that is renewed for ever.
    let reported = match catch_panic(run(&control, claimed, folder.clone(), deadline_reader)).await {
        Ok(reported) => reported,
        Err(text) => {
            tracing::error!(%job, %attempt, %text, "the worker has a fault; the attempt fails");
            let text = format!("the worker has a fault: {text}");
            outcome::report(&control, Ending::failed(FailureCause::Failed, text)).await
        }
    };
    if let Some(companion) = &session.options.companion {
        let last = *control.stop().borrow();
        // The program may have ended before anybody told of the order.
        if last == Stop::LeaseLost {
            companion.stopped(attempt, last);
        }
        companion.left(attempt);
    }
    release(session, &control, reported).await;
    folder.remove();
}

/// Restores, executes and reports.
async fn run(
    control: &Arc<AttemptControl>,
    claimed: Claimed,
    folder: AttemptFolder,
    deadline: watch::Receiver<Duration>,
) -> Reported {
    let session = &control.session;
    let checkpoint_revision =
        claimed.authorized.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.revision);
    let state = match restore(control, &claimed, &folder).await {
        Ok(state) => state,
        Err(error) => {
            let cause = if error.is_bad_data() {
                let _ = invalidate(session, claimed.job, checkpoint_revision, &error).await;
                FailureCause::BadCheckpoint
            } else {
                FailureCause::Failed
            };
            return outcome::report(control, Ending::failed(cause, describe(&error))).await;
        }
    };
    let authorized = claimed.authorized;
    let spec = authorized.spec.clone();
    let run = Arc::new(Run { authorized, control: Arc::clone(control), state, deadline, folder });
    let ending = tokio::select! {
        biased;
        ending = session.executors.execute(&spec, Arc::clone(&run)) => ending,
        ending = report_progress(control) => ending,
        ending = time_out(control, spec.timeout_ms) => ending,
        ending = tell_stops(session.options.companion.clone(), control) => ending,
    };
    outcome::report(control, ending).await
}

/// Reports progress for as long as the executor runs.
async fn report_progress(control: &AttemptControl) -> Ending {
    control.report_progress().await;
    std::future::pending().await
}

/// Orders a stop when the attempt's time is over. The executor ends it.
async fn time_out(control: &AttemptControl, timeout_ms: Option<u64>) -> Ending {
    if let Some(timeout_ms) = timeout_ms {
        control.session.runtime.clock.sleep(Duration::from_millis(timeout_ms)).await;
        control.raise_stop(Stop::TimedOut);
    }
    std::future::pending().await
}

/// Puts output and state back as they were at the checkpoint; gives the state's bytes.
async fn restore(
    control: &AttemptControl,
    claimed: &Claimed,
    folder: &AttemptFolder,
) -> Result<Vec<u8>, StageError> {
    if claimed.authorized.spec.command.is_some() {
        folder.make()?;
    }
    let Some(checkpoint) = &claimed.authorized.checkpoint else { return Ok(Vec::new()) };
    let manifest = Manifest::decode(&read_document(&control.session, &checkpoint.manifest).await?)?;
    if !manifest.entries.is_empty() {
        folder.make()?;
        control.sealing.lock().await.output.restore(&manifest).await?;
    }
    read_document(&control.session, &checkpoint.state).await
}

/// An error with its causes, for people.
#[must_use]
pub fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Gives the lease back and lets everyone look at the job again.
#[doc(alias = "ReleaseLease")]
async fn release(session: &Session, control: &AttemptControl, reported: Reported) {
    let (job, attempt) = (control.job(), control.attempt());
    let held = session.held.remove_lease(attempt);
    let request =
        ReleaseLease { job, attempt, judged: reported.mark.map(Judged::durable).into_iter().collect() };
    let (sent, at) = session.send();
    let answer = sent.of(session.rooms.coordination.release_lease(&at, &[request])).await;
    if held.is_some_and(|held| held.epoch != at.epoch) {
        let _ = sent.of(session.rooms.coordination.settle(&at, &[attempt])).await;
    }
    if let Err(fault) = answer {
        // Its age ends it, or the cleaner does.
        tracing::debug!(%job, error = %fault, "cannot release a lease");
    }
    if reported.changed {
        let _ = session.rooms.coordination.nudge(&[job]).await;
    }
}
