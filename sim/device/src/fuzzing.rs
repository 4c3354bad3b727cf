// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a hostile client's maps lead to, run by `device/fuzz` with any bytes and by a test with
//! random ones.
//!
//! The bytes are read as operations on an address space and the mover. A plain model says what each
//! must give: files are vectors of bytes, maps a list that is searched from its start, and a copy is
//! made with a vector in between.

#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use driver::HostMemory;
use rustix::fs::{MemfdFlags, OFlags, SealFlags};

use crate::address_space::{Access, AccessError, AddressSpace, MapError, PAGE_BYTES, Permission};
use crate::memory::Mapping;
use crate::mover::{BUFFER_BYTES, CHUNK_BYTES, Command, Mover, Status, Surroundings};

/// Bytes of the card's memory here.
const CARD_BYTES: u64 = 0x1_0000;

/// The most operations of one input: each may open a file.
const MOST_OPERATIONS: usize = 200;

/// The device addresses that operations favour: low ones, and the last ones.
const BASES: [u64; 2] = [0x10_0000, 0u64.wrapping_sub(16 * PAGE_BYTES)];

/// How often something was done and succeeded.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Maps that were made and are mapped.
    pub mapped: usize,
    /// Maps that were made and are not.
    pub unmapped: usize,
    /// Words and lines loaded, stored, or compared and swapped.
    pub words: usize,
    /// Bytes copied.
    pub copied: u64,
    /// Whatever was refused, and had to be.
    pub refused: usize,
}

/// Reads operations from `data` and carries them out.
///
/// # Panics
/// When anything differs from the model.
pub fn memory(data: &[u8]) -> Reached {
    let mut world = World::new();
    let mut script = Script(data);
    for _ in 0..MOST_OPERATIONS {
        if script.0.is_empty() {
            break;
        }
        world.operate(&mut script);
    }
    world.check_files();
    world.reached
}

/// The rest of the bytes; zeros follow them.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, bound: u64) -> u64 {
        u64::from(u16::from_le_bytes([self.byte(), self.byte()])) % bound
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number of pages near the favoured ones; at times any number.
    fn pages(&mut self, base: u64, bound: u64) -> u64 {
        match self.byte() {
            0 => self.word(),
            1 => base + self.below(bound) * PAGE_BYTES + self.below(PAGE_BYTES),
            _ => base + self.below(bound) * PAGE_BYTES,
        }
    }

    fn page_address(&mut self) -> u64 {
        let base = BASES[usize::from(self.byte() < 16)];
        self.pages(base, 16)
    }
}

/// A file of a client as it must be.
struct File {
    /// Open for reading and writing.
    file: OwnedFd,
    bytes: Vec<u8>,
    seals: SealFlags,
}

/// A file as the client has opened it for us.
#[derive(Debug, Clone, Copy)]
struct Opened {
    file: usize,
    offset: u64,
    readable: bool,
    writable: bool,
}

/// A map as it must be.
#[derive(Debug, Clone, Copy)]
struct Map {
    start: u64,
    bytes: u64,
    permission: Permission,
    opened: Option<Opened>,
    mapped: bool,
}

/// Where bytes of a copy lie in the model: in a file from this byte on, or on the card.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    place: Option<Opened>,
    offset: u64,
    left: u64,
    mapped: bool,
}

struct World {
    space: AddressSpace,
    mover: Mover,
    card_memory: Mapping,
    card: Vec<u8>,
    files: Vec<File>,
    maps: Vec<Map>,
    /// Memory of this process, which is also the first file.
    own: Arc<HostMemory>,
    /// Where the copy under way leaves bytes of no use: file (or the card) and range.
    blurred: Vec<(Option<usize>, Range<usize>)>,
    reached: Reached,
}

impl World {
    fn new() -> Self {
        let memory = |bytes: u64| {
            let memory = HostMemory::allocate(bytes as usize, driver::PAGE_BYTES);
            Arc::new(memory.expect("memory of this process"))
        };
        let own = memory(2 * PAGE_BYTES);
        let file = own.file().try_clone_to_owned().expect("a descriptor more");
        let bytes = vec![0; own.bytes()];
        World {
            space: AddressSpace::default(),
            mover: Mover::default(),
            card_memory: Mapping::of_memory(memory(CARD_BYTES)),
            card: vec![0; CARD_BYTES as usize],
            files: vec![File { file, bytes, seals: SealFlags::SHRINK | SealFlags::GROW }],
            maps: Vec::new(),
            own,
            blurred: Vec::new(),
            reached: Reached::default(),
        }
    }

