// SPDX-License-Identifier: MIT OR Apache-2.0
//! The PCI function: the host's view of the board, and the thread that clocks it.
//!
//! One mutex guards everything. A thread that accesses a register clocks the board under the mutex
//! until the access has ended, so no work passes between threads. A worker thread clocks the board
//! while there is work, in slices, between which it gives the mutex to waiting threads. While the
//! RTL is idle no thread clocks it, and the worker sleeps. A third kind of thread executes the jobs
//! of the job queue ([`crate::jobs`]), and takes the mutex for each access to memory.

mod access;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use driver::{Elements, HostMemory, PAGE_BYTES, PciIdentity, Space};
use parking_lot::{Condvar, Mutex, MutexGuard};
use sim::bus::axi_lite::LiteRequest;
use sim::models::WaveWindow;

use crate::address_space::{AccessError, AddressSpace, MapError, Permission};
use crate::board::{Board, Reach, World};
use crate::configuration::{self, ConfigurationSpace, VECTORS};
use crate::jobs::{self, Inbox};
use crate::msix::{Listener, Msix};

/// Bytes of the card's memory. The RTL says so in its CAPABILITIES, by a parameter of
/// `hw/rtl/shell/lockstep_device.sv`.
pub const CARD_BYTES: u64 = 64 << 20;

/// What stands on a board beside its RTL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoardOptions {
    /// Native storage for jobs: a file of pages of a store, or the folder of a store. It is looked
    /// for when a job begins.
    pub storage: Option<PathBuf>,
    /// The kind of elements of jobs.
    pub elements: Elements,
    /// The identity of the function.
    pub identity: PciIdentity,
}

/// The function's counters since it was created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clock cycles of the RTL.
    pub cycles: u64,
    /// Register accesses that the RTL refused: reads of these gave all-ones, writes went nowhere.
    pub refused: u64,
}

/// The function of one simulated board. Dropping it ends its threads.
pub(crate) struct Function {
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
    threads: Vec<JoinHandle<()>>,
}

/// The data that the worker shares with all others.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// There may be something to do.
    wake: Condvar,
    /// Set, under the mutex, when the worker has to look; so that it need not sleep at once.
    kicked: AtomicBool,
    /// Accesses so far, by which the worker sees that more of them come. Wraps.
    accesses: AtomicU32,
}

/// Everything behind the mutex.
struct State {
    board: Board,
    space: AddressSpace,
    configuration: ConfigurationSpace,
    msix: Msix,
    /// Where jobs go.
    jobs: Arc<Inbox>,
    /// Counts resets: what does the jobs of an earlier generation reaches nothing any more.
    generation: u64,
    refused: u64,
    /// How the RTL broke the rules of a bus; until a reset it is as if it were gone.
    failure: Option<String>,
    ended: bool,
}

