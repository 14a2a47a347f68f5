//! The search for an order: depth first, in the order of the record, and never twice from the same point.

use std::collections::HashSet;

use protocol::Event;

use super::actions::{Effort, place};
use super::failure::{Failure, Why};
use super::gap::{Missing, missing};
use super::node::{Node, Trial};
use super::trace::{ACTORS, COORDINATION, DURABLE, Trace};

/// Points that are tried for one job.
const MOST: usize = 400_000;

/// What came of a job.
pub(super) enum Verdict {
    Explained { inferred: u64, unplaced: u64 },
    Unexplained(Box<Failure>),
}

/// How much of a trace is to be explained.
#[derive(Clone)]
struct Goal {
    /// Events of each list.
    until: Vec<usize>,
    /// Whether events of workers may be left over.
    workers_may_rest: bool,
}

enum Found {
    End(Node),
    /// The point with the most events placed.
    Stuck(Node),
    TooMany(Node),
}

/// Judges one job.
pub(super) fn judge(trace: &Trace<'_>) -> Verdict {
    let whole = Goal { until: trace.lists.iter().map(Vec::len).collect(), workers_may_rest: false };
    let stuck = match search(trace, &whole) {
        Found::End(node) => return explained(trace, &node),
        Found::Stuck(node) | Found::TooMany(node) => node,
    };
    let stores = Goal { workers_may_rest: true, ..whole.clone() };
    match search(trace, &stores) {
        Found::End(node) if trace.is_open() => explained(trace, &node),
        Found::End(_) => {
            let blocked = (ACTORS..trace.lists.len()).find(|list| stuck.at[*list] < whole.until[*list]);
            Verdict::Unexplained(Box::new(failure(trace, &whole, &stuck, blocked)))
        }
        Found::TooMany(node) => {
            let mut failure = failure(trace, &stores, &node, None);
            failure.why = Why::TooMany;
            Verdict::Unexplained(Box::new(failure))
        }
        Found::Stuck(_) => Verdict::Unexplained(Box::new(shortest(trace, &stores))),
    }
}

fn explained(trace: &Trace<'_>, node: &Node) -> Verdict {
    let all: usize = trace.lists.iter().map(Vec::len).sum();
    let unplaced = u64::try_from(all - node.placed()).unwrap_or(u64::MAX);
    Verdict::Explained { inferred: node.inferred, unplaced }
}

/// The shortest prefix, in the order of the record, that no order explains.
fn shortest(trace: &Trace<'_>, stores: &Goal) -> Failure {
    let mut arrivals: Vec<(u64, usize)> = Vec::new();
    for list in [DURABLE, COORDINATION] {
        arrivals.extend(trace.lists[list].iter().map(|fact| (fact.arrival, list)));
    }
    arrivals.sort_unstable();
    let goal = |events: usize| {
        let mut goal = stores.clone();
        for list in [DURABLE, COORDINATION] {
            goal.until[list] = arrivals[..events].iter().filter(|(_, of)| *of == list).count();
        }
        goal
    };
    // The first `low` events are explained, the first `high` are not.
    let (mut low, mut high) = (0, arrivals.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        match search(trace, &goal(middle)) {
            Found::End(_) => low = middle,
            Found::Stuck(_) | Found::TooMany(_) => high = middle,
        }
    }
    let goal = goal(high);
    let stuck = match search(trace, &goal) {
        Found::End(node) | Found::Stuck(node) | Found::TooMany(node) => node,
    };
    let list = arrivals[high - 1].1;
    let blocked = (stuck.at[list] < goal.until[list]).then_some(list);
    failure(trace, &goal, &stuck, blocked)
}

/// Says what is wrong at the point where no event fits, of this list if one is named.
fn failure(trace: &Trace<'_>, goal: &Goal, stuck: &Node, list: Option<usize>) -> Failure {
    let rest = |list: &usize| stuck.at[*list] < goal.until[*list];
    let list = list.or_else(|| (0..trace.lists.len()).find(rest)).unwrap_or(DURABLE);
    let index = stuck.at[list].min(trace.lists[list].len().saturating_sub(1));
    let event = trace.lists[list][index].event.clone();
    let whys: Vec<Why> =
        Effort::ALL.iter().filter_map(|effort| place(trace, stuck, list, *effort).err()).collect();
    let why = whys.into_iter().next().unwrap_or(Why::Order("no order of all events explains it"));
    let mut prefix: Vec<(u64, Event)> = Vec::new();
    for (of, facts) in trace.lists.iter().enumerate() {
        let until = if of < ACTORS { goal.until[of] } else { stuck.at[of] };
        prefix.extend(facts[..until].iter().map(|fact| (fact.arrival, fact.event.clone())));
    }
    prefix.sort_by_key(|(arrival, _)| *arrival);
    let prefix = prefix.into_iter().map(|(_, event)| event).filter(|one| *one != event);
    let prefix = prefix.chain(std::iter::once(event.clone())).collect();
    Failure { job: Some(trace.job), event, why, prefix }
}

