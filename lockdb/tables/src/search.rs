// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plan of all tables: reads the places of a key until it is found, or until two readings confirm that it
//! is not there.

use crate::link::Link;
use crate::mutant::{Mutant, planted};
use crate::object::{Look, Pointer, fits, look, value_in_slot, value_out_of_line};
use crate::plan::{Found, Plan, Range, Step};
use crate::slot::{LINE_WORDS, Meta};
use crate::walk::{Hint, Node, Walk};

/// How many readings of all places a look-up takes at most, unless its maker says otherwise.
pub const MOST_READINGS: u32 = 1000;

/// Whether a key is absent is only known from two readings that are equal.
///
/// The first reading follows hints and links, and stops when the key is found. The others ask for all places at
/// once, as far as those of the reading before hold.
///
/// Source: Afek et al., "Atomic snapshots of shared memory", JACM 1993, for the double collect; Xenic, section
/// 4.1.3, for the reads of d + k slots and then up to D_m.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Search<W> {
    walk: W,
    key: u64,
    hint: Hint,
    most_readings: u32,
    state: State,
    /// What the step asked for.
    pieces: Vec<Piece>,
    /// What is left of the first row while the hinted overflow bucket is read.
    rest: Option<Piece>,
    now: Reading,
    before: Option<Reading>,
    readings: u32,
    /// A slot with the key and the header of its bucket, until they are read alike once more.
    seen: Option<(usize, Meta, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum State {
    Start,
    Slots,
    /// The slots of the first row that were left out for an overflow bucket.
    Rest(Piece),
    /// The value of the object in the slot is being read.
    Heap(Match, Pointer),
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Match {
    meta: Meta,
    header: Option<u64>,
    place: usize,
    node: usize,
    slot: usize,
}

/// Slots `from` to `to` of a node, and its link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Piece {
    node: Node,
    from: usize,
    to: usize,
    link: bool,
}

/// What one reading of all places has shown. Two that are equal and undisturbed were the same memory at the
/// instant between them: each link has its stamp, and the sum of the slots' stamps only grows.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Reading {
    nodes: Vec<Node>,
    links: Vec<u64>,
    /// Modulo 2²⁰, like the stamps themselves.
    stamps: u32,
    disturbed: bool,
    /// A slot has shown that the key cannot lie behind it.
    ended: bool,
}

impl<W: Walk> Search<W> {
    /// A look-up that takes at most so many readings, at least two.
    pub fn new(walk: W, key: u64, hint: Hint, most_readings: u32) -> Self {
        Search {
            walk,
            key,
            hint,
            most_readings: most_readings.max(2),
            state: State::Start,
            pieces: Vec::new(),
            rest: None,
            now: Reading::default(),
            before: None,
            readings: 0,
            seen: None,
        }
    }

    /// The key that is looked up.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Number of readings of all places that have ended so far.
    pub fn readings(&self) -> u32 {
        self.readings
    }

    fn start(&mut self) -> Step {
        let node = self.walk.first(self.key);
        let first = self.walk.hinted(self.hint, node.count).min(node.count);
        self.state = State::Slots;
        if first < node.count {
            return self.read(vec![Piece { node, from: 0, to: first, link: false }]);
        }
        let link = self.hint.overflow.is_none();
        self.read(vec![Piece { node, from: 0, to: node.count, link }])
    }

    fn read(&mut self, pieces: Vec<Piece>) -> Step {
        let ranges = pieces.iter().flat_map(|piece| self.ranges(piece)).collect();
        self.pieces = pieces;
        Step::Read(ranges)
    }

    fn words_asked_for(&self) -> usize {
        let words = |piece: &Piece| self.ranges(piece).map(|range| range.words).sum::<usize>();
        match &self.state {
            State::Start | State::Over => 0,
            State::Slots => self.pieces.iter().map(words).sum(),
            State::Rest(rest) => words(rest),
            State::Heap(_, pointer) => pointer.lines() as usize * LINE_WORDS,
        }
    }

    /// One range, or two when the link lies apart.
    fn ranges(&self, piece: &Piece) -> impl Iterator<Item = Range> + use<W> {
        let Piece { node, from, to, link } = *piece;
        let words = self.walk.ground().layout.words();
        let lead = if from == 0 { node.lead } else { 0 };
        let first = node.slots + from * words - lead;
        let slots = Range { first, words: (to - from) * words + lead, objects: to - from };
        let apart = node.link.filter(|_| link && !node.has_link_in_lead());
        [Some(slots), apart.map(|first| Range { first, words: 1, objects: 0 })]
            .into_iter()
            .flatten()
    }

