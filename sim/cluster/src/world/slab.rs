// SPDX-License-Identifier: MIT OR Apache-2.0
//! The things that are under way, in places that are used again.

use cluster::engine::{Class, Endpoint, Operation, Outcome, Stage, Token};
use cluster::near;

/// The place of a parcel.
pub(super) type Handle = u32;

/// The most bytes of a message that lie in its parcel itself.
const NEAR: usize = 108;
/// In place of a number of near bytes: they lie beside.
const BESIDE: u8 = u8::MAX;

/// A message or a memory operation under way, or in an inbox. It has two lines of the cache to itself; of a
/// short message, the first has all.
#[repr(C, align(64))]
pub(super) struct Parcel {
    pub from: Endpoint,
    pub to: Endpoint,
    /// Its bytes on the wire, with all headers.
    pub wire: u32,
    /// Its number among the messages of the run.
    pub number: u32,
    pub class: Class,
    pub stage: Stage,
    form: Form,
    near_bytes: u8,
    near: [u8; NEAR],
}

const _: () = assert!(size_of::<Parcel>() == 128 && NEAR < BESIDE as usize);

/// What a parcel is, as far as it tells itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Message,
    Gathered,
    Operation,
}

/// What a parcel is about, beside its bytes.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub from: Endpoint,
    pub to: Endpoint,
    pub class: Class,
    pub stage: Stage,
    pub wire: u32,
    pub number: u32,
}

/// What does not fit into a parcel: long messages, and memory operations.
#[derive(Clone)]
pub(super) struct Beside {
    /// The operation, if it is one.
    pub body: Body,
    pub bytes: Vec<u8>,
}

impl Parcel {
    /// Whether it is no memory operation.
    pub fn is_message(&self) -> bool {
        self.form != Form::Operation
    }
}

/// What a parcel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// A message.
    Message,
    /// Messages that share a frame.
    Gathered,
    /// A memory operation on its way to the memory.
    Request(Request),
    /// Its answer.
    Answer(Request, Outcome),
}

/// A memory operation, and which life of its node has asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub token: Token,
    pub operation: Operation,
    pub position: u32,
    pub batch: u32,
    pub incarnation: u32,
}

/// All parcels.
#[derive(Default)]
pub(super) struct Slab {
    parcels: Vec<Parcel>,
    /// What belongs to the parcel of the same place. As long as it has had to be.
    beside: Vec<Beside>,
    free: Vec<Handle>,
    /// How many of those in use are not membership traffic.
    ordinary: u32,
}

impl Slab {
    /// Keeps a parcel; its bytes are copied into memory that is there already.
    pub fn put(&mut self, label: Label, body: Body, bytes: &[u8]) -> Handle {
        let Label { from, to, class, stage, wire, number } = label;
        self.ordinary += u32::from(class != Class::Control);
        let form = match body {
            Body::Message => Form::Message,
            Body::Gathered => Form::Gathered,
            Body::Request(_) | Body::Answer(..) => Form::Operation,
        };
        let is_near = form != Form::Operation && bytes.len() <= NEAR;
        let near_bytes = if is_near { bytes.len() as u8 } else { BESIDE };
        let handle = self.free.pop().unwrap_or(self.parcels.len() as Handle);
        if handle as usize == self.parcels.len() {
            let near = [0; NEAR];
            self.parcels.push(Parcel {
                from,
                to,
                wire,
                number,
                class,
                stage,
                form,
                near_bytes,
                near,
            });
        }
        // What is not written is not touched: a short message stays in one line.
        let place = &mut self.parcels[handle as usize];
        (place.from, place.to, place.wire, place.number) = (from, to, wire, number);
        (place.class, place.stage, place.form, place.near_bytes) = (class, stage, form, near_bytes);
        if is_near {
            place.near[..bytes.len()].copy_from_slice(bytes);
        } else {
            self.put_beside(handle, body, bytes);
        }
        handle
    }

    #[inline(never)]
    fn put_beside(&mut self, handle: Handle, body: Body, bytes: &[u8]) {
        let place = handle as usize;
        if place >= self.beside.len() {
            self.beside.resize(place + 1, Beside { body, bytes: Vec::new() });
        }
        let beside = &mut self.beside[place];
        beside.body = body;
        beside.bytes.clear();
        beside.bytes.extend_from_slice(bytes);
    }