impl Function {
    /// A board after power-up.
    ///
    /// # Errors
    /// The system has no memory for the card, or no thread.
    pub fn new(options: &BoardOptions) -> io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let state = State {
            board: Board::new(new_card()?),
            space: AddressSpace::default(),
            configuration: ConfigurationSpace::new(options.identity, CARD_BYTES),
            msix: Msix::new(),
            jobs: inbox.clone(),
            generation: 0,
            refused: 0,
            failure: None,
            ended: false,
        };
        let (kicked, accesses) = (AtomicBool::new(false), AtomicU32::new(0));
        let (state, wake) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { state, wake, kicked, accesses });
        let thread = |name: &str| std::thread::Builder::new().name(name.into());
        // Dropped with what has begun, if another thread cannot be obtained.
        let mut function = Self { shared, inbox, threads: Vec::new() };
        let shared = function.shared.clone();
        function.threads.push(thread("device").spawn(move || worker::work(&shared))?);
        let (shared, inbox) = (function.shared.clone(), function.inbox.clone());
        let options = options.clone();
        let work = move || jobs::work(&shared, &inbox, &options);
        function.threads.push(thread("device-jobs").spawn(work)?);
        Ok(function)
    }

    /// Does something with the state.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(act)
    }

    /// As [`Function::with`], and the worker looks whether there is something to do.
    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.shared.state.lock();
        let result = act(&mut state);
        self.shared.kick();
        result
    }

    /// As [`Function::change`], of what may reset the function: then nothing of the jobs before is
    /// left when this returns.
    fn change_generation<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let (result, began) = self.change(|state| {
            let generation = state.generation;
            (act(state), state.generation != generation)
        });
        if began && !self.inbox.await_idle() {
            let why = "the engine of the jobs does not end, 10 s after a reset";
            self.change(|state| state.failure = Some(why.into()));
        }
        result
    }

    /// Reads bytes of a space; all-ones where nothing answers.
    pub fn read(&self, space: Space, offset: u64, into: &mut [u8]) {
        self.shared.accesses.fetch_add(1, Ordering::Relaxed);
        self.with(|state| state.read(space, offset, into));
    }

    /// Writes bytes of a space; nothing happens where nothing answers.
    pub fn write(&self, space: Space, offset: u64, from: &[u8]) {
        self.shared.accesses.fetch_add(1, Ordering::Relaxed);
        self.change_generation(|state| state.write(space, offset, from));
    }

    /// The card's memory.
    pub fn card(&self) -> Arc<HostMemory> {
        self.with(|state| state.board.card().clone())
    }

    /// Lends memory of this process.
    pub fn map_memory(&self, address: u64, memory: Arc<HostMemory>) -> Result<(), MapError> {
        self.with(|state| state.space.map_memory(address, memory))
    }

    /// Lends memory of a client; true when it is mapped, so that everything works on it.
    pub fn map_file(
        &self,
        address: u64,
        bytes: u64,
        file: Option<(std::os::fd::OwnedFd, u64)>,
        permission: Permission,
    ) -> Result<bool, MapError> {
        self.with(|state| state.space.map_file(address, bytes, file, permission))
    }

    /// Takes back the map that begins at an address. Since all accesses are made under the mutex,
    /// none is under way when this returns.
    pub fn unmap(&self, address: u64) -> Result<(), MapError> {
        self.with(|state| state.space.unmap(address))
    }

    /// Takes back all maps in a range.
    pub fn unmap_range(&self, address: u64, bytes: u64) -> Result<usize, MapError> {
        self.with(|state| state.space.unmap_range(address, bytes))
    }

    /// As [`AddressSpace::lost_files`].
    pub fn lost_files(&self) -> usize {
        self.with(|state| state.space.lost_files())
    }

    /// Takes back all maps.
    pub fn unmap_all(&self) {
        self.with(|state| state.space.clear());
    }

    /// Connects a listener to a vector that has none.
    ///
    /// # Errors
    /// Gives the listener back when there is one already.
    pub fn connect_first(&self, vector: usize, listener: Listener) -> Result<(), Listener> {
        self.with(|state| {
            if state.msix.is_connected(vector) {
                return Err(listener);
            }
            state.connect(vector, Some(listener));
            Ok(())
        })
    }

    /// Connects a listener to a vector in place of the one that it has, or disconnects it. MSI-X is
    /// enabled while any is connected, as the host's kernel does it.
    pub fn connect(&self, vector: usize, listener: Option<Listener>) {
        self.with(|state| state.connect(vector, listener));
    }

    /// Masks or unmasks a vector beside its table.
    pub fn mask(&self, vector: usize, masked: bool) {
        self.with(|state| state.msix.mask(vector, masked));
    }

    /// Raises a vector as if the RTL had.
    pub fn raise(&self, vector: usize) {
        self.with(|state| state.msix.raise(vector as u8));
    }

    /// Lets the function answer and reach the host's memory, as the host's kernel does when the
    /// device is opened.
    pub fn enable(&self) {
        self.change(|state| {
            state.configuration.enable();
            state.update_msix();
        });
    }

    /// Resets the function and restores its configuration, as the host's kernel does. Maps and
    /// listeners stay.
    pub fn reset(&self) {
        self.change_generation(|state| {
            let configuration = state.configuration.clone();
            state.function_level_reset();
            state.configuration = configuration;
            state.update_msix();
        });
    }

    /// Everything as after power-up: no maps, no listeners, and other memory on the card, so that
    /// who had the function before and who has it next see nothing of each other.
    ///
    /// # Errors
    /// The system has no memory for the card. The old one stays, everything else is done.
    pub fn renew(&self) -> io::Result<()> {
        self.change_generation(|state| {
            state.space.clear();
            for vector in 0..VECTORS {
                state.msix.connect(vector, None);
            }
            state.function_level_reset();
            state.board.replace_card(new_card()?);
            Ok(())
        })
    }

    /// As [`Board::open_waves`].
    pub fn open_waves(&self, path: &Path, window: WaveWindow) -> io::Result<()> {
        self.with(|state| state.board.open_waves(path, window))
    }

    /// How the RTL broke the rules of a bus, if it has since the last reset.
    pub fn failure(&self) -> Option<String> {
        self.with(|state| state.failure.clone())
    }

    /// Its counters.
    pub fn counts(&self) -> Counts {
        self.with(|state| Counts { cycles: state.board.cycle(), refused: state.refused })
    }

    /// Clocks the bare model, with none of its ports looked at, see [`Board::toggle_only`].
    pub fn toggle_only(&self, cycles: u64) {
        self.with(|state| state.board.toggle_only(cycles));
    }

    /// For those that outlive a borrow: a connected vector.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.change(|state| state.ended = true);
        self.inbox.end();
        for thread in self.threads.drain(..) {
            // One that panicked has said so; there is nothing to be done here.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The mutex is not handed over afterwards: a worker that sleeps over it takes long to wake, and
    /// the next access would wait for that. It gets its turn all the same, see `parking_lot`.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock())
    }

    /// Makes the worker look. Called under the mutex, so that it cannot fall asleep in between.
    fn kick(&self) {
        self.kicked.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Does something with the host's memory for the job engine of a generation.
    ///
    /// # Errors
    /// Those of the access; [`AccessError::Forbidden`] when the generation is over, the function may not
    /// reach memory, or the RTL is as if gone.
    pub fn with_host<T>(
        &self,
        generation: u64,
        act: impl FnOnce(Reach<'_>) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        self.with(|state| {
            let alive = state.generation == generation && state.failure.is_none();
            let host = reach(&state.configuration, &state.space).filter(|_| alive);
            host.map_or(Err(AccessError::Forbidden), act)
        })
    }

    /// Whether a generation is not over.
    pub fn is_alive(&self, generation: u64) -> bool {
        self.with(|state| state.generation == generation)
    }

    /// Answers a job, unless its generation is over.
    pub fn answer_job(&self, generation: u64, beat: [u64; 2]) {
        self.with(|state| {
            if state.generation == generation {
                state.board.answer_job(beat);
                self.kick();
            }
        });
    }

    /// Something beside the board has broken the rules of a bus, in a generation that is not over.
    pub fn fail(&self, generation: u64, how: String) {
        self.with(|state| {
            if state.generation == generation {
                state.failure.get_or_insert(how);
            }
        });
    }

    /// Disconnects a vector.
    pub fn disconnect(&self, vector: usize) {
        self.with(|state| state.connect(vector, None));
    }
}