    fn operate(&mut self, script: &mut Script<'_>) {
        match script.byte() % 16 {
            0 => self.make_file(script),
            1 => self.resize(script),
            2 => self.seal(script),
            3..=6 => self.map(script),
            7 => self.map_own(script),
            8 => self.unmap(script),
            9 => self.unmap_range(script),
            10 => self.line(script),
            11 | 12 => self.word(script),
            _ => self.copy(script),
        }
    }

    /// Where an access begins: mostly in a map, or just past it.
    fn address(&self, script: &mut Script<'_>) -> u64 {
        let number = usize::from(script.byte());
        match self.maps.get(number % (self.maps.len() + 1)) {
            Some(map) => map.start + script.below(map.bytes.min(0x7F00) + 0x100),
            None => script.page_address().wrapping_add(script.below(PAGE_BYTES)),
        }
    }

    fn some_file(&self, script: &mut Script<'_>) -> usize {
        script.below(self.files.len() as u64) as usize
    }

    fn make_file(&mut self, script: &mut Script<'_>) {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("device-fuzz", flags).expect("a file of memory");
        let seals = SealFlags::from_bits_truncate(u32::from(script.byte()))
            & (SealFlags::SHRINK | SealFlags::GROW);
        let size = script.pages(0, 32) % (32 * PAGE_BYTES);
        let salt = script.byte();
        let bytes: Vec<u8> = (0..size).map(|at| (at / 7) as u8 ^ salt).collect();
        let written = rustix::io::pwrite(&file, &bytes, 0);
        assert_eq!(written, Ok(bytes.len()), "the whole of a small file");
        rustix::fs::fcntl_add_seals(&file, seals).expect("seals on a new file");
        self.files.push(File { file, bytes, seals });
    }

    /// The client makes a file longer or shorter, where its seals let it.
    fn resize(&mut self, script: &mut Script<'_>) {
        let number = self.some_file(script);
        let size = script.pages(0, 32) % (32 * PAGE_BYTES);
        let file = &mut self.files[number];
        let old = file.bytes.len() as u64;
        let kept = size < old && file.seals.contains(SealFlags::SHRINK)
            || size > old && file.seals.contains(SealFlags::GROW);
        assert_eq!(rustix::fs::ftruncate(&file.file, size).is_err(), kept);
        if !kept {
            file.bytes.resize(size as usize, 0);
        }
    }

    fn seal(&mut self, script: &mut Script<'_>) {
        let number = self.some_file(script);
        let file = &mut self.files[number];
        rustix::fs::fcntl_add_seals(&file.file, SealFlags::SHRINK).expect("a seal more");
        file.seals |= SealFlags::SHRINK;
    }

    /// The file, reopened for what `mode` says.
    fn open(&self, number: usize, offset: u64, mode: u8) -> (OwnedFd, Opened) {
        let (readable, writable) = (mode != 1, mode != 0);
        let path = format!("/proc/self/fd/{}", self.files[number].file.as_raw_fd());
        let mut options = OpenOptions::new();
        options.read(readable).write(writable).custom_flags(OFlags::CLOEXEC.bits() as i32);
        let file = options.open(path).expect("a file of our own").into();
        (file, Opened { file: number, offset, readable, writable })
    }

    fn map(&mut self, script: &mut Script<'_>) {
        let address = script.page_address();
        let size = script.pages(0, 8);
        let bits = script.byte();
        let permission = Permission { readable: bits & 1 == 0, writable: bits & 2 == 0 };
        let opened = (bits & 0x1C != 0).then(|| {
            let number = self.some_file(script);
            let offset = script.pages(0, 8);
            self.open(number, offset, bits >> 5)
        });
        let model = opened.as_ref().map(|(_, opened)| *opened);
        let expected = self.expect_map(address, size, permission, model);
        let file = opened.map(|(file, opened)| (file, opened.offset));
        let found = self.space.map_file(address, size, file, permission);
        assert_eq!(found.as_ref().map_err(kind), expected.as_ref().map_err(|kind| *kind));
        self.note_map(address, size, permission, model, expected);
    }

