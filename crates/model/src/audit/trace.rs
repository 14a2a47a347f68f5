//! One job's events: in the order of each store and actor, with what must come before what.

use std::collections::HashMap;

use protocol::machine::{Constants, Job, Service};
use protocol::{Action, ActorId, AttemptId, Event, JobId, Outcome, Phase, Room};

use super::census::Census;
use super::workers::Workers;

/// The list of the durable store's events.
pub(super) const DURABLE: usize = 0;
/// The list of coordination's events.
pub(super) const COORDINATION: usize = 1;
/// The first list of an actor's own events.
pub(super) const ACTORS: usize = 2;

/// The one job of a replay.
pub(super) const JOB: Job = Job(0);

/// An event and where it was found.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) event: Event,
    pub(super) arrival: u64,
    pub(super) segment: u64,
}

/// What a job's audit must know of the rest of the trace.
pub(super) struct Surroundings<'a> {
    pub(super) last_epoch: u64,
    pub(super) first_segment: u64,
    pub(super) cut: bool,
    pub(super) census: &'a Census,
}

/// A job's events, ready to be replayed.
pub(super) struct Trace<'a> {
    pub(super) job: JobId,
    pub(super) lists: Vec<Vec<Fact>>,
    /// Per list and event: how many of each list must have been placed before.
    needs: Vec<Vec<Vec<usize>>>,
    tokens: HashMap<AttemptId, u16>,
    workers: Workers,
    /// The worker of each token's attempt, as far as an event names both.
    holders: HashMap<u16, u16>,
    ranks: Vec<u64>,
    pub(super) constants: Constants,
    /// Rows of attempts that a replay needs.
    pub(super) rows: u16,
    pub(super) last_epoch: u64,
    pub(super) first_segment: u64,
    pub(super) begun_before: bool,
    /// Events of the stores may be missing anywhere.
    pub(super) cut: bool,
    /// The newest revision of the job that an event of coordination rests on.
    pub(super) rested_on: u64,
    census: &'a Census,
}

/// Whether the event raised the job's revision.
pub(super) fn raises(event: &Event) -> bool {
    event.outcome == Outcome::Taken && event.room == Room::Durable && event.action != Action::RejectOutcome
}

/// Whether a store's event is what a copy of a request did that came after the request's answer.
pub(super) fn is_late_copy(event: &Event) -> bool {
    list_of(event).is_some() && event.answered_before.is_some()
}

/// The job's revision that the event made or saw.
pub(super) fn revision(event: &Event) -> u64 {
    match event.action {
        Action::CleanupStage => read_at(event).unwrap_or(0),
        _ => event.order,
    }
}

/// The revision of the job's row that the event rests on.
pub(super) fn read_at(event: &Event) -> Option<u64> {
    event.judged.iter().filter(|read| read.room == Room::Durable).map(|read| read.mark.order).max()
}

fn list_of(event: &Event) -> Option<usize> {
    match event.room {
        Room::Durable => Some(DURABLE),
        Room::Coordination => Some(COORDINATION),
        // Who swept a stage tells the durable store, which records it at the revision it then has.
        Room::Target if event.action == Action::CleanupStage && read_at(event).is_some() => Some(DURABLE),
        Room::Target | Room::Worker | Room::World => None,
    }
}

