//! The lease keeper: renews leases and reservations every third of a lease, and stops the work of a lease
//! whose deadline has passed, first, and asks later (protocol rule 8).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coordination::{HandBack, RenewLease};
use protocol::{Fault, Guard, Step, told};

use crate::control::Stop;
use crate::held::HeldLease;
use crate::restore;
use crate::session::{Rooms, Session};

/// How long a worker that holds nothing waits for a store before it leaves.
const COURTESY: Duration = Duration::from_secs(1);

/// Runs until the worker has finished.
pub(crate) async fn run(session: Arc<Session>, rooms: Rooms) {
    tokio::select! {
        biased;
        () = renew_for_ever(&session, &rooms) => forget(&session, &rooms).await,
        () = enforce_deadlines(&session) => {}
        () = watch_epoch(&session, &rooms) => {}
    }
}

/// Answers a wake-up that the epoch changed before the next renewal would notice.
async fn watch_epoch(session: &Session, rooms: &Rooms) {
    let mut wakes = rooms.coordination.wakes();
    loop {
        match wakes.recv().await {
            Ok(coordination::Wake::Epoch) => session.keeper_wanted.notify_one(),
            Ok(coordination::Wake::CancelNotice(job)) => {
                for lease in session.held.leases().iter().filter(|lease| lease.job == job) {
                    lease.stop(Stop::Cancel);
                }
            }
            Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
            Err(tokio::sync::broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn renew_for_ever(session: &Session, rooms: &Rooms) {
    loop {
        let round = tokio::select! {
            biased;
            round = round(session, rooms) => round,
            () = overstayed(session) => return,
        };
        let again = match round {
            Ok(true) => session.lease() / 3,
            Ok(false) => session.lease() / 30,
            Err(fault) => {
                // Whoever opened the rooms tells of a store that is away.
                tracing::debug!(error = %told(&fault), "nothing is taken, and leases are not renewed");
                session.lease() / 20
            }
        };
        if session.is_finished() {
            return;
        }
        tokio::select! {
            biased;
            () = session.runtime.clock.sleep(again) => {}
            () = session.keeper_wanted.notified() => {}
        }
    }
}

/// Returns a moment after the worker has finished: a request that was under way then may still be answered, so that what
/// comes after it is the last that is heard of this worker.
async fn overstayed(session: &Session) {
    session.finished().await;
    session.runtime.clock.sleep(COURTESY).await;
}

/// One round over everything held; false when the epoch has to be learned first.
async fn round(session: &Session, rooms: &Rooms) -> Result<bool, Fault> {
    if session.epoch.load(Ordering::Acquire) == 0 && !restore::adopt_epoch(session, rooms).await? {
        return Ok(false);
    }
    if !register(session, rooms).await? {
        session.epoch.store(0, Ordering::Release);
        return Ok(restore::adopt_epoch(session, rooms).await? && register(session, rooms).await?);
    }
    renew_reservations(session, rooms).await?;
    let epoch = session.epoch.load(Ordering::Acquire);
    let (current, older): (Vec<_>, Vec<_>) =
        session.held.kept().into_iter().partition(|lease| lease.epoch == epoch);
    let renewed = renew_leases(session, rooms, &current).await?;
    restore::restore_leases(session, rooms, &older).await?;
    Ok(renewed)
}

/// Whoever registers forgets, too: nothing of it comes after. A courtesy: it would be forgotten after two lease lengths.
async fn forget(session: &Session, rooms: &Rooms) {
    let (sent, at) = session.send();
    tokio::select! {
        biased;
        _ = sent.of(rooms.coordination.deregister(&at, session.options.incarnation)) => {}
        () = session.runtime.clock.sleep(COURTESY) => {}
    }
}

/// Says that this worker lives; false when the epoch is another one.
async fn register(session: &Session, rooms: &Rooms) -> Result<bool, Fault> {
    let (sent, at) = session.send();
    match sent.of(rooms.coordination.register(&at, &session.registration())).await?.step {
        Step::Taken(registered) => {
            session.set_lease_ms(registered.lease_ms);
            registered.windows.into_iter().for_each(|window| session.window_has_entries(window));
            if registered.drain && !session.is_draining() {
                tracing::info!("draining, as somebody asked: no new jobs; what runs gets notice");
                session.drain();
            }
            Ok(true)
        }
        Step::Refused(_) | Step::SetAside(_) => Ok(false),
    }
}

async fn renew_reservations(session: &Session, rooms: &Rooms) -> Result<(), Fault> {
    let held: Vec<HandBack> = session.held.reservations();
    if held.is_empty() {
        return Ok(());
    }
    let (sent, at) = session.send();
    // A reservation that is gone is noticed by the claim or the activation that names it.
    sent.of(rooms.coordination.renew_reservation(&at, &held)).await.map(drop)
}

async fn renew_leases(session: &Session, rooms: &Rooms, leases: &[HeldLease]) -> Result<bool, Fault> {
    if leases.is_empty() {
        return Ok(true);
    }
    let worker = session.options.incarnation;
    let batch: Vec<_> =
        leases.iter().map(|lease| RenewLease { job: lease.job, attempt: lease.attempt, worker }).collect();
    let (sent, at) = session.send();
    let sent_at = session.runtime.clock.boottime();
    let answers = sent.of(rooms.coordination.renew_lease(&at, &batch)).await?;
    for (lease, answer) in leases.iter().zip(answers) {
        match answer.step {
            Step::Taken(renewed) => {
                session.set_lease_ms(renewed.lease_ms);
                session.held.extend(lease.attempt, at.epoch, Session::deadline(sent_at, renewed.lease_ms));
                if renewed.cancel_notice {
                    lease.stop(Stop::Cancel);
                }
            }
            Step::Refused(Guard::Stale) => {
                session.epoch.store(0, Ordering::Release);
                return Ok(false);
            }
            Step::Refused(_) | Step::SetAside(_) => lease.stop(Stop::LeaseLost),
        }
    }
    Ok(true)
}

/// Stops the work of leases whose deadline has passed. Separate from renewing, which may be waiting.
#[doc(alias = "CooperativeStop")]
async fn enforce_deadlines(session: &Session) {
    const LOOK: Duration = Duration::from_millis(50);
    loop {
        let now = session.runtime.clock.boottime();
        let mut next = session.lease() / 10;
        for lease in session.held.leases() {
            match lease.deadline.borrow().checked_sub(now) {
                Some(rest) if !rest.is_zero() => next = next.min(rest),
                _ => lease.stop(Stop::LeaseLost),
            }
        }
        session.runtime.clock.sleep(next.max(LOOK)).await;
    }
}

/// Gives one reservation back after a refused claim.
#[doc(alias = "ClaimRefused")]
pub(crate) async fn claim_refused(session: &Session, hand_back: HandBack) {
    session.held.remove_reservation(hand_back.reservation);
    let sent = session.caller.send();
    let ask = || async {
        let at = session.at(&sent);
        sent.of(session.rooms.coordination.claim_refused(&at, &[hand_back])).await
    };
    let answer = session.until_one_answered(|| session.is_draining(), "hand a reservation back", ask).await;
    if let Err(fault) = answer {
        // Its deadline takes it back.
        tracing::debug!(error = %fault, "cannot hand a reservation back");
    }
}
