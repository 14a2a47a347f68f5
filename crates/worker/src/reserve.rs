//! Asking for work: only while own slots are free (`Reserve`'s local conjunct).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coordination::{HandBack, Reserve, Wake};
use protocol::{Fault, Guard, Step, Window, limit};
use tokio::sync::broadcast;

use crate::attempt;
use crate::session::Session;

/// What a request for work came to.
enum Asked {
    /// Jobs were given; there may be more.
    Given,
    /// Nothing now; look again after a wake-up.
    Nothing,
}

/// Takes and starts jobs until the worker is drained and nothing of it runs any more.
pub(crate) async fn run(session: &Arc<Session>) {
    let mut wakes = session.rooms.coordination.wakes();
    let mut turn = 0;
    while !session.is_draining() {
        if session.free.load(Ordering::Acquire) == 0 {
            session.slot_freed.notified().await;
            continue;
        }
        match ask(session, &mut turn).await {
            Ok(Asked::Given) => {}
            Ok(Asked::Nothing) => wait_for_work(session, &mut wakes).await,
            Err(fault) => {
                tracing::debug!(error = %fault, "cannot ask for work");
                session.runtime.clock.sleep(Duration::from_millis(200)).await;
            }
        }
    }
    while session.busy() > 0 {
        session.slot_freed.notified().await;
    }
}

async fn wait_for_work(session: &Session, wakes: &mut broadcast::Receiver<Wake>) {
    let spread = session.runtime.rng.next_u64() % 500;
    let poll = session.options.poll + Duration::from_millis(spread);
    let served = session.registration();
    let woken = async {
        loop {
            match wakes.recv().await {
                Ok(Wake::Queued(window)) if served.serves(&window) => session.window_has_entries(window),
                Ok(Wake::Freed | Wake::Epoch) => return,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    };
    let mut draining = session.draining.subscribe();
    let drained = async { drop(draining.wait_for(|draining| *draining).await) };
    tokio::select! {
        biased;
        () = woken => {}
        () = session.window_filled.notified() => {}
        // With nothing to do, a look at what workers that died since have left on this disk.
        () = session.runtime.clock.sleep(poll) => session.folder.remove_abandoned(session.runtime.spawner.as_ref()).await,
        () = drained => {}
    }
}

/// At most so many windows of those known, going round.
fn some_windows(session: &Session, turn: &mut usize) -> Vec<Window> {
    let mut windows = session.windows();
    let count = windows.len();
    if count > limit::RESERVE_WINDOWS {
        windows.rotate_left(*turn % count);
        windows.truncate(limit::RESERVE_WINDOWS);
        *turn = turn.wrapping_add(limit::RESERVE_WINDOWS);
    }
    windows
}

async fn ask(session: &Arc<Session>, turn: &mut usize) -> Result<Asked, Fault> {
    let windows = some_windows(session, turn);
    if windows.is_empty() || session.epoch.load(Ordering::Acquire) == 0 {
        return Ok(Asked::Nothing);
    }
    let free = session.free.load(Ordering::Acquire);
    let worker = session.options.incarnation;
    let reservations = (0..free).map(|_| session.runtime.new_reservation_id()).collect();
    let request = Reserve { worker, reservations, windows };
    session.windows_are_empty(&request.windows);
    let sent = session.caller.send();
    let answers = session
        .until_answered(
            || session.is_draining(),
            || async {
                let at = session.at(&sent);
                Ok((at.epoch, sent.of(session.rooms.coordination.reserve(&at, &request)).await?))
            },
        )
        .await;
    let (epoch, answers) = match answers {
        Ok(answers) => answers,
        Err(fault) => {
            session.windows_may_have_entries(request.windows);
            return Err(fault);
        }
    };
    let mut given = false;
    let mut none_queued = false;
    for answer in answers {
        match answer.step {
            Step::Taken(reserved) => {
                given = true;
                session.take_slot();
                session.held.add_reservation(HandBack {
                    job: reserved.job,
                    reservation: reserved.reservation,
                    worker,
                });
                attempt::start(session, attempt::Ticket { reserved, epoch, mark: answer.mark });
            }
            Step::Refused(Guard::Stale) => session.keeper_wanted.notify_one(),
            Step::Refused(Guard::Queued) => none_queued = true,
            Step::Refused(_) | Step::SetAside(_) => {}
        }
    }
    if !none_queued {
        // Something may be left in any of them: the pool was full, paused, opening, or gave all it was asked.
        session.windows_may_have_entries(request.windows);
    }
    Ok(if given { Asked::Given } else { Asked::Nothing })
}
