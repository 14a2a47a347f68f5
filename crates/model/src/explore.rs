//! Breadth first over all reachable states, by two threads, level by level.
//!
//! Promises: a level is expanded while what was seen is only read, then each thread takes in the new states
//! of its own part, in a fixed order. So the numbers, the first violation and its trace do not depend on
//! timing. Stops after the level in which a violation was found.

use protocol::machine::{INVARIANTS, Law, Move, STEP_PROPERTIES, State, instances};

use crate::packed::{Layout, Packed, TooWide};
use crate::visited::{Id, PARTS, Part, part_of};
use crate::ways::ways;

/// A property that does not hold, and the shortest way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The spec's name of the property.
    pub property: &'static str,
    /// The steps from the initial state.
    pub trace: Vec<Move>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Distinct states.
    pub distinct: u64,
    /// Levels, the initial state's included (TLC's diameter).
    pub depth: u64,
    /// Initial states and all successors, repeated ones included.
    pub generated: u64,
    /// The first violation of an invariant or a step property.
    pub violated: Option<Found>,
}

/// A finished search: its report and all its states.
#[derive(Debug)]
pub struct Explored {
    /// The law that was searched.
    pub law: Law,
    /// What was found.
    pub report: Report,
    complete: bool,
    pub(crate) layout: Layout,
    pub(crate) all: Vec<Move>,
    pub(crate) parts: Vec<Part>,
}

/// New states for each part, with how they were reached.
type Harvest = [Vec<(Packed, Id, u16)>; PARTS];

/// What one thread brings home from one level.
struct Catch {
    harvest: Harvest,
    generated: u64,
    violated: Option<(&'static str, Id, Option<Move>)>,
}

/// Searches all states of a law, or up to `most` of them.
///
/// # Errors
/// When a state of these bounds cannot be packed.
pub fn explore(law: &Law, most: usize) -> Result<Explored, TooWide> {
    let layout = Layout::new(law.constants)?;
    let all = instances(law);
    let mut parts: Vec<Part> = (0..PARTS).map(|_| Part::default()).collect();
    let first = layout.pack(&State::initial(&law.constants));
    parts[part_of(&first)].insert(first, None);

    let mut report = Report { distinct: 0, depth: 0, generated: 1, violated: None };
    let mut done = [0; PARTS];
    while report.violated.is_none() && count(&parts) > done.iter().sum() && count(&parts) <= most {
        report.depth += 1;
        let catches = expand_level(law, &layout, &all, &parts, done);
        done = std::array::from_fn(|part| parts[part].states.len());
        report.generated += catches.iter().map(|one| one.generated).sum::<u64>();
        if let Some((property, at, last)) = catches.iter().find_map(|one| one.violated) {
            let mut trace = trace_to(&parts, &all, at);
            trace.extend(last);
            report.violated = Some(Found { property, trace });
        }
        let harvests: Vec<_> = catches.into_iter().map(|one| one.harvest).collect();
        take_in(&mut parts, &harvests);
    }
    report.distinct = count(&parts) as u64;
    let complete = count(&parts) == done.iter().sum();
    Ok(Explored { law: *law, report, complete, layout, all, parts })
}

fn count(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.states.len()).sum()
}

fn expand_level(
    law: &Law,
    layout: &Layout,
    all: &[Move],
    parts: &[Part],
    done: [usize; PARTS],
) -> Vec<Catch> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PARTS)
            .map(|part| scope.spawn(move || expand_part(law, layout, all, (parts, part, done[part]))))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a searching thread does not panic")).collect()
    })
}

fn expand_part(
    law: &Law,
    layout: &Layout,
    all: &[Move],
    (parts, part, from): (&[Part], usize, usize),
) -> Catch {
    let mut catch = Catch { harvest: std::array::from_fn(|_| Vec::new()), generated: 0, violated: None };
    let mut state = State::initial(&law.constants);
    let mut next = state.clone();
    for (place, packed) in parts[part].states.iter().enumerate().skip(from) {
        let id = Id::new(part, place);
        layout.unpack_into(packed, &mut state);
        let broken = INVARIANTS.iter().find(|one| !(one.holds)(&law.constants, &state));
        if let (Some(broken), None) = (broken, catch.violated) {
            catch.violated = Some((broken.name, id, None));
        }
        for (number, step) in (0..).zip(all) {
            if step.spec_guard(law, &state).is_err() {
                continue;
            }
            catch.generated += ways(law, &state, *step);
            next.clone_from(&state);
            step.apply(law, &mut next);
            if next.jobs != state.jobs && catch.violated.is_none() {
                let broken = STEP_PROPERTIES.iter().find(|one| !(one.holds)(&state, &next));
                catch.violated = broken.map(|one| (one.name, id, Some(*step)));
            }
            let packed = layout.pack(&next);
            let home = part_of(&packed);
            if parts[home].place_of(&packed).is_none() {
                catch.harvest[home].push((packed, id, number));
            }
        }
    }
    catch
}

fn take_in(parts: &mut [Part], harvests: &[Harvest]) {
    std::thread::scope(|scope| {
        for (home, part) in parts.iter_mut().enumerate() {
            scope.spawn(move || {
                for (packed, from, step) in harvests.iter().flat_map(|harvest| &harvest[home]) {
                    part.insert(*packed, Some((*from, *step)));
                }
            });
        }
    });
}

pub(crate) fn trace_to(parts: &[Part], all: &[Move], mut at: Id) -> Vec<Move> {
    let mut trace = Vec::new();
    while let Some((from, step)) = parts[at.part()].origins[at.place()] {
        trace.push(all[usize::from(step)]);
        at = from;
    }
    trace.reverse();
    trace
}

impl Explored {
    /// Whether every state was expanded: no violation and no limit ended the search early.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether some reachable state is as described; if so, the shortest way to one.
    pub fn reach(&self, is: impl Fn(&State) -> bool) -> Option<Vec<Move>> {
        let mut state = State::initial(&self.law.constants);
        let mut shortest: Option<Vec<Move>> = None;
        for (number, part) in self.parts.iter().enumerate() {
            // Places rise with depth, so the first of a part is a nearest of that part.
            let first = part.states.iter().position(|packed| {
                self.layout.unpack_into(packed, &mut state);
                is(&state)
            });
            let trace = first.map(|place| trace_to(&self.parts, &self.all, Id::new(number, place)));
            shortest = [shortest, trace].into_iter().flatten().min_by_key(Vec::len);
        }
        shortest
    }
}
