// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through all states: depth first, each state once.

use hashbrown::HashSet;

use super::model::{Action, Model, Verdict};
use super::state::State;
use super::subject::{Limits, Subject};

/// Of so many states that are not followed in all ways, one is followed in one way.
const SETTLED: u64 = 16;

/// What a walk has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// States in which all rest.
    pub ends: u64,
    /// States that were not followed in all ways, as a worker had begun too often.
    pub cut: u64,
    /// The longest way, in steps.
    pub depth: usize,
    /// The most commits that recovery alone told of, in one end.
    pub recovered: usize,
    /// Whether the walk was ended before its end, as there were too many states.
    pub is_partial: bool,
}

/// What is wrong, and how one comes there.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub what: String,
    pub way: Vec<String>,
    /// How many states were seen before.
    pub states: u64,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, step) in self.way.iter().enumerate() {
            writeln!(f, "{:3}  {step}", number + 1)?;
        }
        write!(f, "{}", self.what)
    }
}

/// A state on the way, and the steps from it that have not been taken.
struct Place<P: Subject> {
    state: State<P>,
    left: Vec<Action>,
}

/// Walks through all states, or as many as `most`.
///
/// # Errors
/// The first thing that is wrong.
pub fn explore<P: Subject>(protocol: &P, limits: Limits, most: u64) -> Result<Seen, Wrong> {
    let model = Model { protocol, limits };
    let mut seen = Seen::default();
    let mut known: HashSet<u64, foldhash::fast::FixedState> = HashSet::default();
    let (mut way, mut taken): (Vec<Place<P>>, Vec<Action>) = (Vec::new(), Vec::new());
    let start = model.start().map_err(|what| wrong(what, &taken, 0))?;
    let mut arrived = Some(start);
    loop {
        if let Some(state) = arrived.take().filter(|state| known.insert(state.fingerprint())) {
            let left = enter(&model, &state, &mut seen)
                .map_err(|what| wrong(what, &taken, known.len()))?;
            seen.depth = seen.depth.max(taken.len());
            way.push(Place { state, left });
        } else {
            taken.pop();
        }
        if known.len() as u64 >= most {
            seen.is_partial = true;
            break;
        }
        // A place without a step left is behind us, and so is the step that led there.
        while way.last().is_some_and(|place| place.left.is_empty()) {
            way.pop();
            taken.pop();
        }
        let Some(place) = way.last_mut() else { break };
        let action = place.left.pop().expect("there is a step left");
        let next = model.step(&place.state, &action);
        taken.push(action);
        seen.steps += 1;
        arrived = Some(next.map_err(|what| wrong(what, &taken, known.len()))?);
    }
    seen.states = known.len() as u64;
    Ok(seen)
}

/// Judges a new state, and gives the steps from it.
fn enter<P: Subject>(
    model: &Model<'_, P>,
    state: &State<P>,
    seen: &mut Seen,
) -> Result<Vec<Action>, String> {
    match model.judge(state)? {
        Verdict::Go(actions) => return Ok(actions),
        Verdict::Done => {
            seen.ends += 1;
            seen.recovered = seen.recovered.max(state.course().commits().1);
        }
        Verdict::Cut => {
            seen.cut += 1;
            if seen.cut.is_power_of_two() || seen.cut.is_multiple_of(SETTLED) {
                model.settle(state)?;
            }
        }
    }
    Ok(Vec::new())
}

fn wrong(what: String, taken: &[Action], states: usize) -> Wrong {
    Wrong { what, way: taken.iter().map(Action::to_string).collect(), states: states as u64 }
}
