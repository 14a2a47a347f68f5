//! How long an installation takes to be normal again.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use protocol::AttemptId;

use crate::fleet::{Fault, Fleet, Sight};

/// A claim in this time was under way before the fault.
const UNDER_WAY: Duration = Duration::from_millis(100);
/// So long is waited for a claim when all else is normal.
const CLAIMS: Duration = Duration::from_secs(3);
/// Two looks so far apart tell what lasts from what is under way.
const LASTS: Duration = Duration::from_millis(300);

/// What was seen of one recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recovered {
    /// From the fault to the first claim that began after it.
    pub(crate) first_claim: Option<Duration>,
    /// From the end of the fault until all is normal: every process runs and is registered, the pool is open and has
    /// accounted for every attempt, and what has authority has a lease.
    pub(crate) normal: Duration,
}

/// Watches one recovery.
pub(crate) struct Watch {
    began: Instant,
    ended: Option<Instant>,
    known: HashSet<AttemptId>,
    before: Option<(Instant, Sight)>,
    first_claim: Option<Duration>,
    but: Option<u32>,
    normal: Option<Duration>,
    /// What was not normal when looked at last.
    pub(crate) wrong: Vec<String>,
}

impl Watch {
    /// Begins just before the fault, with what runs then.
    pub(crate) fn begin(known: HashSet<AttemptId>) -> Self {
        let began = Instant::now();
        Self {
            began,
            ended: None,
            known,
            before: None,
            first_claim: None,
            but: None,
            normal: None,
            wrong: Vec::new(),
        }
    }

    /// One worker stays away: what it did is others' work now.
    pub(crate) fn without(self, worker: u32) -> Self {
        Self { but: Some(worker), ..self }
    }

    /// The fault is over, if it was not before.
    pub(crate) fn fault_ended(&mut self) {
        self.ended.get_or_insert_with(Instant::now);
    }

    /// How long ago the fault was over.
    pub(crate) fn since_end(&self) -> Duration {
        self.ended.map(|ended| ended.elapsed()).unwrap_or_default()
    }

    /// Looks once; answers when all is normal again, and something was claimed if anything comes to be claimed soon.
    pub(crate) async fn look(&mut self, fleet: &mut Fleet) -> Option<Recovered> {
        let at = Instant::now();
        let sight = fleet.look(self.but).await;
        if let Some(running) = sight.running.as_ref().filter(|_| self.first_claim.is_none()) {
            if at - self.began < UNDER_WAY {
                self.known.extend(running);
            } else if !running.is_subset(&self.known) {
                self.first_claim = Some(at - self.began);
            }
        }
        let ended = self.ended?;
        if self.normal.is_none() {
            self.judge(at, ended, sight);
        }
        let normal = self.normal?;
        let is_enough = self.first_claim.is_some() || at.duration_since(ended) > normal + CLAIMS;
        is_enough.then_some(Recovered { first_claim: self.first_claim, normal })
    }

    /// Normal is what two looks find right; then it was so from the earlier one on.
    fn judge(&mut self, at: Instant, ended: Instant, sight: Sight) {
        match &self.before {
            Some((before_at, _)) if at.duration_since(*before_at) < LASTS => return,
            Some((before_at, before)) => {
                self.wrong = sight.wrong_since(before);
                if self.wrong.is_empty() {
                    let first = if before.is_odd() { at } else { *before_at };
                    self.normal = Some(first.duration_since(ended));
                    return;
                }
            }
            None => {}
        }
        self.before = Some((at, sight));
    }
}

/// Times by kind of fault.
#[derive(Debug, Default)]
pub(crate) struct Recoveries {
    by_kind: BTreeMap<String, Vec<Recovered>>,
}

impl Recoveries {
    pub(crate) fn note(&mut self, faults: &[Fault], recovered: Recovered) {
        let kind = match faults {
            [one] => one.name(),
            _ => "several at once".to_owned(),
        };
        self.by_kind.entry(kind).or_default().push(recovered);
    }

    /// One line for each kind, and one for all: how often, then p50, p99 and maximum of both times.
    pub(crate) fn rows(&self) -> Vec<String> {
        let all: Vec<Recovered> = self.by_kind.values().flatten().copied().collect();
        let kinds = self.by_kind.iter().map(|(kind, times)| row(kind, times));
        kinds.chain([row("**all**", &all)]).collect()
    }
}

fn row(kind: &str, times: &[Recovered]) -> String {
    let claims: Vec<Duration> = times.iter().filter_map(|one| one.first_claim).collect();
    let normal: Vec<Duration> = times.iter().map(|one| one.normal).collect();
    format!("| {kind} | {} | {} | {} |", times.len(), quantiles(claims), quantiles(normal))
}

/// p50, p99 and maximum in seconds.
fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| {
        let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(index).map_or("–".to_owned(), |time| format!("{:.1}", time.as_secs_f64()))
    };
    format!("{} / {} / {}", at(50), at(99), at(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_times_there_are() {
        assert_eq!(quantiles(Vec::new()), "– / – / –");
        assert_eq!(quantiles((1..=200).map(Duration::from_secs).collect()), "100.0 / 198.0 / 200.0");
        assert_eq!(quantiles(vec![Duration::from_secs(3), Duration::from_secs(1)]), "1.0 / 3.0 / 3.0");
    }
}
