//! The state space: one bucket, a few agents, one memory access at a time.

use lockdb::machine::{
    Access, Answer, Bounds, Machine, Outcome, Phase, Place, Refusal, Repair, RepairStep, Request,
    Rule,
};
use lockdb::{Head, Ring, Timestamp};
use stateright::{Model, Property};

use crate::sabotage::Sabotage;

/// Who takes part.
#[derive(Clone, Copy, Debug)]
pub struct Agents {
    /// Agents that read a line word by word and never die.
    pub hosts: usize,
    /// Agents that read a line in one snapshot and may die at any step.
    pub devices: usize,
    /// How often each takes the lock.
    pub acquisitions: u8,
}

/// What is explored.
#[derive(Clone, Debug)]
pub struct LockModel {
    pub agents: Agents,
    pub slots: u8,
    pub sabotage: Option<Sabotage>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    words: [u64; 8],
    agents: Vec<Agent>,
    /// Somebody was granted before a waiter that had been there first.
    overtaken: bool,
    /// A request ended in a way that has no place here.
    absurd: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    stage: Stage,
    acquisitions: u8,
    /// Bit a: agent a was waiting already when this agent asked, and still does.
    ahead: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    Running { machine: Machine, reading: Reading },
    Waiting(Place),
    Holding,
    Dead { repair: Repair, reading: Reading },
    Finished,
}

/// The words that a host has read of a line so far.
type Reading = Vec<u64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask for the lock, give it back, or see how the wait stands.
    Start(usize),
    /// Leave the queue.
    Cancel(usize),
    /// Make the next access.
    Access(usize),
    /// Stop for ever; the host starts the repair.
    Die(usize),
}

impl LockModel {
    fn bounds(&self) -> Bounds {
        Bounds { ring: Ring::new(self.slots).unwrap(), rounds: 0 }
    }

    fn is_device(&self, agent: usize) -> bool {
        agent >= self.agents.hosts
    }

    fn start(&self, state: &mut State, agent: usize, request: Request) {
        if matches!(request, Request::Acquire(_)) {
            state.agents[agent].ahead = state.waiting();
        }
        if matches!(request, Request::Cancel(_)) {
            state.forget(agent);
        }
        let machine = Machine::new(timestamp(agent), request, self.bounds());
        state.agents[agent].stage = Stage::Running { machine, reading: Reading::new() };
        // Asking changes nothing that others see, so it needs no step of its own.
        self.access(state, agent);
    }

    /// Agents of one kind are interchangeable: let them come in order.
    fn may_come(&self, state: &State, agent: usize) -> bool {
        let pristine = |agent: &Agent| {
            agent.stage == Stage::Idle && agent.acquisitions == self.agents.acquisitions
        };
        let first_of_its_kind = agent == 0 || agent == self.agents.hosts;
        first_of_its_kind || !pristine(&state.agents[agent]) || !pristine(&state.agents[agent - 1])
    }

    /// One access of a running machine or repair.
    fn access(&self, state: &mut State, agent: usize) {
        match state.agents[agent].stage.clone() {
            Stage::Running { mut machine, mut reading } => {
                let honest = (machine.access(), false);
                let (access, blind) =
                    self.sabotage.map_or(honest, |s| s.tamper(machine.phase(), honest.0));
                let snapshot = self.is_device(agent);
                let Some(answer) = state.perform(access, blind, snapshot, &mut reading, self.slots)
                else {
                    state.agents[agent].stage = Stage::Running { machine, reading };
                    return;
                };
                let answer = match machine.phase() {
                    Phase::Clear => Answer::Cleared,
                    _ => answer,
                };
                state.agents[agent].stage = Stage::Running { machine, reading };
                if let Some(outcome) = machine.resume(answer) {
                    state.end(agent, outcome);
                } else {
                    state.agents[agent].stage = Stage::Running { machine, reading: Reading::new() };
                }
            }
            Stage::Dead { mut repair, mut reading } => {
                let Some(answer) =
                    state.perform(repair.access(), false, false, &mut reading, self.slots)
                else {
                    state.agents[agent].stage = Stage::Dead { repair, reading };
                    return;
                };
                state.agents[agent].stage = match repair.resume(answer) {
                    RepairStep::Continue => Stage::Dead { repair, reading: Reading::new() },
                    RepairStep::Done { .. } => Stage::Finished,
                    RepairStep::BusError => unreachable!("this memory does not fail"),
                };
            }
            other => unreachable!("{other:?} makes no access"),
        }
    }
}

impl State {
    fn head(&self) -> Head {
        Head::from_word(self.words[0])
    }

    /// The agents that have been told that they wait.
    fn waiting(&self) -> u8 {
        let waits = |agent: &Agent| match &agent.stage {
            Stage::Waiting(_) => true,
            Stage::Running { machine, .. } => matches!(machine.request(), Request::Poll(_)),
            _ => false,
        };
        (0..self.agents.len()).filter(|&a| waits(&self.agents[a])).fold(0, |set, a| set | 1 << a)
    }

    /// The agent no longer waits: nobody is behind it any more.
    fn forget(&mut self, agent: usize) {
        for other in &mut self.agents {
            other.ahead &= !(1 << agent);
        }
    }

