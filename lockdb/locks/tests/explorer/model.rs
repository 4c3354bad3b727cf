// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state space: one bucket, a few agents, one memory access at a time.

use std::fmt;

use locks::machine::{
    Access, Answer, Bounds, Machine, Outcome, Phase, Place, Refusal, Repair, RepairStep, Request,
    Rule,
};
use locks::{Head, Ring, Timestamp};
use stateright::{Model, Property};

use crate::mutant::Mutant;

/// How an agent takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role {
    /// It reads a line in one snapshot and may die at any step; else, as a host, it reads a line
    /// word by word and never dies.
    pub device: bool,
    /// It works for the transaction of the other twins; else it is a transaction by itself.
    pub twin: bool,
    /// How often it takes the lock, with the same timestamp.
    pub acquisitions: u8,
}

/// The explored configuration.
#[derive(Clone, Debug)]
pub struct LockModel {
    /// The agents. Twins release once, when the requests of all have ended. They die together, and
    /// only if all are devices: a host first ends what it has under way.
    pub roles: Vec<Role>,
    pub rule: Rule,
    pub slots: u8,
    pub mutant: Option<Mutant>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    words: [u64; 8],
    agents: Vec<Agent>,
    /// A request was granted before an earlier waiter.
    overtaken: bool,
    /// A request ended in a way that has no place here.
    absurd: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    stage: Stage,
    acquisitions: u8,
    /// Bit a: agent a was waiting already when this agent asked, and still does. Shared waiters share
    /// another's place, so that they are neither ahead of nor behind any waiter.
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
    /// Stop forever; the host starts the repair.
    Die(usize),
}

impl fmt::Display for LockModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for role in &self.roles {
            let kind = if role.device { "device" } else { "host" };
            write!(f, "{}{kind}", if role.twin { "twin " } else { "" })?;
            write!(f, "{}, ", if role.acquisitions == 1 { "" } else { " that comes back" })?;
        }
        write!(f, "{:?}, {} slots", self.rule, self.slots)?;
        self.mutant.map_or(Ok(()), |mutant| write!(f, ", {mutant:?}"))
    }
}

impl LockModel {
    fn bounds(&self) -> Bounds {
        Bounds { ring: Ring::new(self.slots).unwrap(), rounds: 0 }
    }

    /// Then a head that looks the same may stand before another queue.
    fn anybody_comes_back(&self) -> bool {
        self.roles.iter().any(|role| role.acquisitions > 1)
    }

    /// The transaction of the request. Twins, which come first, are younger than their first rival
    /// and older than the second.
    fn timestamp(&self, agent: usize) -> Timestamp {
        Timestamp::new(if self.roles[agent].twin { 7 } else { 2 * agent as u64 + 2 }).unwrap()
    }