    /// The same parcel once more.
    pub fn copy(&mut self, handle: Handle) -> Handle {
        let &Parcel { from, to, class, stage, wire, number, .. } = self.get(handle);
        let label = Label { from, to, class, stage, wire, number };
        let (body, bytes) = (self.body(handle), self.bytes(handle).to_vec());
        self.put(label, body, &bytes)
    }

    /// Fetches a parcel's first line, which is all of a short message.
    #[inline]
    pub fn fetch(&self, handle: Handle) {
        near::fetch(self.parcels.as_ptr().wrapping_add(handle as usize));
    }

    pub fn get(&self, handle: Handle) -> &Parcel {
        &self.parcels[handle as usize]
    }

    /// What a parcel is.
    #[inline]
    pub fn body(&self, handle: Handle) -> Body {
        match self.get(handle).form {
            Form::Message => Body::Message,
            Form::Gathered => Body::Gathered,
            Form::Operation => self.beside[handle as usize].body,
        }
    }

    /// The bytes of a message, or those that an operation writes or has read.
    #[inline]
    pub fn bytes(&self, handle: Handle) -> &[u8] {
        let parcel = self.get(handle);
        match parcel.near_bytes {
            BESIDE => &self.beside[handle as usize].bytes,
            length => &parcel.near[..usize::from(length)],
        }
    }

    /// A memory operation, to be changed.
    pub fn operation(&mut self, handle: Handle) -> &mut Beside {
        &mut self.beside[handle as usize]
    }

    /// The bytes on the wire of what an operation sends next.
    pub fn set_wire(&mut self, handle: Handle, wire: u32) {
        self.parcels[handle as usize].wire = wire;
    }

    pub fn free(&mut self, handle: Handle) {
        self.ordinary -= u32::from(self.get(handle).class != Class::Control);
        self.free.push(handle);
    }

    /// How many parcels are under way that are not membership traffic.
    pub fn ordinary(&self) -> u32 {
        self.ordinary
    }

    /// The parcels that are under way and not membership traffic. Slow: for reports of errors.
    pub fn all_ordinary(&self) -> impl Iterator<Item = &Parcel> {
        let all = self.parcels.iter().enumerate();
        let used = all.filter(|(place, _)| !self.free.contains(&(*place as Handle)));
        used.map(|(_, parcel)| parcel).filter(|parcel| parcel.class != Class::Control)
    }
}

#[cfg(test)]
mod tests {
    use cluster::engine::NodeId;

    use super::*;

    const LABEL: Label = Label {
        from: Endpoint::host(NodeId(1), 2),
        to: Endpoint::host(NodeId(3), 4),
        class: Class::Foreground,
        stage: Stage::Execute,
        wire: 5,
        number: 6,
    };

    #[test]
    fn a_place_keeps_messages_of_any_length_and_operations_in_turn() {
        let mut slab = Slab::default();
        let request = |length| Request {
            token: Token(length as u32),
            operation: Operation::Write { at: 64 },
            position: 0,
            batch: 1,
            incarnation: 0,
        };
        let lengths = [0, 1, NEAR, NEAR + 1, usize::from(BESIDE), 4096];
        let bodies = |length| [Body::Message, Body::Gathered, Body::Request(request(length))];
        for (length, body) in lengths.into_iter().flat_map(|it| bodies(it).map(|body| (it, body))) {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let handle = slab.put(LABEL, body, &bytes);
            let copy = slab.copy(handle);
            assert_ne!(handle, copy);
            for place in [handle, copy] {
                assert_eq!((slab.bytes(place), slab.body(place)), (&bytes[..], body));
                assert_eq!(slab.get(place).is_message(), !matches!(body, Body::Request(_)));
            }
            assert_eq!(slab.ordinary(), 2);
            [handle, copy].into_iter().for_each(|place| slab.free(place));
            assert_eq!((slab.parcels.len(), slab.all_ordinary().count()), (2, 0));
        }
    }
}
