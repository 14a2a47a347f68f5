//! What happens on the demo's stage, and what Remora answers.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use coordination::WorkerView;
use durable::JobView;
use indicatif::{ProgressBar, ProgressStyle};
use protocol::{AttemptId, FailureCause, JobId, Phase, Verdict};
use remora::Client;

use super::LEASE;
use super::base::Base;
use crate::failure::Failure;
use crate::printer::Printer;
use rustix_signal::{Sent, send};

/// When each thing is done, after the start.
const KILL_AT: Duration = Duration::from_secs(5);
const FREEZE_AT: Duration = Duration::from_secs(12);
const LOSE_AT: Duration = Duration::from_secs(22);
const LOOK: Duration = Duration::from_millis(250);

/// Signals to worker processes.
mod rustix_signal {
    use rustix::process::{Pid, Signal, kill_process};

    /// Which signal.
    #[derive(Clone, Copy)]
    pub(super) enum Sent {
        Kill,
        Stop,
        Continue,
    }

    pub(super) fn send(pid: u32, signal: Sent) {
        let signal = match signal {
            Sent::Kill => Signal::KILL,
            Sent::Stop => Signal::STOP,
            Sent::Continue => Signal::CONT,
        };
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // A worker that has gone needs no signal.
            let _ = kill_process(pid, signal);
        }
    }
}

/// A worker that was frozen; thawed when dropped, so that no way out leaves one behind.
struct Frozen {
    pid: u32,
    name: String,
    until: Instant,
}

impl Drop for Frozen {
    fn drop(&mut self) {
        send(self.pid, Sent::Continue);
    }
}

pub(super) struct Stage<'demo> {
    base: &'demo Base,
    client: &'demo Client,
    jobs: &'demo [JobId],
    printer: &'demo Printer,
    bar: ProgressBar,
    began: Instant,
    /// Lost attempts told already, and attempts that went on after one.
    revoked: BTreeSet<AttemptId>,
    resumed: BTreeSet<AttemptId>,
    /// When coordination was lost and how many attempts there had been, until its repair is told.
    lost_at: Option<(Instant, usize)>,
}

impl<'demo> Stage<'demo> {
    pub(super) fn new(base: &'demo Base, jobs: &'demo [JobId], printer: &'demo Printer, steps: u64) -> Self {
        let bar = printer.bar();
        bar.set_length(steps);
        if let Ok(style) =
            ProgressStyle::with_template("{spinner:.cyan} {bar:30.cyan/dim} {pos}/{len} files  {msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self {
            base,
            client: &base.client,
            jobs,
            printer,
            bar,
            began: Instant::now(),
            revoked: BTreeSet::new(),
            resumed: BTreeSet::new(),
            lost_at: None,
        }
    }