    fn map_own(&mut self, script: &mut Script<'_>) {
        let address = script.page_address();
        let opened = Opened { file: 0, offset: 0, readable: true, writable: true };
        let permission = Permission { readable: true, writable: true };
        let size = self.own.bytes() as u64;
        let expected = self.expect_map(address, size, permission, Some(opened));
        let found = self.space.map_memory(address, self.own.clone()).map(|()| true);
        assert_eq!(found.as_ref().map_err(kind), expected.as_ref().map_err(|kind| *kind));
        self.note_map(address, size, permission, Some(opened), expected);
    }

    /// Whether a map must be made, and if so, mapped; or the kind of the refusal.
    fn expect_map(
        &self,
        address: u64,
        size: u64,
        permission: Permission,
        opened: Option<Opened>,
    ) -> Result<bool, &'static str> {
        if !address.is_multiple_of(PAGE_BYTES) || !size.is_multiple_of(PAGE_BYTES) || size == 0 {
            return Err("unaligned");
        }
        let end = u128::from(address) + u128::from(size);
        if end > u128::from(u64::MAX) {
            return Err("wraps");
        }
        let meets = |map: &Map| u128::from(map.start) < end && address < map.start + map.bytes;
        if self.maps.iter().any(meets) {
            return Err("overlaps");
        }
        let Some(Opened { file, offset, readable, writable }) = opened else { return Ok(false) };
        if !offset.is_multiple_of(PAGE_BYTES) {
            return Err("unaligned");
        }
        let file = &self.files[file];
        let end = u128::from(offset) + u128::from(size);
        if !file.seals.contains(SealFlags::SHRINK) {
            return if end > u128::from(u64::MAX) { Err("file") } else { Ok(false) };
        }
        let mappable = readable && (writable || !permission.writable);
        if mappable && end <= file.bytes.len() as u128 { Ok(true) } else { Err("file") }
    }

    fn note_map(
        &mut self,
        start: u64,
        bytes: u64,
        permission: Permission,
        opened: Option<Opened>,
        outcome: Result<bool, &'static str>,
    ) {
        match outcome {
            Ok(mapped) => {
                self.maps.push(Map { start, bytes, permission, opened, mapped });
                self.reached.mapped += usize::from(mapped);
                self.reached.unmapped += usize::from(!mapped);
            }
            Err(_) => self.reached.refused += 1,
        }
    }

    fn unmap(&mut self, script: &mut Script<'_>) {
        let address = script.page_address();
        let before = self.maps.len();
        self.maps.retain(|map| map.start != address);
        let found = self.space.unmap(address);
        assert_eq!(found.is_ok(), self.maps.len() < before);
        self.reached.refused += usize::from(found.is_err());
    }

    fn unmap_range(&mut self, script: &mut Script<'_>) {
        let (address, size) = (script.page_address(), script.pages(0, 16));
        let found = self.space.unmap_range(address, size);
        let Some(end) = address.checked_add(size) else {
            assert_eq!(found, Err(MapError::Wraps { address, size }));
            return;
        };
        let inside = |map: &Map| address <= map.start && map.start + map.bytes <= end;
        let cut = |edge: u64| self.maps.iter().any(|map| map.start < edge && edge < map.end());
        if cut(address) || cut(end) {
            assert_eq!(found.as_ref().map_err(kind), Err("splits"));
            self.reached.refused += 1;
            return;
        }
        // Of an empty range nothing is taken back, and no map is empty.
        assert_eq!(found, Ok(self.maps.iter().filter(|map| inside(map)).count()));
        self.maps.retain(|map| !inside(map));
    }

    /// The file and the byte in it where an access of so many bytes must lead.
    fn expect_access(
        &self,
        address: u64,
        bytes: u64,
        access: Access,
    ) -> Result<(usize, usize), AccessError> {
        let map = self.find(address, bytes).ok_or(AccessError::Unmapped)?;
        let opened = map.opened.filter(|_| map.allows(access) && map.mapped);
        let Opened { file, offset, .. } = opened.ok_or(AccessError::Forbidden)?;
        Ok((file, (offset + (address - map.start)) as usize))
    }

    fn find(&self, address: u64, bytes: u64) -> Option<&Map> {
        let end = u128::from(address) + u128::from(bytes);
        let holds = |map: &&Map| map.start <= address && end <= u128::from(map.end());
        self.maps.iter().find(holds)
    }

    fn line(&mut self, script: &mut Script<'_>) {
        let address = self.address(script) & !63;
        let expected = self
            .expect_access(address, 64, Access::Read)
            .map(|(file, at)| std::array::from_fn(|word| self.files[file].word(at + 8 * word)));
        assert_eq!(self.space.line(address), expected, "line at 0x{address:X}");
        self.note_access(expected.is_ok());
    }

    fn word(&mut self, script: &mut Script<'_>) {
        let address = self.address(script) & !7;
        let (kind, value) = (script.byte() % 3, script.word());
        let access = [Access::Read, Access::Write, Access::Update][usize::from(kind)];
        let place = self.expect_access(address, 8, access);
        let old = place.map(|(file, at)| self.files[file].word(at));
        match access {
            Access::Read => assert_eq!(self.space.load(address), old, "at 0x{address:X}"),
            Access::Write => assert_eq!(self.space.store(address, value), place.map(drop)),
            Access::Update => {
                let expected = old.unwrap_or(0) ^ u64::from(script.byte() & 1);
                assert_eq!(self.space.compare_swap(address, expected, value), old);
                if old != Ok(expected) {
                    self.note_access(old.is_ok());
                    return;
                }
            }
        }
        if let (Ok((file, at)), Access::Write | Access::Update) = (place, access) {
            self.files[file].bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        self.note_access(place.is_ok());
    }

    fn note_access(&mut self, succeeded: bool) {
        self.reached.words += usize::from(succeeded);
        self.reached.refused += usize::from(!succeeded);
    }

    fn copy(&mut self, script: &mut Script<'_>) {
        let opcode = script.byte() % 5;
        let card = |script: &mut Script<'_>| match script.byte() {
            0 => script.word(),
            _ => script.below(CARD_BYTES),
        };
        let source = if opcode == 2 { card(script) } else { self.address(script) };
        let destination = if opcode == 1 { card(script) } else { self.address(script) };
        let bytes = match script.byte() {
            0 => script.word() as u32,
            1..64 => script.byte().into(),
            _ => script.below(0x1_0000) as u32 * u32::from(1 + script.byte() % 3),
        };
        let master = script.byte() != 0;
        let (status, done) = self.expect_copy(opcode, bytes.into(), source, destination, master);
        let head = u64::from(bytes) << 32 | u64::from(opcode) << 16 | 0x5A5A;
        let command = Command::decode([head, source, destination]);
        let moved = self.mover.begin(command, CARD_BYTES).unwrap_or_else(|| {
            let host = master.then_some(&self.space);
            let card = &self.card_memory;
            let surroundings = Surroundings { host, card, card_bytes: CARD_BYTES };
            let most = u64::from(bytes) / CHUNK_BYTES + 1;
            let end = (0..most).find_map(|_| self.mover.chunk(&surroundings));
            end.expect("a copy ends within its chunks")
        });
        assert!(self.mover.is_idle());
        assert_eq!(moved.encode(), done << 32 | (status as u64) << 16 | 0x5A5A, "{command:?}");
        self.take_blurred();
        self.check_files();
        self.reached.copied += done;
        self.reached.refused += usize::from(status != Status::Done);
    }

    /// How a copy must end, after how many bytes; the model has them then.
    fn expect_copy(
        &mut self,
        opcode: u8,
        bytes: u64,
        source: u64,
        destination: u64,
        master: bool,
    ) -> (Status, u64) {
        let (from_card, to_card) = (opcode == 2, opcode == 1);
        if !(1..=3).contains(&opcode) {
            return (Status::BadOpcode, 0);
        }
        if bytes == 0 || bytes > 1 << 30 {
            return (Status::BadLength, 0);
        }
        let outside = |offset| u128::from(offset) + u128::from(bytes) > u128::from(CARD_BYTES);
        if from_card && outside(source) || to_card && outside(destination) {
            return (Status::OutsideCard, 0);
        }
        let mut done = 0;
        while done < bytes {
            let from = self.chunk(source.wrapping_add(done), from_card, Access::Read, master);
            let Some(from) = from else { return (Status::Source, done) };
            let into = destination.wrapping_add(done);
            let into = self.chunk(into, to_card, Access::Write, master);
            let Some(into) = into else { return (Status::Destination, done) };
            // Up to where the mover turns to other copies.
            let turn = CHUNK_BYTES - done % CHUNK_BYTES;
            let mut count = (bytes - done).min(turn).min(from.left).min(into.left);
            if !(from.mapped && into.mapped) {
                count = count.min(BUFFER_BYTES as u64);
            }
            if let Err(status) = self.copy_chunk(from, into, count) {
                return (status, done);
            }
            done += count;
        }
        (Status::Done, done)
    }

    fn chunk(&self, address: u64, card: bool, access: Access, master: bool) -> Option<Chunk> {
        if card {
            let left = CARD_BYTES - address;
            return Some(Chunk { place: None, offset: address, left, mapped: true });
        }
        let map = self.find(address, 1).filter(|map| master && map.allows(access))?;
        let within = address - map.start;
        let (opened, left) = (map.opened?, map.bytes - within);
        let offset = opened.offset + within;
        Some(Chunk { place: Some(opened), offset, left, mapped: map.mapped })
    }

    fn copy_chunk(&mut self, from: Chunk, into: Chunk, count: u64) -> Result<(), Status> {
        let range = |chunk: Chunk| chunk.offset as usize..(chunk.offset + count) as usize;
        let bytes = match from.place {
            None => &self.card,
            Some(opened) if opened.readable => &self.files[opened.file].bytes,
            Some(_) => return Err(Status::Source),
        };
        let bytes = bytes.get(range(from)).ok_or(Status::Source)?.to_vec();
        let place = match into.place {
            None => &mut self.card,
            Some(opened) if opened.writable => &mut self.files[opened.file].bytes,
            Some(_) => return Err(Status::Destination),
        };
        place.get_mut(range(into)).ok_or(Status::Destination)?.copy_from_slice(&bytes);
        let [source, destination] = [from, into].map(|chunk| chunk.place.map(|opened| opened.file));
        // What is written is read again; and whatever is copied later may be some of that.
        let again = source == destination
            && (from.mapped && into.mapped)
            && (from.offset + 1..from.offset + count).contains(&into.offset);
        if again || !self.blurred.is_empty() {
            self.blurred.push((destination, range(into)));
        }
        Ok(())
    }

    /// Takes over the bytes that cannot be foretold.
    fn take_blurred(&mut self) {
        for (file, range) in self.blurred.drain(..) {
            match file {
                None => {
                    let read = self.card_memory.read(range.start, &mut self.card[range]);
                    read.expect("memory of this process");
                }
                Some(number) => {
                    let File { file, bytes, .. } = &mut self.files[number];
                    let read =
                        rustix::io::pread(file, &mut bytes[range.clone()], range.start as u64);
                    assert_eq!(read, Ok(range.len()));
                }
            }
        }
    }

    /// The files and the card have the same contents as the model.
    fn check_files(&self) {
        for (number, File { file, bytes, .. }) in self.files.iter().enumerate() {
            let mut found = vec![0; bytes.len() + 1];
            let read = rustix::io::pread(file, &mut found, 0).expect("a file of our own");
            found.truncate(read);
            assert!(found == *bytes, "file {number} differs");
        }
        let mut found = vec![0; self.card.len()];
        self.card_memory.read(0, &mut found).expect("memory of this process");
        assert!(found == self.card, "the card's memory differs");
    }
}

impl Map {
    fn end(&self) -> u64 {
        self.start + self.bytes
    }

    fn allows(&self, access: Access) -> bool {
        let Permission { readable, writable } = self.permission;
        (access == Access::Write || readable) && (access == Access::Read || writable)
    }
}

impl File {
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("8 bytes"))
    }
}

fn kind(error: &MapError) -> &'static str {
    match error {
        MapError::Unaligned { .. } => "unaligned",
        MapError::Wraps { .. } => "wraps",
        MapError::Overlaps { .. } => "overlaps",
        MapError::TooMany | MapError::TooManyFiles { .. } => "too many",
        MapError::Missing { .. } => "missing",
        MapError::Splits { .. } => "splits",
        MapError::File { .. } => "file",
    }
}
