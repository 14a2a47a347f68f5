//! A story as a table: who did what, when.

use std::fmt::Write as _;

use protocol::{Event, Outcome as Came, Room};

use crate::record::Happened;
use crate::run::Outcome;

impl Outcome {
    /// The whole story, a line for each thing.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (at, happened) in &self.story {
            let (who, what) = match happened {
                Happened::Fate(text) => ("fate".to_owned(), text.clone()),
                Happened::Event(event) => (self.who(event), self.what(event)),
            };
            // A string takes whatever is written.
            let _ = writeln!(table, "{:>9.3} s  {who:<12}  {what}", at.as_secs_f64());
        }
        table
    }

    /// One event, in a line.
    pub(crate) fn line(&self, event: &Event) -> String {
        format!("{}: {}", self.who(event), self.what(event))
    }

    fn who(&self, event: &Event) -> String {
        let actor = self.names.get(&event.actor).cloned();
        actor.unwrap_or_else(|| match event.actor {
            actor if actor.0 == 0 => "store".to_owned(),
            actor => actor.to_string(),
        })
    }

    fn what(&self, event: &Event) -> String {
        let mut what = event.action.spec_name().to_owned();
        if let Some(number) = event.job.and_then(|job| self.jobs.get(&job)) {
            let _ = write!(what, " job {number}");
        }
        if let Some(token) = event.token {
            let _ = write!(what, " token {token}");
        }
        if let Some(progress) = event.detail.progress {
            let _ = write!(what, " progress {progress}");
        }
        if let Came::Refused(guard) = event.outcome {
            let _ = write!(what, ": refused, {guard}");
        } else if event.room == Room::Durable
            && let Some(phase) = event.detail.phase_after
        {
            let _ = write!(what, " -> {}", phase.name());
        }
        if event.answered_before.is_some() && matches!(event.room, Room::Durable | Room::Coordination) {
            what.push_str(" (a late copy)");
        }
        if event.epoch > 0 {
            let _ = write!(what, " (epoch {}, {})", event.epoch, event.order);
        }
        what
    }
}