#[derive(Clone, Copy)]
enum Choice {
    /// The next event of a list.
    Place(usize, Effort),
    /// A revision of the job that has no event.
    Missing(Missing),
}

struct Frame {
    node: Node,
    choices: Vec<Choice>,
}

fn search(trace: &Trace<'_>, goal: &Goal) -> Found {
    let first = Node::first(trace);
    let mut seen = HashSet::from([first.key()]);
    let mut furthest = first.clone();
    let mut stack = vec![Frame { choices: choices(trace, goal, &first), node: first }];
    while let Some(frame) = stack.last_mut() {
        if is_end(goal, &frame.node) {
            return Found::End(stack.swap_remove(stack.len() - 1).node);
        }
        let Some(choice) = frame.choices.pop() else {
            furthest = further(furthest, stack.pop());
            continue;
        };
        let next = match choice {
            Choice::Place(list, effort) => place(trace, &frame.node, list, effort),
            Choice::Missing(step) => {
                let mut trial = Trial::new(trace, &frame.node);
                trial.take_missing(step).map(|()| trial.node)
            }
        };
        let Ok(next) = next else { continue };
        if !seen.insert(next.key()) {
            continue;
        }
        if seen.len() > MOST {
            return Found::TooMany(further(furthest, stack.pop()));
        }
        stack.push(Frame { choices: choices(trace, goal, &next), node: next });
    }
    Found::Stuck(furthest)
}

/// Of two points, the one with more events placed.
fn further(known: Node, other: Option<Frame>) -> Node {
    match other {
        Some(other) if other.node.placed() > known.placed() => other.node,
        _ => known,
    }
}

fn is_end(goal: &Goal, node: &Node) -> bool {
    let stores = node.at[..ACTORS] == goal.until[..ACTORS];
    stores && (goal.workers_may_rest || node.at == goal.until)
}

/// What may come next, the likeliest last: what a worker did, as soon as it can have been; then the stores' events
/// as they were recorded; then what needs more explaining.
fn choices(trace: &Trace<'_>, goal: &Goal, node: &Node) -> Vec<Choice> {
    let rest = |list: &usize| node.at[*list] < goal.until[*list];
    let workers: Vec<usize> = (ACTORS..trace.lists.len()).filter(rest).collect();
    let mut stores: Vec<usize> = [DURABLE, COORDINATION].into_iter().filter(rest).collect();
    stores.sort_by_key(|list| trace.lists[*list][node.at[*list]].arrival);
    // An actor's own numbers are the likeliest order where no edge says one.
    let sent_before = |list: &usize| {
        let event = &trace.lists[*list][node.at[*list]].event;
        stores.iter().any(|store| {
            let of_store = &trace.lists[*store][node.at[*store]].event;
            of_store.actor == event.actor && of_store.sequence < event.sequence
        })
    };
    let (later, first): (Vec<usize>, Vec<usize>) = workers.iter().copied().partition(sent_before);
    let missing = missing(trace, node);
    let mut choices = Vec::with_capacity(3 * workers.len() + missing.len() + 6);
    let of = |lists: &[usize], effort: Effort| {
        lists.iter().rev().map(move |list| Choice::Place(*list, effort)).collect::<Vec<_>>()
    };
    choices.extend(of(&stores, Effort::Early));
    choices.extend(of(&workers, Effort::Early));
    choices.extend(of(&workers, Effort::Gaps));
    choices.extend(of(&stores, Effort::Gaps));
    choices.extend(missing.iter().copied().map(Choice::Missing));
    choices.extend(of(&later, Effort::Plain));
    choices.extend(of(&stores, Effort::Plain));
    choices.extend(of(&first, Effort::Plain));
    choices
}
