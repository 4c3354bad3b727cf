// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines beside the RTL: an index, and a look-up for each context. They are told in which order the index
//! was asked, what the scanner has said, and which words of the directory have come; all else has to be theirs.

use std::collections::{BTreeMap, VecDeque};

use nic::index::{self, Index, Operation};
use nic::lookup::{
    Action, Answer, Counters, Event, Geometry, LookUp, Part, Read, Reader, Request, Status,
};
use nic::scan;

use crate::dut::{
    AnswerWords, IndexAnswerWords, IndexRequestWords, PORTS, RequestWords, ScanWords, Trace,
};
use crate::host::{Host, Saw};

/// Combinations of versions of lines that a scan is compared with, at most.
const MOST_COMBINATIONS: usize = 512;

/// The machines, by the words of the pins.
pub trait Oracle {
    /// A port has taken a request.
    fn accept(&mut self, port: usize, words: &RequestWords, shown: usize);
    /// Follows what happened a clock ago.
    fn follow(&mut self, trace: &Trace, host: &Host, may_fail: [bool; 2]) -> Result<(), String>;
    /// A port gives an answer: compares it, and gives its status.
    fn answered(&mut self, port: usize, words: &AnswerWords) -> Result<Status, String>;
    /// Requests that are not over, also for the index.
    fn under_way(&self) -> usize;
    fn counters(&self) -> Counters;
    fn epoch(&self, key: u64) -> u16;
    /// Whether memory has the entry of a segment, as far as it means something.
    fn has(&self, segment: u32, words: &[u64]) -> bool;
    /// An entry as it lies in memory.
    fn entry(&self, segment: u32) -> Vec<u64>;
    /// Carries a request to the index out before anything else happens.
    fn prepare(&mut self, words: &RequestWords);
}

/// A read that was given to the vectorizer.
#[derive(Clone, Copy, Debug)]
struct Given {
    read: Read,
    /// Visible stores when it was given, and when it had ended.
    from: usize,
    to: Option<usize>,
    /// A word of the directory may come before its read ends.
    has_come: bool,
}

struct Context<const WORDS: usize> {
    port: usize,
    token: u16,
    key: u64,
    /// None of a request whose operation has no meaning.
    look_up: Option<LookUp<WORDS>>,
    /// Visible stores when it was accepted.
    from: usize,
    /// Reads that the machine wants, and that were given.
    wanted: Vec<Read>,
    given: BTreeMap<u8, Given>,
    /// What the index has to be told.
    told: VecDeque<index::Request<WORDS>>,
}

pub struct Shadow<const OBJECTS: usize, const WORDS: usize> {
    geometry: Geometry<WORDS>,
    index: Index<OBJECTS, WORDS>,
    counters: Counters,
    /// By port, accepted requests that the index has not been asked for.
    accepted: [VecDeque<(RequestWords, usize)>; PORTS],
    contexts: BTreeMap<u8, Context<WORDS>>,
    /// By segment, what the index was asked, in this order.
    asked: BTreeMap<u32, VecDeque<(u16, IndexRequestWords)>>,
    /// By port and token, answers that have to be given.
    answers: BTreeMap<(usize, u16), AnswerWords>,
}

const PARTS: [Part; 3] = [Part::Row, Part::Bucket, Part::Directory];