impl State {
    fn connect(&mut self, vector: usize, listener: Option<Listener>) {
        self.msix.connect(vector, listener);
        self.configuration.enable_msix(self.msix.is_any_connected());
        self.update_msix();
    }

    fn update_msix(&mut self) {
        self.msix.enable(self.configuration.may_interrupt());
    }

    /// What the reset bit of the configuration space initiates.
    fn function_level_reset(&mut self) {
        self.generation += 1;
        self.jobs.begin_generation(self.generation);
        self.board.reset();
        self.configuration.reset();
        self.msix.reset();
        self.failure = None;
    }
}

/// What the function may reach of the host's memory.
fn reach<'a>(configuration: &ConfigurationSpace, space: &'a AddressSpace) -> Option<Reach<'a>> {
    let atomics = configuration.may_request_atomics();
    configuration.is_bus_master().then_some(Reach { space, atomics })
}

fn new_card() -> io::Result<Arc<HostMemory>> {
    let card = HostMemory::allocate(CARD_BYTES as usize, PAGE_BYTES)?;
    // A client gets the descriptor too, and shall not seal it against the next one's writes.
    rustix::fs::fcntl_add_seals(card.file(), rustix::fs::SealFlags::SEAL)?;
    Ok(Arc::new(card))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(function: &Function, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        function.read(Space::Bar(0), offset, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    #[test]
    fn a_device_whose_buses_are_broken_is_gone_until_a_reset() {
        const SCRATCH: u64 = 0x28;
        let function = Function::new(&BoardOptions::default()).unwrap();
        function.enable();
        function.write(Space::Bar(0), SCRATCH, &[1, 0, 0, 0]);
        function.change(|state| state.failure = Some("m_axi AW: awsize is 7".into()));
        assert_eq!(function.failure().as_deref(), Some("m_axi AW: awsize is 7"));
        assert_eq!(read(&function, SCRATCH), u32::MAX);
        function.write(Space::Bar(0), SCRATCH, &[2, 0, 0, 0]);
        function.reset();
        assert_eq!((function.failure(), read(&function, SCRATCH)), (None, 0));
    }

    #[test]
    fn the_card_is_as_large_as_the_rtl_says() {
        let function = Function::new(&BoardOptions::default()).unwrap();
        function.enable();
        assert_eq!(1 << (read(&function, 0x108) >> 16 & 0xFF), CARD_BYTES);
    }

    #[test]
    fn renewing_leaves_nothing_of_the_host_that_was() {
        let function = Function::new(&BoardOptions::default()).unwrap();
        function.enable();
        let memory = Arc::new(HostMemory::allocate(PAGE_BYTES, PAGE_BYTES).unwrap());
        function.map_memory(0x1000, memory.clone()).unwrap();
        function.connect(1, Some(Listener::Local(Arc::default())));
        let card = function.card();
        card.write(0, b"secret");
        function.renew().unwrap();
        assert_eq!(read(&function, 0x100), u32::MAX, "disabled");
        assert_eq!(function.unmap(0x1000), Err(MapError::Missing { address: 0x1000 }));
        assert_eq!(Arc::strong_count(&memory), 1);
        assert!(function.connect_first(1, Listener::Local(Arc::default())).is_ok());
        let mut found = [1; 6];
        function.card().read(0, &mut found);
        assert_eq!(found, [0; 6]);
        card.write(8, b"too late");
        function.card().read(8, &mut found);
        assert_eq!(found, [0; 6]);
    }
}