    fn take_slots(&mut self, mut words: &[u64]) -> Step {
        let pieces = std::mem::take(&mut self.pieces);
        for (index, piece) in pieces.iter().enumerate() {
            let (found, link) = self.take_piece(piece, &mut words);
            if let Some(found) = found {
                return found;
            }
            if piece.to < piece.node.count && !self.now.ended {
                return self.read_further(piece);
            }
            if let Some(last) = self.now.nodes.last_mut() {
                // Another reading is for what has been read, which is less if the walk ended before.
                last.count = piece.to;
            }
            let Some(node) = self.next_node(&piece.node, link) else {
                return self.read_rest();
            };
            if pieces.get(index + 1).is_none_or(|next| next.node != node) {
                return self.read(vec![whole(node)]);
            }
        }
        unreachable!("the last piece has no successor among the pieces")
    }

    /// The overflow bucket, if the hint tells of one: then most keys that are farther than the displacement lie
    /// there. Else the slots next to those that have been read.
    fn read_further(&mut self, piece: &Piece) -> Step {
        let count = piece.node.count;
        let to = self.walk.further(piece.to, count);
        let link = to == count && self.hint.overflow.is_none();
        let next = Piece { from: piece.to, to, link, ..*piece };
        let Some(known) = self.hint.overflow.filter(|_| to == count) else {
            return self.read(vec![next]);
        };
        match self.walk.behind(known) {
            Some(node) => {
                self.now.links.push(known.0);
                self.rest = Some(next);
                self.read(vec![whole(node)])
            }
            None => self.read(vec![next]),
        }
    }

    /// What was left out for the hinted overflow bucket, before the reading ends.
    fn read_rest(&mut self) -> Step {
        match self.rest.take() {
            Some(rest) => {
                self.state = State::Rest(rest);
                Step::Read(self.ranges(&rest).collect())
            }
            None => self.end_reading(),
        }
    }

    fn take_rest(&mut self, rest: Piece, mut words: &[u64]) -> Step {
        self.state = State::Slots;
        self.take_piece(&rest, &mut words).0.unwrap_or_else(|| self.end_reading())
    }

    /// The node behind this one, if the walk goes on.
    fn next_node(&mut self, node: &Node, link: Option<u64>) -> Option<Node> {
        if self.now.ended {
            return None;
        }
        let Some(link) = link else { return self.walk.adjacent(node) };
        self.now.links.push(link);
        self.now.disturbed |= Link(link).is_unreadable();
        // A chain that goes round was read while it changed.
        let node = self.walk.behind(Link(link)).filter(|node| !self.now.nodes.contains(node));
        self.now.disturbed |= node.is_none() && Link(link).bucket().is_some();
        node
    }

    /// Takes the words of one piece: an end, or the link.
    fn take_piece(&mut self, piece: &Piece, words: &mut &[u64]) -> (Option<Step>, Option<u64>) {
        let mut read = [&[][..]; 2];
        for (part, range) in read.iter_mut().zip(self.ranges(piece)) {
            (*part, *words) = words.split_at(range.words);
        }
        let [slots, apart] = read;
        let Piece { node, from, to, link } = *piece;
        let lead = if from == 0 { node.lead } else { 0 };
        if from == 0 {
            self.now.nodes.push(node);
        }
        let header = self.header(&node, slots);
        let size = self.walk.ground().layout.words();
        for (slot, words) in (from..to).zip(slots[lead..].chunks_exact(size)) {
            if let Some(step) = self.take_slot(&node, slot, words, header) {
                return (Some(step), None);
            }
        }
        let link = match node.link {
            Some(at) if node.has_link_in_lead() => Some(slots[at + lead - node.slots]),
            Some(_) if link => Some(apart[0]),
            Some(_) => self.hint.overflow.map(|link| link.0),
            None => None,
        };
        (None, link)
    }

    fn header(&mut self, node: &Node, words: &[u64]) -> Option<u64> {
        let at = self.walk.header(self.key)?;
        let start = node.slots - node.lead;
        if (start..node.slots).contains(&at) {
            self.now.links.push(words[at - start]);
        }
        self.now.links.first().copied()
    }

