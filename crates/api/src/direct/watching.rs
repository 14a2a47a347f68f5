//! Streams of what changes.

use std::time::Duration;

use coordination::Wake;
use futures_util::stream;
use protocol::JobId;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::Direct;
use super::jobs::{job, show_live};
use crate::port::{Answer, Watching};
use crate::v1::{EventName, EventRecord, Problem};

/// Looked at anyway after this time: wake-ups are hints.
const LOOK: Duration = Duration::from_secs(1);
/// An overview at most this often.
const PACE: Duration = Duration::from_millis(250);

type Wakes = Option<broadcast::Receiver<Wake>>;

struct OfJob {
    direct: Direct,
    job: JobId,
    wakes: Wakes,
    told: Option<String>,
    ended: bool,
}

struct OfAll {
    direct: Direct,
    wakes: Wakes,
    told: Option<String>,
    next: Instant,
}

fn away(problem: &Problem) -> EventRecord {
    EventRecord {
        id: "away".to_owned(),
        event: EventName::Away,
        job: None,
        overview: None,
        text: Some(problem.to_string()),
    }
}

/// Waits for a wake-up that may be about the job, or long enough.
async fn woken(wakes: &mut Wakes, about: impl Fn(&Wake) -> bool) {
    let Some(receiver) = wakes else { return sleep(LOOK).await };
    let heard = async {
        loop {
            match receiver.recv().await {
                Ok(wake) if about(&wake) => return,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return,
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    };
    // Either way the next look tells.
    let _ = timeout(LOOK, heard).await;
}

impl OfJob {
    async fn next(mut self) -> Option<(Answer<EventRecord>, Self)> {
        while !self.ended {
            match self.look().await {
                Ok(event) if self.told.as_ref() != Some(&event.id) => {
                    self.told = Some(event.id.clone());
                    self.ended = event.job.as_ref().is_some_and(|job| job.phase.is_terminal());
                    return Some((Ok(event), self));
                }
                Ok(_) => {}
                Err(problem) => {
                    let event = away(&problem);
                    if self.told.as_ref() != Some(&event.id) {
                        self.told = Some(event.id.clone());
                        return Some((Ok(event), self));
                    }
                }
            }
            let id = self.job;
            woken(&mut self.wakes, |wake| match wake {
                Wake::Nudged(jobs) => jobs.contains(&id),
                Wake::Progress(job) | Wake::CancelNotice(job) => *job == id,
                _ => false,
            })
            .await;
        }
        None
    }

    async fn look(&self) -> Answer<EventRecord> {
        let view = self.direct.view(self.job).await?;
        let revision = view.revision;
        let mut shown = job(view.summary);
        if let Some(coordination) = &self.direct.rooms.coordination {
            let live = coordination.progress(&[self.job]).await.ok();
            show_live(&mut shown, live.and_then(|mut live| live.pop().flatten()));
        }
        let progress = shown.progress.as_ref().map_or_else(String::new, |progress| {
            format!("{}.{}", progress.done, progress.message.as_deref().map_or(0, short_hash))
        });
        Ok(EventRecord {
            id: format!("{revision}-{progress}"),
            event: EventName::Job,
            job: Some(shown),
            overview: None,
            text: None,
        })
    }
}

/// FNV-1a: tells one message from the next, in an id that is short.
fn short_hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl OfAll {
    async fn next(mut self) -> Option<(Answer<EventRecord>, Self)> {
        loop {
            sleep_until(self.next).await;
            self.next = Instant::now() + PACE;
            let event = match self.direct.look_over().await {
                Ok(overview) => {
                    // Its moment is no change.
                    let seen = crate::v1::Overview { at: crate::v1::Moment::default(), ..overview.clone() };
                    let id = serde_json::to_string(&seen).map_or(0, |text| short_hash(&text));
                    EventRecord {
                        id: format!("{id:08x}"),
                        event: EventName::Overview,
                        job: None,
                        overview: Some(Box::new(overview)),
                        text: None,
                    }
                }
                Err(problem) => away(&problem),
            };
            if self.told.as_ref() != Some(&event.id) {
                self.told = Some(event.id.clone());
                return Some((Ok(event), self));
            }
            woken(&mut self.wakes, |wake| !matches!(wake, Wake::Progress(_))).await;
        }
    }
}

impl Direct {
    fn wakes(&self) -> Wakes {
        self.rooms.coordination.as_ref().map(|coordination| coordination.wakes())
    }

    pub(super) async fn watch_job(&self, job: JobId) -> Answer<Watching> {
        // Whoever watches a stranger is told at once.
        self.view(job).await?;
        let state = OfJob { direct: self.clone(), job, wakes: self.wakes(), told: None, ended: false };
        Ok(Box::pin(stream::unfold(state, OfJob::next)))
    }

    pub(super) fn watch_all(&self) -> Watching {
        let state = OfAll { direct: self.clone(), wakes: self.wakes(), told: None, next: Instant::now() };
        Box::pin(stream::unfold(state, OfAll::next))
    }
}
