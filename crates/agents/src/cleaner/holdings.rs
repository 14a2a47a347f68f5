//! What coordination holds of jobs that do not need it any more.

use coordination::{CleanTerminal, Holding, ReleaseLease, ReleaseReservation};
use durable::PhaseRead;
use protocol::{Fault, JobId, Judged, Phase};

use super::Cleaner;
use crate::ground::{Asking, taken};

const PAGE: usize = 500;

/// What is to be given back.
#[derive(Default)]
struct Leftovers {
    leases: Vec<ReleaseLease>,
    reservations: Vec<ReleaseReservation>,
    terminal: Vec<CleanTerminal>,
}

impl Leftovers {
    fn judge(&mut self, holding: &Holding, read: &PhaseRead) {
        let judged = vec![Judged::durable(read.mark)];
        let job = holding.job;
        for lease in holding.leases.iter().filter(|lease| read.attempt != Some(lease.attempt)) {
            self.leases.push(ReleaseLease { job, attempt: lease.attempt, judged: judged.clone() });
        }
        let useless = read.phase.is_terminal() || read.phase == Phase::Cancelling;
        if let Some((reservation, _)) = holding.reservation.filter(|_| useless) {
            self.reservations.push(ReleaseReservation { job, reservation, judged: judged.clone() });
        }
        let rest = holding.notice || holding.progress;
        if read.phase.is_terminal() && holding.leases.is_empty() && rest {
            self.terminal.push(CleanTerminal { job, judged });
        }
    }
}

impl Cleaner {
    #[doc(alias = "ReleaseLease")]
    #[doc(alias = "ReleaseReservation")]
    pub(super) async fn clean_holdings(&self) -> Result<u64, Fault> {
        let mut given_back = 0;
        let mut after: Option<JobId> = None;
        loop {
            let seen = self.ground.seen();
            let page = self.ground.rooms.coordination.holdings(after, PAGE).await?;
            if self.ground.check_old(seen, page.mark) || page.jobs.is_empty() {
                return Ok(given_back);
            }
            let jobs: Vec<JobId> = page.jobs.iter().map(|holding| holding.job).collect();
            let phases = self.ground.rooms.durable.phases(&jobs).await?;
            let mut leftovers = Leftovers::default();
            for (holding, read) in page.jobs.iter().zip(&phases) {
                if let Some(read) = read {
                    leftovers.judge(holding, read);
                }
            }
            given_back += self.give_back(leftovers).await?;
            after = jobs.last().copied();
            if !page.more {
                return Ok(given_back);
            }
        }
    }

    async fn give_back(&self, leftovers: Leftovers) -> Result<u64, Fault> {
        let Some(Asking { sent, at, seen }) = self.ground.send_at() else { return Ok(0) };
        let room = &self.ground.rooms.coordination;
        let mut answers = Vec::new();
        if !leftovers.leases.is_empty() {
            answers.extend(sent.of(room.release_lease(&at, &leftovers.leases)).await?);
        }
        if !leftovers.reservations.is_empty() {
            answers.extend(sent.of(room.release_reservation(&at, &leftovers.reservations)).await?);
        }
        if !leftovers.terminal.is_empty() {
            answers.extend(sent.of(room.clean_terminal_coordination(&at, &leftovers.terminal)).await?);
        }
        self.ground.check_stale(seen, &answers);
        Ok(taken(&answers))
    }
}
