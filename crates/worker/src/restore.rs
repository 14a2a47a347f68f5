//! After a loss: adopting the new epoch and putting leases back (protocol rule 9).

use std::sync::atomic::Ordering;

use coordination::{ReleaseLease, RestoreLease};
use durable::AttemptOf;
use protocol::{Fault, Guard, Judged, Phase, Step};

use crate::control::Stop;
use crate::held::HeldLease;
use crate::session::{Rooms, Session};

/// Adopts the durable room's epoch once coordination has it, too. Raising and repairing is the agents' work.
pub(crate) async fn adopt_epoch(session: &Session, rooms: &Rooms) -> Result<bool, Fault> {
    let durable = rooms.durable.pool().await?;
    let coordination = rooms.coordination.pool().await?;
    // A pool of another installation may be in an epoch of the same number.
    let is_ours = coordination.installation.is_none_or(|whose| whose == durable.installation);
    if durable.epoch != coordination.mark.epoch || !is_ours {
        return Ok(false);
    }
    session.set_lease_ms(durable.lease_ms);
    session.epoch.store(durable.epoch, Ordering::Release);
    // Windows known from before wake nobody when they are filled again: whoever was refused as stale asks anew.
    session.window_filled.notify_one();
    Ok(true)
}

/// Puts the leases of attempts that still have authority into the current epoch.
#[doc(alias = "RestoreLease")]
pub(crate) async fn restore_leases(
    session: &Session,
    rooms: &Rooms,
    leases: &[HeldLease],
) -> Result<(), Fault> {
    if leases.is_empty() {
        return Ok(());
    }
    let attempts: Vec<_> =
        leases.iter().map(|lease| AttemptOf { job: lease.job, attempt: lease.attempt }).collect();
    let reads = rooms.durable.authority(&attempts).await?;
    let mut batch = Vec::new();
    let mut restoring = Vec::new();
    for (lease, read) in leases.iter().zip(reads) {
        if !read.holds {
            lease.stop(Stop::LeaseLost);
            continue;
        }
        // It may have ended while its authority was read: nobody would give that lease back.
        if !session.held.goes_on(lease.attempt) {
            continue;
        }
        if read.phase == Some(Phase::Cancelling) {
            lease.stop(Stop::Cancel);
        }
        batch.push(RestoreLease {
            job: lease.job,
            attempt: lease.attempt,
            token: lease.token,
            worker: session.options.incarnation,
            judged: vec![Judged::durable(read.mark)],
        });
        restoring.push(lease);
    }
    if batch.is_empty() {
        return Ok(());
    }
    let (sent, at) = session.send();
    let sent_at = session.runtime.clock.boottime();
    let answers = sent.of(rooms.coordination.restore_lease(&at, &batch)).await?;
    for (lease, answer) in restoring.iter().zip(answers) {
        match answer.step {
            // It ended meanwhile, and gave back what was not there yet.
            Step::Taken(_) if !session.held.has_lease(lease.attempt) => {
                give_back(session, rooms, lease).await?
            }
            Step::Taken(restored) => {
                tracing::info!(job = %lease.job, attempt = %lease.attempt, epoch = at.epoch, "restored a lease");
                session.held.extend(lease.attempt, at.epoch, Session::deadline(sent_at, restored.lease_ms));
            }
            // A place may become free, or the epoch be learned, before its deadline.
            Step::Refused(Guard::GlobalLimit | Guard::Stale) => {}
            Step::Refused(_) | Step::SetAside(_) => lease.stop(Stop::LeaseLost),
        }
    }
    Ok(())
}

async fn give_back(session: &Session, rooms: &Rooms, lease: &HeldLease) -> Result<(), Fault> {
    let (sent, at) = session.send();
    let request = ReleaseLease { job: lease.job, attempt: lease.attempt, judged: Vec::new() };
    sent.of(rooms.coordination.release_lease(&at, &[request])).await.map(drop)
}
