// SPDX-License-Identifier: MIT OR Apache-2.0
//! The things that are under way, in places that are used again.

use cluster::engine::{Class, Endpoint, Operation, Outcome, Stage, Token};

/// The place of a parcel.
pub(super) type Handle = u32;

/// A message or a memory operation under way, or in an inbox. It has lines of the cache to itself.
#[repr(C, align(64))]
pub(super) struct Parcel {
    pub from: Endpoint,
    pub to: Endpoint,
    pub class: Class,
    pub stage: Stage,
    /// Its bytes on the wire, with all headers.
    pub wire: u32,
    /// Its number among the messages of the run.
    pub number: u32,
    pub bytes: Vec<u8>,
    pub body: Body,
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

impl Body {
    /// Whether it is no memory operation.
    pub fn is_message(self) -> bool {
        matches!(self, Self::Message | Self::Gathered)
    }
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
    free: Vec<Handle>,
    /// How many of those in use are not membership traffic.
    ordinary: u32,
}

impl Slab {
    /// Keeps a parcel; its bytes are copied into memory that is there already.
    pub fn put(&mut self, parcel: Parcel, bytes: &[u8]) -> Handle {
        self.ordinary += u32::from(parcel.class != Class::Control);
        let Some(handle) = self.free.pop() else {
            self.parcels.push(Parcel { bytes: bytes.to_vec(), ..parcel });
            return self.parcels.len() as Handle - 1;
        };
        let place = &mut self.parcels[handle as usize];
        let mut kept = std::mem::take(&mut place.bytes);
        kept.clear();
        kept.extend_from_slice(bytes);
        *place = Parcel { bytes: kept, ..parcel };
        handle
    }

    /// The same parcel once more.
    pub fn copy(&mut self, handle: Handle) -> Handle {
        let Parcel { from, to, class, stage, wire, number, body, ref mut bytes } =
            self.parcels[handle as usize];
        let taken = std::mem::take(bytes);
        let parcel = Parcel { from, to, class, stage, wire, number, body, bytes: Vec::new() };
        let copy = self.put(parcel, &taken);
        self.parcels[handle as usize].bytes = taken;
        copy
    }

    /// Reads a little of a parcel, if there is such a place.
    #[inline]
    pub fn peek(&self, handle: Handle) -> u32 {
        self.parcels.get(handle as usize).map_or(0, |parcel| parcel.wire)
    }

    pub fn get(&self, handle: Handle) -> &Parcel {
        &self.parcels[handle as usize]
    }

    pub fn get_mut(&mut self, handle: Handle) -> &mut Parcel {
        &mut self.parcels[handle as usize]
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