    /// The agents of one transaction, this one too.
    fn family(&self, agent: usize) -> impl Iterator<Item = usize> + '_ {
        let of_family = move |other| self.timestamp(other) == self.timestamp(agent);
        (0..self.roles.len()).filter(move |&other| of_family(other))
    }

    /// The transaction releases the lock when all of its requests have ended.
    fn may_release(&self, state: &State, agent: usize) -> bool {
        self.family(agent)
            .all(|other| matches!(state.agents[other].stage, Stage::Holding | Stage::Finished))
    }

    fn may_die(&self, state: &State, agent: usize) -> bool {
        let dead = |other: usize| matches!(state.agents[other].stage, Stage::Dead { .. });
        let idle = matches!(state.agents[agent].stage, Stage::Idle | Stage::Finished);
        !idle && self.family(agent).all(|other| self.roles[other].device && !dead(other))
    }

    fn start(&self, state: &mut State, agent: usize, request: Request) {
        if matches!(request, Request::Acquire(_)) {
            state.agents[agent].ahead = state.waiting();
        }
        if matches!(request, Request::Cancel(_)) {
            state.forget(agent);
        }
        if request == Request::Release {
            self.others(agent).for_each(|other| state.retire(other));
        }
        let machine = Machine::new(self.timestamp(agent), request, self.bounds());
        state.agents[agent].stage = Stage::Running { machine, reading: Reading::new() };
        // Asking changes nothing that others see, so it needs no step of its own.
        self.access(state, agent);
    }

    /// Agents of one role are interchangeable, unless their age matters: let them come in order.
    /// And nobody asks for a lock that its transaction is releasing.
    fn may_come(&self, state: &State, agent: usize) -> bool {
        let pristine = |agent: usize| {
            let Agent { stage, acquisitions, .. } = &state.agents[agent];
            *stage == Stage::Idle && *acquisitions == self.roles[agent].acquisitions
        };
        let comes_in_order = agent == 0
            || self.roles[agent - 1] != self.roles[agent]
            || self.rule == Rule::WaitDie && !self.roles[agent].twin
            || !pristine(agent)
            || !pristine(agent - 1);
        comes_in_order && !self.family(agent).any(|other| state.is_releasing(other))
    }

    /// What one does for a transaction with twins, it does for the others too.
    fn others<'a>(&'a self, agent: usize) -> impl Iterator<Item = usize> + 'a {
        self.family(agent).filter(move |&other| other != agent)
    }

    /// One access of a running machine or repair.
    fn access(&self, state: &mut State, agent: usize) {
        match state.agents[agent].stage.clone() {
            Stage::Running { mut machine, mut reading } => {
                let honest = (machine.access(), false);
                let (access, blind) =
                    self.mutant.map_or(honest, |mutant| mutant.tamper(machine.phase(), honest.0));
                let snapshot = self.roles[agent].device;
                let Some(answer) = state.perform(access, blind, snapshot, &mut reading, self.slots)
                else {
                    state.agents[agent].stage = Stage::Running { machine, reading };
                    return;
                };
                // A broken variant may have asked for the head instead.
                let answer = match (machine.phase(), answer) {
                    (Phase::Clear, Answer::Word(_)) => Answer::Cleared,
                    (Phase::Review, Answer::Word(head)) => {
                        Answer::Line([head, 0, 0, 0, 0, 0, 0, 0])
                    }
                    (_, answer) => answer,
                };
                state.agents[agent].stage = Stage::Running { machine, reading };
                if let Some(outcome) = machine.resume(answer) {
                    state.end(agent, machine.request(), outcome);
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
            Stage::Waiting(place) => !place.shared,
            Stage::Running { machine, .. } => {
                matches!(machine.request(), Request::Poll(place) if !place.shared)
            }
            _ => false,
        };
        (0..self.agents.len()).filter(|&a| waits(&self.agents[a])).fold(0, |set, a| set | 1 << a)
    }

    fn is_releasing(&self, agent: usize) -> bool {
        matches!(&self.agents[agent].stage, Stage::Running { machine, .. }
            if machine.request() == Request::Release)
    }

    /// The agent has finished with the lock, for this time or forever.
    fn retire(&mut self, agent: usize) {
        let this = &mut self.agents[agent];
        this.acquisitions = this.acquisitions.saturating_sub(1);
        this.stage = if this.acquisitions == 0 { Stage::Finished } else { Stage::Idle };
        this.ahead = 0;
        self.forget(agent);
    }

    /// The agent no longer waits: nobody is behind it any more.
    fn forget(&mut self, agent: usize) {
        for other in &mut self.agents {
            other.ahead &= !(1 << agent);
        }
    }

    fn end(&mut self, agent: usize, request: Request, outcome: Outcome) {
        let this = &mut self.agents[agent];
        match (request, outcome) {
            // Only itself, and for a shared waiter the owner of the place, ends a wait in vain.
            (Request::Poll(place), Outcome::Cancelled) if !place.shared => self.absurd = true,
            (_, Outcome::Queued { place, .. }) => {
                this.stage = Stage::Waiting(place);
                if place.shared {
                    this.ahead = 0;
                }
            }
            (_, Outcome::Granted { again }) => {
                self.overtaken |= !again && this.ahead & !(1 << agent) != 0;
                this.stage = Stage::Holding;
                this.ahead = 0;
                self.forget(agent);
            }
            (
                _,
                Outcome::Released { .. }
                | Outcome::Cancelled
                | Outcome::Refused(Refusal::Full | Refusal::Busy | Refusal::Die),
            ) => self.retire(agent),
            // There are no bus errors here and no bound of rounds, and only holders release.
            _ => self.absurd = true,
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
    fn has_news(&self, transaction: Timestamp, place: Place) -> bool {
        self.head().is_held_by(transaction) || !self.head().is_waiting(place.slot)
    }

    /// The words of the holder and of the waiters, in their order.
    fn line_up(&self, ring: Ring) -> Vec<u64> {
        let holder = self.words[0] & !0xFFFF;
        let waiters = self.head().queue(ring).map(|slot| self.words[slot.index()]);
        std::iter::once(holder).chain(waiters).collect()
    }

    /// Whether a transaction with this word has asked for the lock, and may wait for it.
    fn may_wait(&self, model: &LockModel, word: u64) -> bool {
        (0..self.agents.len()).filter(|&agent| model.timestamp(agent).word() == word).any(|agent| {
            let stage = &self.agents[agent].stage;
            let settled = matches!(stage, Stage::Idle | Stage::Holding | Stage::Finished);
            !settled && !self.is_releasing(agent)
        })
    }
}

impl Model for LockModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let idle =
            |role: &Role| Agent { stage: Stage::Idle, acquisitions: role.acquisitions, ahead: 0 };
        let agents = self.roles.iter().map(idle).collect();
        vec![State { words: [0; 8], agents, overtaken: false, absurd: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (index, agent) in state.agents.iter().enumerate() {
            match &agent.stage {
                Stage::Idle if !self.may_come(state, index) => {}
                Stage::Holding if !self.may_release(state, index) => {}
                Stage::Idle | Stage::Holding => actions.push(Action::Start(index)),
                Stage::Running { .. } | Stage::Dead { .. } => actions.push(Action::Access(index)),
                Stage::Waiting(place) => {
                    if state.has_news(self.timestamp(index), *place) {
                        actions.push(Action::Start(index));
                    }
                    actions.push(Action::Cancel(index));
                }
                Stage::Finished => {}
            }
            if self.may_die(state, index) {
                actions.push(Action::Die(index));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Start(agent) => {
                let request = match state.agents[agent].stage {
                    Stage::Idle => Request::Acquire(self.rule),
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
                for other in self.others(agent) {
                    state.agents[other].acquisitions = 1;
                    state.retire(other);
                }
                let repair = Repair::new(self.timestamp(agent), self.bounds());
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
            Property::always(
                "a holder is named by the head, alone",
                |model: &LockModel, state: &State| {
                    let holds = |agent: usize| state.head().is_held_by(model.timestamp(agent));
                    (0..state.agents.len())
                        .all(|agent| state.agents[agent].stage != Stage::Holding || holds(agent))
                },
            ),
            Property::always("waiters are granted in order", |_, state: &State| !state.overtaken),
            Property::always("every request ends as it may", |_, state: &State| !state.absurd),
            Property::always("the head is well formed", |model: &LockModel, state: &State| {
                state.head().check(model.bounds().ring).is_ok()
            }),
            Property::always(
                "every registered slot holds a live waiter",
                |model: &LockModel, state: &State| {
                    let line_up = state.line_up(model.bounds().ring);
                    line_up[1..].iter().all(|&word| state.may_wait(model, word))
                },
            ),
            Property::always("nobody waits twice", |model: &LockModel, state: &State| {
                let line_up = state.line_up(model.bounds().ring);
                let once = |place: usize| !line_up[..place].contains(&line_up[place]);
                model.anybody_comes_back() || (1..line_up.len()).all(once)
            }),
            Property::always("wait-die lets the older wait", |model: &LockModel, state: &State| {
                let line_up = state.line_up(model.bounds().ring);
                model.rule != Rule::WaitDie || line_up.is_sorted_by(|ahead, behind| ahead > behind)
            }),
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
