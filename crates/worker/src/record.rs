//! The worker's own events: what it decides in its own memory and writes to the target (protocol §6).

use protocol::{Action, Detail, Event, Judged, Outcome};
use target::StageId;

use crate::session::Session;

impl Session {
    /// Records that an action of the worker's memory or of the target was taken.
    pub(crate) fn record(&self, action: Action, about: Option<StageId>, detail: Detail, judged: Vec<Judged>) {
        if !self.events.is_on() {
            return;
        }
        let sent = self.caller.send();
        self.events.record(Event {
            room: action.room(),
            epoch: 0,
            order: sent.origin.sequence,
            action,
            outcome: Outcome::Taken,
            job: about.map(|about| about.job),
            token: about.map(|about| about.token),
            attempt: about.map(|about| about.attempt),
            actor: sent.origin.actor,
            sequence: sent.origin.sequence,
            sent_after: sent.origin.sent_after,
            answered_before: Some(sent.origin.sequence),
            detail: Detail { worker: Some(self.options.incarnation), ..detail },
            judged,
        });
    }
}