impl<const OBJECTS: usize, const WORDS: usize> Shadow<OBJECTS, WORDS> {
    pub fn new(geometry: Geometry<WORDS>, most_pins: u8) -> Self {
        Shadow {
            geometry,
            index: Index::new(*geometry.table(), most_pins),
            counters: Counters::default(),
            accepted: Default::default(),
            contexts: BTreeMap::new(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }

    fn context(&mut self, number: u8) -> Result<&mut Context<WORDS>, String> {
        self.contexts.get_mut(&number).ok_or_else(|| format!("context {number:#x} is not in use"))
    }

    /// The index was asked: by a new request, or by a look-up that has ended.
    fn follow_request(&mut self, words: &IndexRequestWords) -> Result<(), String> {
        let token = (words[3] >> 16) as u16;
        let (number, tells) = (token as u8, token >> 8 & 1 == 1);
        let expected =
            match tells {
                true => {
                    let told = self.context(number)?.told.pop_front();
                    Some(told.ok_or_else(|| {
                        format!("{number:#x} tells what it has not to: {words:x?}")
                    })?)
                }
                false => self.begin(number)?,
            };
        let asked = index::Request::<WORDS>::from_words(words).ok().map(|asked| asked.1);
        let [asked, expected] = [asked, expected].map(|request| request.map(meaning));
        if asked != expected {
            return Err(format!("{number:#x} asks {asked:x?}, expected {expected:x?}"));
        }
        let home = self.geometry.home(words[0]);
        let places = u64::from(home) << 32 | u64::from(self.geometry.segment(home));
        if words[1] != places {
            return Err(format!("home and segment {:#x}, expected {places:#x}", words[1]));
        }
        self.asked.entry(words[1] as u32).or_default().push_back((token, *words));
        Ok(())
    }

    /// The oldest request of a port gets a context, and asks the index.
    fn begin(&mut self, number: u8) -> Result<Option<index::Request<WORDS>>, String> {
        let port = usize::from(number >> 7);
        let accepted = self.accepted[port].pop_front();
        let (words, from) = accepted.ok_or("a request that was not accepted")?;
        let token = words[1] as u16;
        let begun = Request::from_words(&words).ok().map(|request| {
            let (look_up, action) = LookUp::new(self.geometry, request);
            let Action::Index(asked) = action else { panic!("{action:?}") };
            (look_up, asked)
        });
        let (look_up, asked) = begun.unzip();
        let context = Context {
            port,
            token,
            key: words[0],
            look_up,
            from,
            wanted: Vec::new(),
            given: BTreeMap::new(),
            told: VecDeque::new(),
        };
        match self.contexts.insert(number, context) {
            None => Ok(asked),
            Some(_) => Err(format!("context {number:#x} is given twice")),
        }
    }

    /// The index has answered. Requests on one entry are answered in the order in which they were asked.
    fn follow_answer(
        &mut self,
        words: &IndexAnswerWords,
        host: &Host,
        may_fail: bool,
    ) -> Result<(), String> {
        let token = (words[2] >> 16) as u16;
        let status = words[2] & 0xF;
        let request = self.take_asked(token, status)?;
        let answer = match index::Request::<WORDS>::from_words(&request) {
            _ if status == index::Status::BusError as u64 && may_fail => {
                index::Answer::refused(index::Status::BusError)
            }
            Ok((_, request)) => self.index.apply(&request),
            Err(_) => index::Answer::refused(index::Status::OutOfRange),
        };
        let expected = answer.to_words(token);
        if words[..expected.len()] != expected {
            return Err(format!("the index answers {words:x?}, expected {expected:x?}"));
        }
        self.tell(token as u8, Event::Index(answer), host)
    }

    fn take_asked(&mut self, token: u16, status: u64) -> Result<IndexRequestWords, String> {
        let found = self.asked.values_mut().find_map(|asked| {
            let place = asked.iter().position(|asked| asked.0 == token)?;
            Some((place, asked.remove(place).expect("it was found there").1))
        });
        match found {
            None => Err(format!("index token {token:#x} is answered and not open")),
            Some((place, _)) if place > 0 && status != index::Status::OutOfRange as u64 => {
                Err(format!("index token {token:#x} overtook another of its segment"))
            }
            Some((_, request)) => Ok(request),
        }
    }

    /// A read was given to the vectorizer.
    fn follow_read(&mut self, words: [u64; 2], shown: usize) -> Result<(), String> {
        let [first, second] = words;
        let (number, part) = (first as u8, (first >> 8 & 3) as usize);
        let address = first >> 32 | second << 32;
        let bytes = (first >> 16 & 0xFFFF) as u32;
        let context = self.context(number)?;
        let is_it =
            |read: &Read| (read.part as usize, read.address, read.bytes) == (part, address, bytes);
        let Some(place) = context.wanted.iter().position(is_it) else {
            return Err(format!(
                "{number:#x} reads part {part}, {bytes} bytes at {address:#x}, expected {:x?}",
                context.wanted
            ));
        };
        let read = context.wanted.swap_remove(place);
        context.given.insert(part as u8, Given { read, from: shown, to: None, has_come: false });
        Ok(())
    }

    /// A read has ended.
    fn follow_done(&mut self, word: u16, host: &Host, may_fail: bool) -> Result<(), String> {
        let (number, part, response) = (word as u8, (word >> 8 & 3) as u8, word >> 10 & 3);
        let given = self.context(number)?.given.get_mut(&part);
        let given = given.filter(|given| given.to.is_none());
        let given =
            given.ok_or_else(|| format!("{number:#x}: part {part} ends and is not read"))?;
        given.to = Some(host.shown);
        match response {
            0 if given.has_come => {
                self.context(number)?.given.remove(&part);
                self.forget(number);
                Ok(())
            }
            0 => Ok(()),
            _ if given.has_come => Err(format!("{given:x?} has come and ends with {response}")),
            _ if may_fail => {
                self.arrived(number, part, Event::Failed(PARTS[usize::from(part)]), host)
            }
            _ => Err(format!("{given:x?} ends with {response}")),
        }
    }

    /// A part has come or failed: it can be given again.
    fn arrived(
        &mut self,
        number: u8,
        part: u8,
        event: Event<WORDS>,
        host: &Host,
    ) -> Result<(), String> {
        let all = &mut self.context(number)?.given;
        let given = all.get_mut(&part).filter(|given| !given.has_come);
        let given =
            given.ok_or_else(|| format!("{number:#x}: part {part} has come and is not read"))?;
        given.has_come = true;
        if given.to.is_some() {
            all.remove(&part);
        }
        self.tell(number, event, host)
    }

    fn follow_scan(&mut self, words: &ScanWords, host: &Host) -> Result<(), String> {
        let (number, part) = (words[0] as u8, (words[0] >> 8 & 3) as u8);
        let answer = scan::Answer::from_words(&words[1..3 + WORDS]);
        let answer = answer.map_err(|error| error.to_string())?;
        let geometry = self.geometry;
        let given = self.context(number)?.given.get(&part).copied();
        let given = given.ok_or_else(|| format!("{number:#x}: part {part} is not read"))?;
        check_scan(&geometry, &given, &answer, number, host)?;
        self.arrived(number, part, Event::Scanned(PARTS[usize::from(part)], answer), host)
    }

    fn follow_word(&mut self, words: [u64; 2], host: &Host) -> Result<(), String> {
        let (number, word) = (words[0] as u8, words[1]);
        let part = Part::Directory as u8;
        let given = self.context(number)?.given.get(&part).copied();
        let given = given.ok_or_else(|| format!("{number:#x}: no word is read"))?;
        let address = given.read.address;
        let to = given.to.unwrap_or(host.shown);
        let versions = host.versions(host.line(address), given.from, to);
        if !versions.iter().any(|line| line[address as usize / 8 % 8] == word) {
            return Err(format!("the word {word:#x} came, and memory never had it"));
        }
        self.arrived(number, part, Event::Word(word), host)
    }

    /// Tells a look-up of an event, and takes down what it wants.
    fn tell(&mut self, number: u8, event: Event<WORDS>, host: &Host) -> Result<(), String> {
        let counters = &mut self.counters;
        let context = self.contexts.get_mut(&number);
        let context = context.ok_or_else(|| format!("context {number:#x} is not in use"))?;
        let Some(look_up) = &mut context.look_up else {
            counters.requests += 1;
            counters.index_errors += u64::from(is_bus_error(&event));
            let Event::Index(answer) = event else { return Err(format!("{event:?}")) };
            let answer = Answer::<WORDS>::refused(context.token, answer.status);
            self.answers.insert((context.port, context.token), padded(&answer.to_words()));
            self.contexts.remove(&number);
            return Ok(());
        };
        for action in look_up.take(event, counters) {
            match action {
                Action::Trip(reads) => context.wanted = reads,
                Action::Index(request) => context.told.push_back(request),
                Action::Answer(answer) => {
                    check_answer(context.key, &answer, context.from, host)?;
                    let place = (context.port, context.token);
                    self.answers.insert(place, padded(&answer.to_words()));
                }
            }
        }
        self.forget(number);
        Ok(())
    }

    /// Gives a context up whose request is over.
    fn forget(&mut self, number: u8) {
        let is_over = |context: &Context<WORDS>| {
            context.given.is_empty() && context.look_up.as_ref().is_some_and(LookUp::is_over)
        };
        if self.contexts.get(&number).is_some_and(is_over) {
            self.contexts.remove(&number);
        }
    }
}

fn is_bus_error<const WORDS: usize>(event: &Event<WORDS>) -> bool {
    matches!(event, Event::Index(answer) if answer.status == index::Status::BusError)
}

fn padded(words: &[u64]) -> AnswerWords {
    let mut all = AnswerWords::default();
    all[..words.len()].copy_from_slice(words);
    all
}

/// The request without the fields that its operation has no use for.
fn meaning<const WORDS: usize>(request: index::Request<WORDS>) -> index::Request<WORDS> {
    use Operation::{
        Evict, Fill, LockAndRead, LookUp, SetHint, Unlock, Unpin, UpdateAndPin, Validate,
    };
    let index::Request { operation, key, home, segment, .. } = request;
    let mut meant = index::Request::new(operation, key, home, segment);
    match operation {
        LookUp | LockAndRead | Unlock => meant.owner = request.owner,
        Validate => (meant.owner, meant.version) = (request.owner, request.version),
        Fill => {
            (meant.epoch, meant.version) = (request.epoch, request.version);
            meant.value = request.value;
            meant.hint.displacement = request.hint.displacement;
        }
        UpdateAndPin => {
            (meant.owner, meant.version) = (request.owner, request.version);
            meant.value = request.value;
        }
        Unpin | Evict => {}
        SetHint => meant.hint = request.hint,
    }
    meant
}

/// Compares a scan with the machine, over what the lines were while they were read.
fn check_scan<const WORDS: usize>(
    geometry: &Geometry<WORDS>,
    given: &Given,
    answer: &scan::Answer,
    number: u8,
    host: &Host,
) -> Result<(), String> {
    let to = given.to.ok_or_else(|| format!("{given:x?} is scanned before it has ended"))?;
    let lines: Vec<_> = given.read.lines().collect();
    let versions: Vec<_> =
        lines.iter().map(|line| host.versions(host.line(*line), given.from, to)).collect();
    let combinations: usize = versions.iter().map(Vec::len).product();
    if combinations > MOST_COMBINATIONS {
        return Ok(());
    }
    let expected = |mut combination: usize| {
        let mut reader = Reader::new(geometry, given.read);
        let mut events = versions.iter().map(|versions| {
            let line = versions[combination % versions.len()];
            combination /= versions.len();
            reader.take::<WORDS>(Ok(line))
        });
        match events.by_ref().last().flatten() {
            Some(Event::Scanned(_, expected)) => scan::Answer { token: number, ..expected },
            other => panic!("{other:?} from lines that are slots"),
        }
    };
    if (0..combinations).any(|combination| expected(combination) == *answer) {
        return Ok(());
    }
    Err(format!("{given:x?} is scanned as {answer:x?}, expected {:x?}", expected(0)))
}

/// What comes from host memory was there. (What the index has, anybody may have put there.)
fn check_answer<const WORDS: usize>(
    key: u64,
    answer: &Answer<WORDS>,
    from: usize,
    host: &Host,
) -> Result<(), String> {
    let saw = match (answer.status, answer.content) {
        (Status::Absent, _) => Saw::Absent,
        (Status::GaveUp, _) => Saw::GaveUp,
        (Status::DONE, Some(content)) if !content.is_cached => Saw::Object {
            version: content.version,
            length: content.length.into(),
            is_out_of_line: content.is_out_of_line,
            words: content.value.to_vec(),
        },
        _ => return Ok(()),
    };
    host.allows(key, &saw, from, host.shown)
}

impl<const OBJECTS: usize, const WORDS: usize> Oracle for Shadow<OBJECTS, WORDS> {
    fn accept(&mut self, port: usize, words: &RequestWords, shown: usize) {
        self.accepted[port].push_back((*words, shown));
    }

    fn follow(&mut self, trace: &Trace, host: &Host, may_fail: [bool; 2]) -> Result<(), String> {
        if let Some(words) = &trace.request {
            self.follow_request(words)?;
        }
        if let Some(words) = &trace.answer {
            self.follow_answer(words, host, may_fail[1])?;
        }
        if let Some(words) = trace.read {
            self.follow_read(words, host.shown)?;
        }
        if let Some(word) = trace.done {
            self.follow_done(word, host, may_fail[0])?;
        }
        if let Some(words) = &trace.scan {
            self.follow_scan(words, host)?;
        }
        if let Some(words) = trace.word {
            self.follow_word(words, host)?;
        }
        Ok(())
    }

    fn answered(&mut self, port: usize, words: &AnswerWords) -> Result<Status, String> {
        let token = words[0] as u16;
        let expected = self.answers.remove(&(port, token));
        let expected =
            expected.ok_or_else(|| format!("port {port} answers {words:x?}, not yet or again"))?;
        if *words != expected {
            return Err(format!("port {port} answers {words:x?}, expected {expected:x?}"));
        }
        Ok(Answer::<WORDS>::from_words(words).status)
    }

    fn under_way(&self) -> usize {
        let accepted: usize = self.accepted.iter().map(VecDeque::len).sum();
        accepted + self.contexts.len() + self.answers.len()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn epoch(&self, key: u64) -> u16 {
        self.index.entry(self.geometry.segment(self.geometry.home(key))).epoch()
    }

    fn has(&self, segment: u32, words: &[u64]) -> bool {
        index::Entry::decode(words) == self.index.entry(segment)
    }

    fn entry(&self, segment: u32) -> Vec<u64> {
        self.index.entry(segment).encode()
    }

    fn prepare(&mut self, words: &RequestWords) {
        let Ok(request) = Request::<WORDS>::from_words(words) else { return };
        let Action::Index(asked) = LookUp::new(self.geometry, request).1 else { return };
        self.index.apply(&asked);
    }
}
