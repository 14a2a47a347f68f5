//! The reachable states with all steps between them, for questions about whole behaviours.
//!
//! Promises: states are numbered from 0 in no order that means anything; a step that changes nothing is left
//! out, as `⟨A⟩_vars` leaves it out; for each state it is known which fairness conjuncts could act there.

use protocol::machine::{Law, Move, State};

use crate::explore::{Explored, trace_to};
use crate::fairness::{Fair, Strength, fairness, fairness_of};
use crate::visited::{Id, PARTS, part_of};

/// A set of fairness conjuncts, one bit each.
pub(crate) type FairSet = u128;

/// A step to another state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) step: u16,
}

/// All states and steps.
#[derive(Debug)]
pub struct Graph<'a> {
    explored: &'a Explored,
    edges: Vec<Edge>,
    first_edge: Vec<usize>,
    /// The conjuncts that could act in a state.
    pub(crate) enabled: Vec<FairSet>,
    /// Which conjunct an instance belongs to, as a set of one or none.
    pub(crate) fair_of: Vec<FairSet>,
    /// All conjuncts.
    pub(crate) conjuncts: Vec<Fair>,
    /// Where each part's states begin.
    offset: [usize; PARTS],
}

impl<'a> Graph<'a> {
    /// Takes every step of every state once more, and notes where it leads.
    #[must_use]
    pub fn of(explored: &'a Explored) -> Self {
        let law = &explored.law;
        let conjuncts = fairness(law, &explored.all);
        assert!(conjuncts.len() <= 128, "bounds this wide are not for liveness");
        let bit = |step: &Move| {
            let fair = fairness_of(law, *step)?;
            conjuncts.iter().position(|one| *one == fair).map(|place| 1 << place)
        };
        let mut graph = Self {
            explored,
            edges: Vec::new(),
            first_edge: vec![0],
            enabled: Vec::new(),
            fair_of: explored.all.iter().map(|step| bit(step).unwrap_or(0)).collect(),
            conjuncts,
            offset: [0, explored.parts[0].states.len()],
        };
        graph.connect(law);
        graph
    }

    fn connect(&mut self, law: &Law) {
        let explored = self.explored;
        let mut state = State::initial(&law.constants);
        let mut next = state.clone();
        for packed in explored.parts.iter().flat_map(|part| &part.states) {
            explored.layout.unpack_into(packed, &mut state);
            let mut enabled = 0;
            for (number, step) in (0_u16..).zip(&explored.all) {
                if step.spec_guard(law, &state).is_err() {
                    continue;
                }
                next.clone_from(&state);
                step.apply(law, &mut next);
                if next == state {
                    continue;
                }
                let target = explored.layout.pack(&next);
                let part = part_of(&target);
                let place =
                    explored.parts[part].place_of(&target).expect("a finished search knows every state");
                let to = u32::try_from(self.offset[part] + place).expect("states are numbered in 32 bits");
                self.edges.push(Edge { to, step: number });
                enabled |= self.fair_of[usize::from(number)];
            }
            self.first_edge.push(self.edges.len());
            self.enabled.push(enabled);
        }
    }

    /// How many states there are.
    #[must_use]
    pub fn states(&self) -> usize {
        self.enabled.len()
    }

    pub(crate) fn edges_of(&self, state: u32) -> &[Edge] {
        let state = state as usize;
        &self.edges[self.first_edge[state]..self.first_edge[state + 1]]
    }

    pub(crate) fn step(&self, number: u16) -> Move {
        self.explored.all[usize::from(number)]
    }

    /// The conjuncts of one strength.
    pub(crate) fn of_strength(&self, strength: Strength) -> FairSet {
        let of_it = self.conjuncts.iter().enumerate().filter(|(_, fair)| fair.strength == strength);
        of_it.fold(0, |set, (place, _)| set | 1 << place)
    }

    /// Which states are as described.
    pub(crate) fn mark(&self, is: impl Fn(&State) -> bool) -> Vec<bool> {
        let mut state = State::initial(&self.explored.law.constants);
        let packed = self.explored.parts.iter().flat_map(|part| &part.states);
        packed
            .map(|packed| {
                self.explored.layout.unpack_into(packed, &mut state);
                is(&state)
            })
            .collect()
    }

    /// The state of a number.
    pub(crate) fn state(&self, number: u32) -> State {
        let id = self.id(number);
        let mut state = State::initial(&self.explored.law.constants);
        self.explored.layout.unpack_into(&self.explored.parts[id.part()].states[id.place()], &mut state);
        state
    }

    /// The steps by which the search first came to a state.
    pub(crate) fn trace_to(&self, number: u32) -> Vec<Move> {
        trace_to(&self.explored.parts, &self.explored.all, self.id(number))
    }

    fn id(&self, number: u32) -> Id {
        let number = number as usize;
        let part = usize::from(number >= self.offset[1]);
        Id::new(part, number - self.offset[part])
    }
}