impl<'a> Trace<'a> {
    pub(super) fn new(job: JobId, facts: Vec<Fact>, around: &Surroundings<'a>) -> Self {
        let lists = sorted(facts);
        let all = || lists.iter().flatten().map(|fact| &fact.event);
        let mut ranks: Vec<u64> =
            all().filter_map(|event| event.detail.progress).filter(|n| *n > 0).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let workers = Workers::of(&lists);
        let mut tokens = HashMap::new();
        for event in all() {
            if let (Some(attempt), Some(token)) = (event.attempt, event.token) {
                tokens.entry(attempt).or_insert(u16::try_from(token.0).unwrap_or(u16::MAX));
            }
        }
        let mut holders = HashMap::new();
        for event in all() {
            let token = event.attempt.and_then(|attempt| tokens.get(&attempt));
            if let (Some(token), Some(worker)) = (token, workers.place(event)) {
                holders.insert(*token, worker);
            }
        }
        let rows = tokens.values().copied().max().unwrap_or(0).max(1);
        let max_attempts =
            all().filter_map(|event| event.detail.max_attempts).max().unwrap_or(u32::from(rows));
        let constants = Constants {
            workers: workers.count() + 1,
            initial_workers: 0,
            max_attempts: u16::try_from(max_attempts).unwrap_or(u16::MAX),
            max_progress: u16::try_from(ranks.len() + 1).unwrap_or(u16::MAX),
            local_limit: u16::MAX,
            global_limit: u16::MAX,
            ..Constants::ONE
        }
        .with_faults(Service::ALL);
        let begun_before = begun_before(&lists, around.first_segment);
        let rested_on = lists[COORDINATION].iter().filter_map(|fact| read_at(&fact.event)).max().unwrap_or(0);
        Self {
            job,
            needs: needs(&lists),
            lists,
            tokens,
            workers,
            holders,
            ranks,
            constants,
            rows,
            last_epoch: around.last_epoch,
            first_segment: around.first_segment,
            begun_before,
            cut: around.cut,
            rested_on,
            census: around.census,
        }
    }

    /// How many of each list must have been placed before this event.
    pub(super) fn needs(&self, list: usize, index: usize) -> &[usize] {
        &self.needs[list][index]
    }

    /// The token of the event's attempt.
    pub(super) fn token(&self, event: &Event) -> Option<u16> {
        let known = event.attempt.and_then(|attempt| self.tokens.get(&attempt).copied());
        known.or_else(|| event.token.and_then(|token| u16::try_from(token.0).ok()))
    }

    /// The place of the event's worker among the job's workers.
    pub(super) fn worker(&self, event: &Event) -> Option<u16> {
        self.workers.place(event)
    }

    /// A worker that the trace does not name.
    pub(super) fn nobody(&self) -> u16 {
        self.constants.workers - 1
    }

    /// The worker that this token's attempt is of, or one that the trace does not name.
    pub(super) fn holder(&self, token: u16) -> u16 {
        self.holders.get(&token).copied().unwrap_or(self.nobody())
    }

    /// The spec's progress that stands for a count of checkpoints: their order is all that matters.
    pub(super) fn progress(&self, count: u64) -> u16 {
        match self.ranks.binary_search(&count) {
            Ok(place) => u16::try_from(place + 1).unwrap_or(u16::MAX),
            Err(_) => 0,
        }
    }

    /// Where the job stood at a revision, as far as the trace says.
    pub(super) fn phase_at(&self, revision_read: u64) -> Option<Phase> {
        if revision_read <= 1 {
            return Some(Phase::Queued);
        }
        let made = self.lists[DURABLE].iter().rev().map(|fact| &fact.event);
        let made = made.filter(|event| raises(event)).find(|event| event.order <= revision_read)?;
        (made.order == revision_read).then_some(made.detail.phase_after).flatten()
    }

    /// Whether the actor's own record may lack what it did before this request.
    pub(super) fn lacks(&self, actor: ActorId, sequence: u64) -> bool {
        self.census.lacks(actor, sequence)
    }

    /// Whether the trace of the stores may end before the job did.
    pub(super) fn is_open(&self) -> bool {
        let ended = |fact: &Fact| fact.event.detail.phase_after.is_some_and(Phase::is_terminal);
        !self.lists[DURABLE].iter().any(|fact| raises(&fact.event) && ended(fact))
    }

    pub(super) fn attempts(&self) -> u32 {
        u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)
    }
}

fn sorted(facts: Vec<Fact>) -> Vec<Vec<Fact>> {
    let mut lists = vec![Vec::new(), Vec::new()];
    let mut actors: HashMap<ActorId, usize> = HashMap::new();
    for fact in facts {
        let list = list_of(&fact.event).unwrap_or_else(|| {
            *actors.entry(fact.event.actor).or_insert_with(|| {
                lists.push(Vec::new());
                lists.len() - 1
            })
        });
        lists[list].push(fact);
    }
    lists[DURABLE].sort_by_key(|fact| (revision(&fact.event), !raises(&fact.event), fact.arrival));
    lists[COORDINATION].sort_by_key(|fact| (fact.event.epoch, fact.event.order));
    for list in &mut lists[ACTORS..] {
        list.sort_by_key(|fact| fact.event.sequence);
    }
    lists
}

