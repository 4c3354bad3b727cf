// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps from state to state, and what is right in one.

use std::fmt;
use std::rc::Rc;

use cluster::engine::{
    Class, Effects, Endpoint, Input, Instant, Machine, Node, NodeId, Outcome, Part, Token,
    TransactionId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::state::{Held, Message, Name, Process, State};
use super::subject::{Limits, Subject};

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A worker begins.
    Begin(Endpoint, u8),
    /// A message arrives.
    Deliver(Rc<Message>),
    /// A message arrives and will do so once more.
    Duplicate(Rc<Message>),
    /// A message is lost.
    Lose(Rc<Message>),
    /// A part polls, as it wanted to.
    Poll(Endpoint),
    /// A process ends.
    Crash(NodeId),
    /// A process that has ended begins anew, and so do its workers.
    Restart(NodeId),
    /// Time goes on to the next deadline of any part.
    Wait,
}

/// What to do with a state.
pub enum Verdict {
    /// Take each of these actions.
    Go(Vec<Action>),
    /// All rest, and all is right.
    Done,
    /// A worker has begun too often.
    Cut,
}

pub struct Model<'a, P> {
    pub protocol: &'a P,
    pub limits: Limits,
}

/// What a part is called in the names of its attempts.
fn part_name(endpoint: Endpoint) -> TransactionId {
    let Part::HostThread(thread) = endpoint.part else { return TransactionId::default() };
    TransactionId::new(endpoint.node, thread, 0, 0)
}

