//! The course of a world: what clients ask for, what fate does, and the calm after it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use durable::{RequestCancel, Submit};
use protocol::{FaultKind, JobId, Step};
use runtime::{Caller, Runtime};
use worker::Rooms;

use crate::core::WORLD;
use crate::jobs::JobPlan;
use crate::link::Service;
use crate::plan::{Stroke, TROUBLE, Who};
use crate::world::World;

/// Within this time after fate has ended, all must be over and nothing be left.
const PATIENCE: Duration = Duration::from_secs(400);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// A person, or a program of theirs.
struct Client {
    rooms: Rooms,
    caller: Caller,
    runtime: Runtime,
}

impl World {
    /// From the beginning to the end; what is wrong at the end.
    pub(crate) async fn live(self: Arc<Self>) {
        for who in self.everybody() {
            self.start(who);
        }
        let runtime = self.runtime(&self.client, WORLD, 4_711);
        let caller = Caller::new(runtime.new_actor_id());
        self.name(caller.actor(), "client".to_owned());
        let client = Arc::new(Client { rooms: self.rooms(&self.client, WORLD), caller, runtime });
        for job in self.plan.jobs.iter().cloned() {
            let (world, client) = (Arc::clone(&self), Arc::clone(&client));
            self.spawn(Box::pin(async move { world.ask(&client, job).await }));
        }
        for (number, at, stroke) in self.plan.strokes.clone() {
            let world = Arc::clone(&self);
            self.spawn(Box::pin(async move { world.strike(number, at, stroke).await }));
        }
        self.core.sleep(TROUBLE).await;
        self.calm();
        let bound = self.core.now() + PATIENCE;
        loop {
            self.core.sleep(LOOK).await;
            let left = self.left();
            if left.is_empty() || !self.record.found().is_empty() {
                break;
            }
            if self.core.now() > bound {
                self.record
                    .wrong(format!("{PATIENCE:?} after all trouble there is left: {}", left.join(", ")));
                return;
            }
        }
        self.leave().await;
    }

    /// All trouble ends.
    fn calm(self: &Arc<Self>) {
        self.record.fate("all trouble ends");
        self.network.calm();
        for who in self.everybody() {
            let machine = self.machine(who);
            Service::ALL.iter().for_each(|service| machine.wire(*service).heal());
            if let Some((domain, _)) = machine.domain() {
                self.core.thaw(domain);
            }
            self.start(who);
        }
    }

    /// At the end every worker leaves as it would on SIGTERM, and takes its folders along.
    async fn leave(&self) {
        for number in 0..self.workers.len() {
            self.drain(number);
        }
        self.core.sleep(Duration::from_millis(250)).await;
        if self.executing.count() > 0 {
            self.record.wrong("something executes when all is over");
        }
    }