/// The oldest file is not the first that was written, and the job's beginning is not in it.
fn begun_before(lists: &[Vec<Fact>], first_segment: u64) -> bool {
    if first_segment == 0 {
        return false;
    }
    let event = |list: usize| lists[list].first().map(|fact| &fact.event);
    let late = event(DURABLE).is_some_and(|event| revision(event) - u64::from(raises(event)) > 1);
    let amid = event(COORDINATION).is_some_and(|event| event.action != Action::Enqueue);
    // A worker tells of an attempt, and nothing of its claim.
    let unclaimed = event(DURABLE).is_none() && lists.len() > ACTORS;
    late || amid || unclaimed
}

/// The last place in each list that an actor had reached by a number.
type Reached = HashMap<ActorId, Vec<Vec<(u64, usize)>>>;

fn needs(lists: &[Vec<Fact>]) -> Vec<Vec<Vec<usize>>> {
    let mut reached: Reached = HashMap::new();
    for (list, facts) in lists.iter().enumerate() {
        // What an actor rests on is the answer, not what a copy of the request did later.
        for (index, fact) in facts.iter().enumerate().filter(|(_, fact)| !is_late_copy(&fact.event)) {
            let of_actor = reached.entry(fact.event.actor).or_insert_with(|| vec![Vec::new(); lists.len()]);
            of_actor[list].push((fact.event.sequence, index + 1));
        }
    }
    for sequences in reached.values_mut().flatten() {
        sequences.sort_unstable();
        let mut most = 0;
        for (_, index) in sequences {
            most = most.max(*index);
            *index = most;
        }
    }
    let of = |(list, facts): (usize, &Vec<Fact>)| {
        facts.iter().enumerate().map(|(index, fact)| need(lists, &reached, (list, index), fact)).collect()
    };
    lists.iter().enumerate().map(of).collect()
}

fn need(lists: &[Vec<Fact>], reached: &Reached, at: (usize, usize), fact: &Fact) -> Vec<usize> {
    let event = &fact.event;
    let mut need = vec![0; lists.len()];
    let by = |sequences: &[(u64, usize)], last: u64| {
        let until = sequences.partition_point(|(sequence, _)| *sequence <= last);
        until.checked_sub(1).map_or(0, |place| sequences[place].1)
    };
    if let Some(of_actor) = reached.get(&event.actor) {
        for (list, sequences) in of_actor.iter().enumerate() {
            // What an actor did itself, it did before it sent anything with a higher number.
            let last = if list >= ACTORS { event.sequence.saturating_sub(1) } else { event.sent_after };
            need[list] = by(sequences, last);
        }
    }
    for read in &event.judged {
        match read.room {
            Room::Durable => {
                let made = |fact: &Fact| raises(&fact.event) && fact.event.order <= read.mark.order;
                let place = lists[DURABLE].iter().rposition(made).map_or(0, |place| place + 1);
                need[DURABLE] = need[DURABLE].max(place);
            }
            Room::Coordination => {
                let mark = (read.mark.epoch, read.mark.order);
                let seen =
                    lists[COORDINATION].partition_point(|fact| (fact.event.epoch, fact.event.order) <= mark);
                need[COORDINATION] = need[COORDINATION].max(seen);
            }
            Room::Target | Room::Worker | Room::World => {}
        }
    }
    // An order inside a list is the list's own.
    need[at.0] = need[at.0].min(at.1);
    need
}

impl Trace<'_> {
    /// The count of checkpoints that a progress of the spec stands for.
    pub(super) fn shown(&self, progress: u16) -> String {
        match usize::from(progress).checked_sub(1) {
            None => "0".to_owned(),
            Some(place) => self.ranks.get(place).map_or("complete".to_owned(), u64::to_string),
        }
    }

    /// Whether this actor is that worker.
    pub(super) fn is_worker(&self, actor: ActorId, worker: Option<protocol::machine::Worker>) -> bool {
        worker.is_some_and(|worker| self.workers.is(actor, worker.0))
    }

    /// Whether events of the stores may be missing inside or at the end.
    pub(super) fn is_cut(&self) -> bool {
        let mut segments = self.lists[..ACTORS].iter().flatten().map(|fact| fact.segment);
        let first = segments.next();
        self.cut || self.is_open() || segments.any(|segment| Some(segment) != first)
    }
}