    fn take_slot(
        &mut self,
        node: &Node,
        slot: usize,
        words: &[u64],
        header: Option<u64>,
    ) -> Option<Step> {
        let stamps = self.now.stamps + Meta(words[0]).stamp();
        self.now.stamps = stamps & ((1 << Meta::STAMP_BITS) - 1);
        let other = match look(words, self.key) {
            Look::Unclear => {
                self.now.disturbed = true;
                return None;
            }
            Look::Match(meta) => {
                let place = node.slots + slot * words.len();
                let is_it = |other: &Node| other.slots == node.slots;
                let node = self.now.nodes.iter().position(is_it).expect("it is being read");
                return Some(self.matched(words, Match { meta, header, place, node, slot }));
            }
            Look::Empty => None,
            Look::Other(key) => Some(key),
        };
        self.now.ended |= self.walk.has_ends() && self.walk.ends_at(self.key, other);
        None
    }

    fn matched(&mut self, words: &[u64], found: Match) -> Step {
        let ground = *self.walk.ground();
        if !self.is_with_its_header(found) || !fits(ground.layout, found.meta) {
            return self.read_undisturbed();
        }
        if !found.meta.is_pointer() {
            let mut value = Vec::with_capacity(found.meta.length());
            value_in_slot(words, &mut value);
            return self.found(found, value);
        }
        let pointer = Pointer::of_word(words[2]);
        let inside = pointer.line as u64 + pointer.lines() as u64 <= ground.heap_lines as u64;
        if !inside || pointer.length as usize > ground.longest {
            return self.read_undisturbed();
        }
        self.state = State::Heap(found, pointer);
        let first = ground.heap + pointer.line as usize * LINE_WORDS;
        Step::Read(vec![Range { first, words: pointer.lines() as usize * LINE_WORDS, objects: 0 }])
    }

    fn take_value(&mut self, lines: &[u64], found: Match, pointer: Pointer) -> Step {
        let mut value = Vec::with_capacity(pointer.length as usize);
        if value_out_of_line(lines, self.key, found.meta.version(), pointer, &mut value) {
            return self.found(found, value);
        }
        self.state = State::Slots;
        self.read_undisturbed()
    }

    /// Whether slot and header are of one instant: read in one line, or alike in two readings.
    fn is_with_its_header(&mut self, found: Match) -> bool {
        let (Some(header), Some(at)) = (found.header, self.walk.header(self.key)) else {
            return true;
        };
        let seen = Some((found.place, found.meta, header));
        let alike = self.seen == seen || at / LINE_WORDS == found.place / LINE_WORDS;
        self.seen = seen;
        (alike || planted(Mutant::HeaderNotConfirmed)) && header != u64::MAX
    }

    /// A reading that came across the key says nothing of its absence.
    fn read_undisturbed(&mut self) -> Step {
        self.now.disturbed = true;
        self.read_again()
    }

    fn found(&mut self, found: Match, value: Vec<u8>) -> Step {
        self.state = State::Over;
        let Match { meta, header, place, node, slot } = found;
        let version = header.map_or(meta.version() as u64, |header| header >> 1);
        let locked = header.is_some_and(|header| header & 1 == 1);
        Step::Found(Found { version, locked, value, place, node, slot })
    }

    /// All places have been read.
    fn end_reading(&mut self) -> Step {
        let confirmed = self.before.as_ref() == Some(&self.now) || planted(Mutant::NoConfirmation);
        if confirmed && !self.now.disturbed {
            self.state = State::Over;
            return Step::Absent;
        }
        self.read_again()
    }

    fn read_again(&mut self) -> Step {
        self.rest = None;
        self.readings += 1;
        if self.readings >= self.most_readings {
            self.state = State::Over;
            return Step::GaveUp { readings: self.readings };
        }
        let last = std::mem::take(&mut self.now);
        let pieces = last.nodes.iter().copied().map(whole).collect();
        self.before = Some(last);
        self.read(pieces)
    }
}

impl<W: Walk> Plan for Search<W> {
    fn next(&mut self, words: &[u64]) -> Step {
        let over = matches!(self.state, State::Over);
        assert!(!over, "the look-up of key {} has ended", self.key);
        assert_eq!(words.len(), self.words_asked_for(), "number of words that were asked for");
        match self.state {
            State::Start => self.start(),
            State::Slots => self.take_slots(words),
            State::Rest(rest) => self.take_rest(rest, words),
            State::Heap(found, pointer) => self.take_value(words, found, pointer),
            State::Over => unreachable!("see above"),
        }
    }
}

fn whole(node: Node) -> Piece {
    Piece { node, from: 0, to: node.count, link: true }
}