    async fn ask(&self, client: &Client, job: JobPlan) {
        self.core.sleep(job.submit_at).await;
        let id = client.runtime.new_job_id();
        let submit = Submit { job: id, spec: job.spec(), retry_of: None };
        let sent = client.caller.send();
        loop {
            let answer =
                sent.of(client.rooms.durable.submit(&sent.origin, std::slice::from_ref(&submit))).await;
            match answer.as_deref() {
                Ok([answer]) if matches!(answer.step, Step::Taken(_)) => break,
                Ok(_) => return self.record.wrong(format!("job {} was not accepted", job.number)),
                Err(fault) if fault.kind == FaultKind::Corrupt => {
                    return self.record.wrong(format!("job {}: {fault}", job.number));
                }
                Err(_) => self.core.sleep(Duration::from_millis(200)).await,
            }
        }
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner).insert(job.number, id);
        // A hint only.
        let _ = client.rooms.coordination.nudge(&[id]).await;
        if let Some(after) = job.cancel_after {
            self.core.sleep(after).await;
            self.cancel(client, id).await;
        }
    }

    async fn cancel(&self, client: &Client, job: JobId) {
        let sent = client.caller.send();
        loop {
            let answer =
                sent.of(client.rooms.durable.request_cancel(&sent.origin, &[RequestCancel { job }])).await;
            match answer.as_deref() {
                Ok([answer]) => {
                    if matches!(answer.step, Step::Taken(_)) {
                        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
                    }
                    break;
                }
                _ => self.core.sleep(Duration::from_millis(200)).await,
            }
        }
        let _ = client.rooms.coordination.nudge(&[job]).await;
    }

    async fn strike(self: Arc<Self>, number: usize, at: Duration, stroke: Stroke) {
        if let Stroke::Restore { age } = stroke {
            return self.restore(number, at, age).await;
        }
        self.core.sleep(at).await;
        self.record.fate(format!("[{number}] {stroke}"));
        match stroke {
            Stroke::Crash { who, down } => {
                if self.kill(who) {
                    self.core.sleep(down).await;
                    self.start(who);
                }
            }
            Stroke::Freeze { who, long, clock_stops } => self.freeze(who, long, clock_stops).await,
            Stroke::FreezeAt { worker, point, long } => {
                self.record.arm(worker, point).notified().await;
                self.freeze(Who::Worker(worker), long, false).await;
            }
            Stroke::HoldAt { worker, point, long } => {
                self.record.arm(worker, point).notified().await;
                let until = (self.core.now() + long).min(TROUBLE);
                self.record.fate(format!("what worker {worker} says and hears stays on its way"));
                for service in Service::ALL {
                    self.workers[worker].wire(service).hold(until);
                }
            }
            Stroke::LoseUnseen { worker, long } => {
                self.workers[worker].wire(Service::Coordination).cut(self.core.now() + long, false);
                self.coordination.lose();
            }
            Stroke::Cut { who, service, long, closed } => {
                self.machine(who).wire(service).cut(self.core.now() + long, closed);
            }
            Stroke::Slow { who, long, ms } => {
                Service::ALL.iter().for_each(|service| self.machine(who).wire(*service).slow(ms));
                self.core.sleep(long).await;
                Service::ALL.iter().for_each(|service| self.machine(who).wire(*service).slow(0));
            }
            Stroke::Lose { again } => {
                self.coordination.lose();
                if let Some(after) = again {
                    self.core.sleep(after).await;
                    self.record.fate(format!("[{number}] once more"));
                    self.coordination.lose();
                }
            }
            Stroke::Drain { worker } => self.drain(worker),
            Stroke::StepWall { worker, ms } => self.workers[worker].clock.step_wall(ms),
            Stroke::StepDurable { ms } => self
                .durable_step_ms
                .store(self.durable_step_ms.load(Ordering::Relaxed) + ms, Ordering::Relaxed),
            Stroke::StepCoordination { ms } => self
                .coordination_step_ms
                .store(self.coordination_step_ms.load(Ordering::Relaxed) + ms, Ordering::Relaxed),
            Stroke::Restore { .. } => {}
        }
    }

    async fn freeze(&self, who: Who, long: Duration, clock_stops: bool) {
        let machine = self.machine(who);
        let Some((domain, start)) = machine.domain() else { return };
        if self.core.now() >= TROUBLE {
            return;
        }
        self.record.fate(format!("{who} stops"));
        if let Who::Worker(worker) = who {
            self.executing.froze((worker, start));
        }
        self.core.freeze(domain);
        self.core.sleep(long.min(TROUBLE.saturating_sub(self.core.now()))).await;
        if clock_stops {
            machine.clock.stood(long);
        }
        self.record.fate(format!("{who} goes on"));
        self.core.thaw(domain);
    }

    async fn restore(&self, number: usize, at: Duration, age: Duration) {
        self.core.sleep(at.saturating_sub(age)).await;
        let old = self.coordination.snapshot();
        self.core.sleep(age.min(at)).await;
        self.record.fate(format!("[{number}] {}", Stroke::Restore { age }));
        self.record.restored();
        self.coordination.restore(&old);
    }
}