    fn end(&mut self, agent: usize, outcome: Outcome) {
        let this = &mut self.agents[agent];
        this.stage = match outcome {
            Outcome::Granted { .. } => Stage::Holding,
            Outcome::Queued { place, .. } => Stage::Waiting(place),
            Outcome::Released { .. } | Outcome::Cancelled | Outcome::Refused(Refusal::Full) => {
                this.acquisitions -= 1;
                if this.acquisitions == 0 { Stage::Finished } else { Stage::Idle }
            }
            // There are neither bus errors nor other rules here, and only holders release.
            _ => {
                self.absurd = true;
                Stage::Finished
            }
        };
        if this.stage == Stage::Holding {
            self.overtaken |= this.ahead & !(1 << agent) != 0;
        }
        if !matches!(self.agents[agent].stage, Stage::Waiting(_)) {
            self.agents[agent].ahead = 0;
            self.forget(agent);
        }
    }

    /// Performs an access; `None` when a host has read one word of a line and others are to come.
    fn perform(
        &mut self,
        access: Access,
        blind: bool,
        snapshot: bool,
        reading: &mut Reading,
        slots: u8,
    ) -> Option<Answer> {
        Some(match access {
            Access::LoadHead => Answer::Word(self.words[0]),
            Access::ReadLine if snapshot => Answer::Line(self.words),
            Access::ReadLine => {
                reading.push(self.words[reading.len()]);
                if reading.len() <= slots as usize {
                    return None;
                }
                let mut line = [0; 8];
                line[..reading.len()].copy_from_slice(reading);
                Answer::Line(line)
            }
            Access::CompareSwap { word, expected, new } => {
                let old = self.words[word as usize];
                if blind || old == expected {
                    self.words[word as usize] = new;
                }
                Answer::Word(if blind { expected } else { old })
            }
            Access::Clear(slot) => {
                self.words[slot.index()] = 0;
                Answer::Cleared
            }
        })
    }

    /// Whether a poll would tell the waiter anything new.
    fn has_news(&self, agent: usize, place: Place) -> bool {
        self.head().is_held_by(timestamp(agent)) || !self.head().is_waiting(place.slot)
    }
}

fn timestamp(agent: usize) -> Timestamp {
    Timestamp::new(agent as u64 + 1).unwrap()
}

impl Model for LockModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let acquisitions = self.agents.acquisitions;
        let agent = Agent { stage: Stage::Idle, acquisitions, ahead: 0 };
        let count = self.agents.hosts + self.agents.devices;
        vec![State { words: [0; 8], agents: vec![agent; count], overtaken: false, absurd: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (index, agent) in state.agents.iter().enumerate() {
            match &agent.stage {
                Stage::Idle if !self.may_come(state, index) => {}
                Stage::Idle | Stage::Holding => actions.push(Action::Start(index)),
                Stage::Running { .. } | Stage::Dead { .. } => actions.push(Action::Access(index)),
                Stage::Waiting(place) => {
                    if state.has_news(index, *place) {
                        actions.push(Action::Start(index));
                    }
                    actions.push(Action::Cancel(index));
                }
                Stage::Finished => {}
            }
            let alive = !matches!(agent.stage, Stage::Idle | Stage::Dead { .. } | Stage::Finished);
            if self.is_device(index) && alive {
                actions.push(Action::Die(index));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Start(agent) => {
                let request = match state.agents[agent].stage {
                    Stage::Idle => Request::Acquire(Rule::Queue),
                    Stage::Holding => Request::Release,
                    Stage::Waiting(place) => Request::Poll(place),
                    ref other => unreachable!("{other:?} asks for nothing"),
                };
                self.start(&mut state, agent, request);
            }
            Action::Cancel(agent) => {
                let Stage::Waiting(place) = state.agents[agent].stage else {
                    return None;
                };
                self.start(&mut state, agent, Request::Cancel(place));
            }
            Action::Access(agent) => self.access(&mut state, agent),
            Action::Die(agent) => {
                let repair = Repair::new(timestamp(agent), self.bounds());
                state.agents[agent].stage = Stage::Dead { repair, reading: Reading::new() };
                state.agents[agent].ahead = 0;
                state.forget(agent);
                self.access(&mut state, agent);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a holder is named by the head, alone", |_, state: &State| {
                state.agents.iter().enumerate().all(|(index, agent)| {
                    agent.stage != Stage::Holding || state.head().is_held_by(timestamp(index))
                })
            }),
            Property::always("waiters are granted in order", |_, state: &State| !state.overtaken),
            Property::always("the head is well formed", |model: &LockModel, state: &State| {
                state.head().check(model.bounds().ring).is_ok()
            }),
            Property::always(
                "every registered slot holds a live waiter",
                |model: &LockModel, state: &State| {
                    state.head().queue(model.bounds().ring).all(|slot| {
                        let owner = (0..state.agents.len())
                            .find(|&a| timestamp(a).word() == state.words[slot.index()]);
                        owner.is_some_and(|a| {
                            !matches!(
                                state.agents[a].stage,
                                Stage::Idle | Stage::Holding | Stage::Finished
                            )
                        })
                    })
                },
            ),
            Property::always(
                "nobody is stuck and nothing is left behind",
                |model: &LockModel, state: &State| {
                    let mut actions = Vec::new();
                    model.actions(state, &mut actions);
                    // A waiter can always cancel, a device can die; it must not take that.
                    let moves = actions
                        .iter()
                        .any(|action| matches!(action, Action::Start(_) | Action::Access(_)));
                    let finished = state.agents.iter().all(|agent| agent.stage == Stage::Finished);
                    moves || (finished && state.words == [0; 8])
                },
            ),
        ]
    }
}
