//! Counts of actions, from the events that rooms and actors record.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use protocol::{Action, Event, EventSink, FailureCause, Guard, Outcome, Phase, Room};

use crate::Of;

type Counts<const N: usize> = Family<Of<N>, Counter>;

/// All that is counted.
pub(crate) struct Counters {
    actions: Counts<2>,
    refusals: Counts<1>,
    ends: Counts<1>,
    failures: Counts<1>,
    publications: Counts<1>,
    fenced: Counter,
    expiries: Counter,
    losses: Counter,
}

const ENDS: [Phase; 3] = [Phase::Succeeded, Phase::Failed, Phase::Cancelled];
const CAUSES: [FailureCause; 6] = [
    FailureCause::Failed,
    FailureCause::TimedOut,
    FailureCause::Drained,
    FailureCause::BadCheckpoint,
    FailureCause::Permanent,
    FailureCause::Lost,
];

fn cause_name(cause: FailureCause) -> &'static str {
    match cause {
        FailureCause::Failed => "failed",
        FailureCause::TimedOut => "timed_out",
        FailureCause::Drained => "drained",
        FailureCause::BadCheckpoint => "bad_checkpoint",
        FailureCause::Permanent => "permanent",
        FailureCause::Lost => "lost",
    }
}

impl Counters {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let counters = Self {
            actions: Family::default(),
            refusals: Family::default(),
            ends: Family::default(),
            failures: Family::default(),
            publications: Family::default(),
            fenced: Counter::default(),
            expiries: Counter::default(),
            losses: Counter::default(),
        };
        counters.begin_at_zero();
        registry.register(
            "actions",
            "Actions of the spec that this process recorded, by action and outcome",
            counters.actions.clone(),
        );
        registry.register(
            "refusals",
            "Actions that were refused, by the guard that was false",
            counters.refusals.clone(),
        );
        registry.register("job_ends", "Jobs that ended, by outcome", counters.ends.clone());
        registry.register("attempt_failures", "Attempts that failed, by cause", counters.failures.clone());
        registry.register(
            "publications",
            "Results that attempts asked to publish, won or lost",
            counters.publications.clone(),
        );
        registry.register(
            "fenced_writes",
            "Writes of attempts without authority that the durable room refused",
            counters.fenced.clone(),
        );
        registry.register("lease_expiries", "Leases that ended by age", counters.expiries.clone());
        registry.register(
            "coordination_losses",
            "Times that this process's coordination room lost its state",
            counters.losses.clone(),
        );
        counters
    }

    /// A rate is right from the first count on only where the series was there before it.
    fn begin_at_zero(&self) {
        for phase in ENDS {
            drop(self.ends.get_or_create(&[("outcome", phase.name())]));
        }
        for cause in CAUSES {
            drop(self.failures.get_or_create(&[("cause", cause_name(cause))]));
        }
        for outcome in ["won", "lost"] {
            drop(self.publications.get_or_create(&[("outcome", outcome)]));
        }
    }

    fn count(&self, event: &Event) {
        let outcome = match event.outcome {
            Outcome::Taken => "taken",
            Outcome::Refused(guard) => {
                self.refusals.get_or_create(&[("guard", guard.name())]).inc();
                "refused"
            }
        };
        self.actions.get_or_create(&[("action", event.action.name()), ("outcome", outcome)]).inc();
        match event.outcome {
            Outcome::Taken => self.count_taken(event),
            Outcome::Refused(guard) => self.count_refused(event, guard),
        }
    }

    fn count_taken(&self, event: &Event) {
        match event.action {
            Action::ExpireLease => drop(self.expiries.inc()),
            Action::LoseCoordinationState => drop(self.losses.inc()),
            Action::AcceptSuccess => drop(self.publications.get_or_create(&[("outcome", "won")]).inc()),
            _ => {}
        }
        if matches!(event.action, Action::AcceptFailure | Action::ReapLostAttempt) {
            let lost = (event.action == Action::ReapLostAttempt).then_some(FailureCause::Lost);
            if let Some(cause) = event.detail.cause.or(lost) {
                self.failures.get_or_create(&[("cause", cause_name(cause))]).inc();
            }
        }
        // The refused answer to an outcome shows the phase that the job had ended in before.
        if event.room == Room::Durable
            && event.action != Action::RejectOutcome
            && let Some(phase) = event.detail.phase_after.filter(|phase| phase.is_terminal())
        {
            self.ends.get_or_create(&[("outcome", phase.name())]).inc();
        }
    }

    fn count_refused(&self, event: &Event, guard: Guard) {
        if event.action == Action::AcceptSuccess {
            self.publications.get_or_create(&[("outcome", "lost")]).inc();
        }
        let writes =
            matches!(event.action, Action::PersistCheckpoint | Action::AcceptSuccess | Action::AcceptFailure);
        if writes && guard == Guard::Authority {
            self.fenced.inc();
        }
    }
}

/// Counts what passes.
pub(crate) struct Counted {
    pub(crate) counters: Arc<Counters>,
    pub(crate) to: Arc<dyn EventSink>,
}

impl EventSink for Counted {
    fn record(&self, event: Event) {
        self.counters.count(&event);
        if self.to.is_on() {
            self.to.record(event);
        }
    }
}