impl<P: Subject> Model<'_, P> {
    /// The state before anybody has begun: all have had an empty burst, and have their first leases.
    ///
    /// # Errors
    /// When what the machines tell is wrong.
    pub fn start(&self) -> Result<State<P>, String> {
        let nodes = (0..self.protocol.nodes()).map(|node| Some(self.protocol.start(NodeId(node))));
        let hold = |node: Option<Node<P::Machine>>| {
            node.map_or(Process::None, |node| Process::Up(Rc::new(Held::new(node))))
        };
        let mut state = State {
            nodes: nodes.chain([self.protocol.manager()]).map(hold).collect(),
            begins: self.protocol.workers(),
            flight: Vec::new(),
            now: Instant::default(),
            crashes: if self.limits.may_crash.is_empty() { 0 } else { self.limits.crashes },
            restarts: self.limits.restarts,
            duplicates: self.limits.duplicates,
            losses: self.limits.losses,
            course: Rc::default(),
        };
        let due: Vec<Endpoint> = state.deadlines().map(|(part, _)| part).collect();
        due.into_iter().try_for_each(|part| self.burst(&mut state, part, &[Input::Deadline]))?;
        self.renew(&mut state)?;
        Ok(state)
    }

    /// Lets all messages arrive that only renew leases.
    fn renew(&self, state: &mut State<P>) -> Result<(), String> {
        let renews = |message: &Rc<Message>| self.protocol.renews(message.stage, &message.bytes);
        while let Some(message) = state.flight.iter().find(|message| renews(message)).cloned() {
            state.take(&message);
            self.deliver(state, &message)?;
        }
        Ok(())
    }

    /// What can happen next.
    ///
    /// # Errors
    /// When the state is wrong.
    pub fn judge(&self, state: &State<P>) -> Result<Verdict, String> {
        if state.is_quiet() && self.is_at_rest(state) {
            self.check(state)?;
            let restarts = self.restarts(state);
            return Ok(if restarts.is_empty() { Verdict::Done } else { Verdict::Go(restarts) });
        }
        if state.course.most_repeats() > self.limits.repeats {
            return Ok(Verdict::Cut);
        }
        let actions = self.actions(state);
        match actions.is_empty() {
            true => Err("stuck: nothing can happen, and not all rest".into()),
            false => Ok(Verdict::Go(actions)),
        }
    }

    /// Goes on from a state without anything more going wrong, one action or the other next, until all
    /// rest: nobody may be in the way of the others for ever.
    ///
    /// # Errors
    /// When something is wrong on the way, or they do not come to rest.
    pub fn settle(&self, state: &State<P>) -> Result<(), String> {
        let limits = Limits { repeats: 200, ..self.limits.clone() };
        let model = Model { protocol: self.protocol, limits };
        let mut state = state.clone();
        (state.crashes, state.duplicates, state.losses) = (0, 0, 0);
        state.end_restarts();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20_000 {
            match model.judge(&state)? {
                Verdict::Done => return Ok(()),
                Verdict::Cut => break,
                Verdict::Go(actions) => {
                    let action = &actions[random.random_range(0..actions.len())];
                    state = model.step(&state, action)?;
                }
            }
        }
        Err("no progress: all have had their turns many times, and not all rest".into())
    }

    fn actions(&self, state: &State<P>) -> Vec<Action> {
        let begins = state.begins.iter().map(|(part, worker)| Action::Begin(*part, *worker));
        let mut actions: Vec<Action> = begins.collect();
        for (place, message) in state.flight.iter().enumerate() {
            if place > 0 && *message == state.flight[place - 1] || !state.is_up(message.to.node) {
                continue;
            }
            let stages = &self.limits.stages;
            let is_chosen = stages.is_empty() || stages.contains(&message.stage);
            actions.push(Action::Deliver(Rc::clone(message)));
            let is_of_wire = message.from.node != message.to.node;
            let is_chosen = is_chosen && is_of_wire;
            if state.duplicates > 0 && is_chosen {
                actions.push(Action::Duplicate(Rc::clone(message)));
            }
            if state.losses > 0 && is_chosen {
                actions.push(Action::Lose(Rc::clone(message)));
            }
        }
        let due = state.deadlines().filter(|(_, deadline)| *deadline <= state.now);
        actions.extend(due.map(|(part, _)| part).chain(state.finders()).map(Action::Poll));
        // A worker that begins after all of this has other things to see only if the node comes back.
        let has_begun = state.begins.is_empty() || state.restarts > 0;
        if state.crashes > 0 && has_begun && !state.is_quiet() {
            let crashes = self.limits.may_crash.iter().map(|node| Action::Crash(*node));
            actions.extend(
                crashes.filter(|crash| matches!(crash, Action::Crash(node) if state.is_up(*node))),
            );
        }
        actions.extend(self.restarts(state));
        if self.may_wait(state, actions.is_empty()) {
            actions.push(Action::Wait);
        }
        actions
    }

    fn restarts(&self, state: &State<P>) -> Vec<Action> {
        match state.restarts {
            0 => Vec::new(),
            _ => state.down().map(Action::Restart).collect(),
        }
    }

    /// Leases of those that live are renewed in time, so nothing of membership is under way while time
    /// passes. Other messages may be slower than a change of the membership, but no slower.
    fn may_wait(&self, state: &State<P>, is_idle: bool) -> bool {
        let end = Instant::default() + self.limits.horizon;
        let is_later = |(_, deadline): (_, Instant)| deadline > state.now && deadline <= end;
        let is_prompt = |message: &Rc<Message>| {
            message.class != Class::Foreground && state.is_up(message.to.node)
        };
        let is_troubled = state.down().next().is_some();
        state.deadlines().any(is_later)
            && !state.flight.iter().any(is_prompt)
            && !state.deadlines().any(|(_, deadline)| deadline <= state.now)
            && (is_idle || is_troubled && !self.is_settled(state))
    }

    fn is_settled(&self, state: &State<P>) -> bool {
        let down: Vec<NodeId> = state.down().collect();
        self.protocol.is_settled(&state.up(), &down)
    }

    /// Whether the workers that live rest, and nobody has anything to do.
    fn is_at_rest(&self, state: &State<P>) -> bool {
        let rests = |(part, worker): &(Endpoint, u8)| {
            let name = part_name(*part).0 | u64::from(*worker) << 32;
            !state.is_up(part.node) || state.course.rests(TransactionId(name))
        };
        let down: Vec<NodeId> = state.down().collect();
        self.protocol.workers().iter().all(rests) && self.protocol.is_settled(&state.up(), &down)
    }

    /// Checks a state in which all rest.
    fn check(&self, state: &State<P>) -> Result<(), String> {
        let rows = state.course.serial_order(&self.protocol.rows())?;
        let up = state.up();
        for (key, digest) in rows {
            for (node, found) in self.protocol.replicas(&up, key) {
                if found != digest {
                    return Err(format!(
                        "{key:?} is {found:#x} at {node:?}; the transactions leave {digest:#x}"
                    ));
                }
            }
        }
        let nodes: Vec<_> = up.iter().filter(|(id, _)| *id != NodeId::MANAGER).copied().collect();
        self.protocol.check_at_rest(&nodes)
    }

    /// The state after an action.
    ///
    /// # Errors
    /// When what the machines tell is wrong.
    pub fn step(&self, state: &State<P>, action: &Action) -> Result<State<P>, String> {
        let mut next = state.clone();
        match action {
            Action::Begin(part, worker) => {
                next.begins.retain(|begin| begin != &(*part, *worker));
                self.burst(&mut next, *part, &[Input::Begin { worker: *worker }])?;
            }
            Action::Deliver(message) => {
                next.take(message);
                self.deliver(&mut next, message)?;
            }
            Action::Duplicate(message) => {
                next.duplicates -= 1;
                self.deliver(&mut next, message)?;
            }
            Action::Lose(message) => {
                next.losses -= 1;
                next.take(message);
            }
            Action::Poll(part) => self.burst(&mut next, *part, &[Input::Deadline])?,
            Action::Crash(node) => {
                next.crashes -= 1;
                self.end_process(&mut next, *node);
            }
            Action::Restart(node) => self.restart(&mut next, *node)?,
            Action::Wait => self.wait(&mut next)?,
        }
        self.renew(&mut next)?;
        Ok(next)
    }

    fn deliver(&self, state: &mut State<P>, message: &Message) -> Result<(), String> {
        match (message.from.part, message.to.part) {
            (_, Part::Memory) => {
                state.operate(message);
                Ok(())
            }
            (Part::Memory, _) => {
                let (token, rest) = message.bytes.split_first_chunk().expect("a token");
                let (done, bytes) = rest.split_first().expect("how it ended");
                let token = Token(u32::from_le_bytes(*token));
                let outcome = if *done == 1 { Outcome::Done } else { Outcome::Failed };
                self.burst(state, message.to, &[Input::Completed { token, outcome, bytes }])
            }
            _ => {
                let input = Input::Message { from: message.from, bytes: &message.bytes };
                self.burst(state, message.to, &[input])
            }
        }
    }

    /// Gives a part of a node a burst, and takes its effects.
    fn burst(
        &self,
        state: &mut State<P>,
        part: Endpoint,
        inputs: &[Input<'_>],
    ) -> Result<(), String> {
        let index = state.index(part.node);
        let Some(held) = state.nodes[index].up() else { return Ok(()) };
        let mut node = held.node.clone();
        let place = match part.part {
            Part::HostThread(thread) => thread,
            Part::NicCore(core) => P::HOST_THREADS.saturating_add(core),
            Part::Memory | Part::Switch => return Err(format!("no such {part:?}")),
        };
        let mut effects = Effects::new();
        let machine = node.parts.get_mut(usize::from(place));
        let machine = machine.ok_or_else(|| format!("no such {part:?}"))?;
        machine.burst(&mut node.shared, state.now, inputs, &mut effects);
        state.nodes[index] = Process::Up(Rc::new(Held::new(node)));
        if !effects.moments().is_empty() {
            Rc::make_mut(&mut state.course).take(part_name(part), &effects)?;
        }
        state.send_all(part, &effects)?;
        if effects.is_killed() {
            self.end_process(state, part.node);
        }
        Ok(())
    }

    /// The process of a node is gone. Messages that are under way to it reach the next one, or nobody if there
    /// will be none.
    fn end_process(&self, state: &mut State<P>, node: NodeId) {
        let index = state.index(node);
        let next = state.nodes[index].up().filter(|_| state.restarts > 0);
        let next = next.map(|held| self.protocol.restart(node, held.node.shared.clone()));
        state.nodes[index] = Process::Down(next.map(|node| Rc::new(Held::new(node))));
        state.begins.retain(|(part, _)| part.node != node);
        state.drop_undeliverable();
        Rc::make_mut(&mut state.course).forget_node(node);
    }

    fn restart(&self, state: &mut State<P>, node: NodeId) -> Result<(), String> {
        let index = state.index(node);
        let Process::Down(Some(next)) = &state.nodes[index] else {
            return Err(format!("node {} has nothing to begin with", node.0));
        };
        state.nodes[index] = Process::Up(Rc::clone(next));
        state.restarts -= 1;
        if state.restarts == 0 {
            state.end_restarts();
        }
        let workers = self.protocol.workers().into_iter().filter(|(part, _)| part.node == node);
        for (part, worker) in workers {
            if self.limits.begins_again {
                self.burst(state, part, &[Input::Begin { worker }])?;
            } else {
                Rc::make_mut(&mut state.course).rest(part_name(part), worker);
            }
        }
        Ok(())
    }

    /// Goes on to the next deadline of any part.
    fn wait(&self, state: &mut State<P>) -> Result<(), String> {
        let later = state.deadlines().map(|(_, deadline)| deadline);
        state.now = later.filter(|deadline| *deadline > state.now).min().expect("a deadline");
        let due: Vec<Endpoint> = state
            .deadlines()
            .filter(|(_, deadline)| *deadline <= state.now)
            .map(|(part, _)| part)
            .collect();
        due.into_iter().try_for_each(|part| self.burst(state, part, &[Input::Deadline]))
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(part, worker) => write!(f, "worker {worker} of {} begins", Name(*part)),
            Self::Deliver(message) => write!(f, "arrives: {message}"),
            Self::Duplicate(message) => write!(f, "arrives, and will again: {message}"),
            Self::Lose(message) => write!(f, "is lost: {message}"),
            Self::Poll(part) => write!(f, "{} polls", Name(*part)),
            Self::Crash(node) => write!(f, "node {} crashes", node.0),
            Self::Restart(node) => write!(f, "node {} begins anew", node.0),
            Self::Wait => write!(f, "time passes"),
        }
    }
}
