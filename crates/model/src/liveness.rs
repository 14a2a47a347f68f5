//! The three liveness properties, by a search for a fair behaviour that breaks one.
//!
//! Promises: finds a behaviour in which, from some point on, some worker is up and reaches everything
//! (`RecoveryAssumption`), every conjunct of `Fairness` gets its due, and what was promised never comes; or
//! shows by looking at every state that there is none. A behaviour that stands still counts.
//! How: within the states where the promise is still open, a set of states that reach each other is a fair
//! loop if each weak conjunct is impossible somewhere in it or acts in it, and each strong one is possible
//! nowhere in it or acts in it. A strong one that is possible but never acts must be left behind: without
//! the states where it is possible, the rest falls apart into smaller sets, which are judged in turn.

use std::collections::VecDeque;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use protocol::machine::{Law, Move, Service, State};

use crate::explore::Explored;
use crate::fairness::Strength;
use crate::graph::Graph;

/// A liveness property: whenever `from` holds, `goal` holds then or later.
#[derive(Debug, Clone, Copy)]
pub struct Liveness {
    /// The spec's name.
    pub name: &'static str,
    /// The instances of the property: one per job or per attempt.
    pub instances: fn(&Law) -> usize,
    /// Where the promise is given.
    pub from: fn(&State, usize) -> bool,
    /// Where it is kept.
    pub goal: fn(&State, usize) -> bool,
}

fn jobs(law: &Law) -> usize {
    usize::from(law.constants.jobs)
}

fn attempts(law: &Law) -> usize {
    jobs(law) * usize::from(law.constants.max_attempts)
}

fn terminal(s: &State, job: usize) -> bool {
    s.jobs[job].phase.is_terminal()
}

fn authoritative(s: &State, place: usize) -> bool {
    s.attempt_ids().nth(place).is_some_and(|of| s.current_authority(of))
}

/// All three, in the spec's order.
pub static LIVENESS: [Liveness; 3] = [
    Liveness {
        name: "AtLeastOnceDelivery",
        instances: jobs,
        from: |s, job| s.jobs[job].phase == protocol::Phase::Queued,
        goal: |s, job| s.jobs[job].phase == protocol::Phase::Running || terminal(s, job),
    },
    Liveness {
        name: "EventuallyReaped",
        instances: attempts,
        from: |s, of| {
            authoritative(s, of) && s.attempts[of].lease_state != protocol::machine::LeaseState::Live
        },
        goal: |s, of| {
            let job = s.attempt_ids().nth(of).map_or(0, |of| usize::from(of.job.0));
            !authoritative(s, of) || terminal(s, job)
        },
    },
    // `<>Terminal(j)` is about whole behaviours, and terminal states last: so it is promised in every state.
    Liveness { name: "EventuallyTerminal", instances: jobs, from: |_, _| true, goal: terminal },
];

/// A fair behaviour that breaks a property: a way in, then a loop for ever.
#[derive(Debug, Clone)]
pub struct Lasso {
    /// The spec's name of the property.
    pub property: &'static str,
    /// The steps from the initial state to the loop.
    pub trace: Vec<Move>,
    /// Where the loop is entered.
    pub at: State,
    /// How many states reach each other there; 1 means that nothing moves any more.
    pub states: usize,
    /// The steps taken in the loop again and again.
    pub steps: Vec<Move>,
}

/// The first of the three properties that a fair behaviour breaks.
///
/// # Panics
/// When the search stopped early, or its bounds are too wide for a set of conjuncts.
#[must_use]
pub fn check_liveness(explored: &Explored) -> Option<Lasso> {
    let graph = Graph::of(explored);
    let available = graph.mark(|s| s.worker_ids().any(|worker| available(s, worker)));
    // The strongest promise last: what breaks a narrower one is told by it.
    LIVENESS.iter().rev().find_map(|property| {
        (0..(property.instances)(&explored.law))
            .find_map(|number| broken(&graph, &available, property, number))
    })
}

fn available(s: &State, worker: protocol::machine::Worker) -> bool {
    s.up(Some(worker)) && Service::ALL.iter().all(|service| s.can_reach(Some(worker), *service))
}