    /// Plays to the end; gives the jobs as they ended.
    pub(super) async fn play(mut self) -> Result<Vec<JobView>, Failure> {
        let mut frozen: Option<Frozen> = None;
        let mut done = (false, false, false);
        loop {
            let views = self.views().await?;
            self.show(&views);
            self.tell_ends(&views);
            self.tell_repair(&views).await?;
            let ended = views.iter().all(|view| view.summary.phase.is_terminal());
            let now = self.began.elapsed();
            if frozen.as_ref().is_some_and(|frozen| Instant::now() >= frozen.until) {
                self.thaw(&mut frozen);
            }
            if ended && frozen.is_none() {
                self.bar.finish_and_clear();
                return Ok(views);
            }
            if !done.0 && now >= KILL_AT {
                done.0 = self.kill().await?;
            } else if !done.1 && now >= FREEZE_AT {
                frozen = self.freeze().await?;
                done.1 = frozen.is_some();
            } else if !done.2 && now >= LOSE_AT {
                self.lose(&views).await?;
                self.lost_at = Some((Instant::now(), attempts(&views)));
                done.2 = true;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn views(&self) -> Result<Vec<JobView>, Failure> {
        let room = self.client.durable();
        let mut views = Vec::with_capacity(self.jobs.len());
        for job in self.jobs {
            views.extend(room.job(*job).await?);
        }
        Ok(views)
    }

    fn show(&self, views: &[JobView]) {
        let steps = views
            .iter()
            .filter_map(|view| view.summary.progress.as_ref())
            .map(|progress| progress.done)
            .sum();
        self.bar.set_position(steps);
        let count = |phase| views.iter().filter(|view| view.summary.phase == phase).count();
        self.bar.set_message(format!(
            "{} running, {} published of {}",
            count(Phase::Running),
            count(Phase::Succeeded),
            views.len()
        ));
    }

    fn say(&self, colour: &str, text: &str) {
        let stamp = self.printer.paint(&format!("{:>5.1}s", self.began.elapsed().as_secs_f32()), "2");
        self.bar.suspend(|| self.printer.remark(&format!("{stamp}  {}", self.printer.paint(text, colour))));
    }

    /// What became of attempts that were lost.
    fn tell_ends(&mut self, views: &[JobView]) {
        let lost = Some(Verdict::Failed(FailureCause::Lost));
        let mut revoked = 0;
        let mut resumed = Vec::new();
        for attempt in views.iter().flat_map(|view| &view.attempts) {
            if attempt.verdict == lost && self.revoked.insert(attempt.attempt) {
                revoked += 1;
            }
            if attempt.token.0 > 1 && self.resumed.insert(attempt.attempt) {
                resumed.push(attempt.resumed_from);
            }
        }
        if revoked > 0 {
            self.say("33", &format!("the leases of {} ended: the attempts are revoked", jobs(revoked)));
        }
        if let (Some(fewest), Some(most)) = (resumed.iter().min(), resumed.iter().max()) {
            let from = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
            self.say(
                "32",
                &format!("↻ {} on from the last checkpoint, after {from} files each", go(resumed.len())),
            );
        }
    }

    /// The store's repair, once it is open and every running attempt has its lease back.
    async fn tell_repair(&mut self, views: &[JobView]) -> Result<(), Failure> {
        let Some((lost_at, attempts_before)) = self.lost_at else { return Ok(()) };
        let pool = self.client.coordination().pool().await?;
        let running = views.iter().filter(|view| view.summary.phase == Phase::Running).count();
        if pool.open && pool.unaccounted == 0 && pool.leases >= running {
            self.lost_at = None;
            let took = lost_at.elapsed().as_secs_f32();
            let spent = match attempts(views) - attempts_before {
                0 => "no attempt was spent".to_owned(),
                more => format!("{more} more attempts were made meanwhile"),
            };
            let text = format!(
                "✓ rebuilt within {took:.1} s as epoch {}: {} leases are back, {spent}",
                pool.mark.epoch, pool.leases
            );
            self.say("32", &text);
        }
        Ok(())
    }

    /// The worker with the most to lose, frozen ones left out.
    async fn busiest(&self) -> Result<Option<WorkerView>, Failure> {
        let workers = self.client.workers().await?;
        let living = workers.into_iter().filter(|worker| worker.seen_ms_ago < 1_500);
        Ok(living.filter(|worker| !worker.attempts.is_empty()).max_by_key(|worker| worker.attempts.len()))
    }

    async fn kill(&self) -> Result<bool, Failure> {
        let Some(worker) = self.busiest().await? else { return Ok(false) };
        self.say(
            "31;1",
            &format!(
                "✗ SIGKILL for worker {} (pid {}), which runs {}",
                worker.registration.name,
                worker.registration.pid,
                jobs(worker.attempts.len())
            ),
        );
        send(worker.registration.pid, Sent::Kill);
        self.say("2", "its programs die with it; a new incarnation starts at once; its leases end in 3 s");
        Ok(true)
    }

    async fn freeze(&self) -> Result<Option<Frozen>, Failure> {
        let Some(worker) = self.busiest().await? else { return Ok(None) };
        let name = worker.registration.name.clone();
        self.say(
            "34;1",
            &format!(
                "❄ SIGSTOP for worker {name} (pid {}) for two lease lengths, while it runs {}",
                worker.registration.pid,
                jobs(worker.attempts.len())
            ),
        );
        send(worker.registration.pid, Sent::Stop);
        self.say("2", "it cannot renew its leases; when it wakes, it may not publish any more");
        Ok(Some(Frozen { pid: worker.registration.pid, name, until: Instant::now() + LEASE * 2 }))
    }

    fn thaw(&self, frozen: &mut Option<Frozen>) {
        if let Some(frozen) = frozen.take() {
            self.say("34;1", &format!("☀ SIGCONT for worker {}: it stops what it ran, whose authority is gone, and takes new work", frozen.name));
        }
    }

    async fn lose(&self, views: &[JobView]) -> Result<(), Failure> {
        let running = views.iter().filter(|view| view.summary.phase == Phase::Running).count();
        self.say("35;1", &format!("∅ the whole coordination store is lost: queue, permits and leases, with {running} jobs running"));
        self.base.lose_coordination().await?;
        self.say("2", "it is rebuilt from the durable store; workers put their leases back and go on");
        Ok(())
    }
}

/// Attempts of all jobs so far.
fn attempts(views: &[JobView]) -> usize {
    views.iter().map(|view| view.attempts.len()).sum()
}

fn jobs(count: usize) -> String {
    if count == 1 { "1 job".to_owned() } else { format!("{count} jobs") }
}

fn go(count: usize) -> String {
    if count == 1 { "1 job goes".to_owned() } else { format!("{count} jobs go") }
}