fn broken(graph: &Graph<'_>, available: &[bool], property: &Liveness, number: usize) -> Option<Lasso> {
    let open = graph.mark(|s| !(property.goal)(s, number));
    let promised = graph.mark(|s| (property.from)(s, number));
    let ways = Ways::within(graph, &open, &promised);
    let inside: Vec<u32> = ways.order.iter().copied().filter(|state| available[*state as usize]).collect();
    // The walk goes by distance: the loop whose first state comes first is a nearest one.
    let mut rank = vec![usize::MAX; graph.states()];
    for (number, state) in ways.order.iter().enumerate() {
        rank[*state as usize] = number;
    }
    let nearest = |set: &[u32]| set.iter().copied().min_by_key(|state| rank[*state as usize]);
    let loops = fair_loops(graph, inside).into_iter().filter_map(|set| Some((nearest(&set)?, set)));
    let (at, fair_loop) = loops.min_by_key(|(at, _)| rank[*at as usize])?;
    let place = flags(graph.states(), &fair_loop);
    let mut steps: Vec<Move> =
        inner_edges(graph, &fair_loop, &place).map(|(_, step)| graph.step(step)).collect();
    steps.sort_unstable();
    steps.dedup();
    Some(Lasso {
        property: property.name,
        trace: ways.trace(graph, at),
        at: graph.state(at),
        states: fair_loop.len(),
        steps,
    })
}

fn flags(states: usize, set: &[u32]) -> Vec<bool> {
    let mut flags = vec![false; states];
    for state in set {
        flags[*state as usize] = true;
    }
    flags
}

/// How to walk on from a promise while it is open.
struct Ways {
    order: Vec<u32>,
    from: Vec<Option<(u32, u16)>>,
}

impl Ways {
    fn within(graph: &Graph<'_>, open: &[bool], promised: &[bool]) -> Self {
        let mut seen = vec![false; graph.states()];
        let mut ways = Self { order: Vec::new(), from: vec![None; graph.states()] };
        let mut starts: Vec<u32> =
            (0..).zip(open).filter(|(_, open)| **open).map(|(state, _)| state).collect();
        starts.retain(|state| promised[*state as usize]);
        starts.sort_by_cached_key(|state| graph.trace_to(*state).len());
        for state in &starts {
            seen[*state as usize] = true;
        }
        let mut next: VecDeque<u32> = starts.into();
        while let Some(state) = next.pop_front() {
            ways.order.push(state);
            for edge in graph.edges_of(state) {
                if open[edge.to as usize] && !seen[edge.to as usize] {
                    seen[edge.to as usize] = true;
                    ways.from[edge.to as usize] = Some((state, edge.step));
                    next.push_back(edge.to);
                }
            }
        }
        ways
    }

    fn trace(&self, graph: &Graph<'_>, mut at: u32) -> Vec<Move> {
        let mut steps = Vec::new();
        while let Some((from, step)) = self.from[at as usize] {
            steps.push(graph.step(step));
            at = from;
        }
        steps.reverse();
        let mut trace = graph.trace_to(at);
        trace.extend(steps);
        trace
    }
}

fn inner_edges<'a>(
    graph: &'a Graph<'_>,
    set: &'a [u32],
    inside: &'a [bool],
) -> impl Iterator<Item = (u32, u16)> + 'a {
    let edges = set.iter().flat_map(|state| graph.edges_of(*state));
    edges.filter(|edge| inside[edge.to as usize]).map(|edge| (edge.to, edge.step))
}

/// Every largest set of states that reach each other and in which every conjunct gets its due.
fn fair_loops(graph: &Graph<'_>, inside: Vec<u32>) -> Vec<Vec<u32>> {
    let (weak, strong) = (graph.of_strength(Strength::Weak), graph.of_strength(Strength::Strong));
    let mut open = vec![inside];
    let mut fair = Vec::new();
    let mut flag = vec![false; graph.states()];
    while let Some(set) = open.pop() {
        for part in components(graph, &set) {
            part.iter().for_each(|state| flag[*state as usize] = true);
            let acts = inner_edges(graph, &part, &flag)
                .fold(0, |acts, (_, step)| acts | graph.fair_of[usize::from(step)]);
            part.iter().for_each(|state| flag[*state as usize] = false);
            let enabled = part.iter().map(|state| graph.enabled[*state as usize]);
            let (always, ever) = enabled.fold((!0, 0), |(always, ever), here| (always & here, ever | here));
            if always & weak & !acts != 0 {
                continue;
            }
            let starved = ever & strong & !acts;
            if starved == 0 {
                fair.push(part);
            } else {
                let rest = |state: &u32| graph.enabled[*state as usize] & starved == 0;
                open.push(part.into_iter().filter(rest).collect());
            }
        }
    }
    fair
}

/// The strongly connected components of a set of states.
fn components(graph: &Graph<'_>, set: &[u32]) -> Vec<Vec<u32>> {
    let mut local = std::collections::HashMap::with_capacity(set.len());
    let mut inner = DiGraph::<u32, ()>::with_capacity(set.len(), 0);
    for state in set {
        local.insert(*state, inner.add_node(*state));
    }
    for state in set {
        for edge in graph.edges_of(*state) {
            if let Some(to) = local.get(&edge.to) {
                inner.add_edge(local[state], *to, ());
            }
        }
    }
    let name = |node: NodeIndex| inner[node];
    kosaraju_scc(&inner).into_iter().map(|part| part.into_iter().map(name).collect()).collect()
}
