// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timed element beside the RTL of the walk: the same kind of table, memory and rows, and how many
//! visible tuples a clock each gives.

use std::sync::Arc;

use lockdb::files::{Files, Memory};
use lockdb::schema::{Schema, Type, Value};
use lockdb::{Database, Error, Isolation, Options};
use ndp_runtime::program::{Program, compile_select};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use timing::platform::{Count, Platform};
use timing::{Kernel, Priority, Time};

use crate::near_data::device_memory::DeviceMemory;
use crate::near_data::element::{Counts, Element, ElementEvent, Surroundings};
use crate::near_data::image::DeviceImage;
use crate::near_data::table::OPTIONS;

const VIDS: i64 = 6000;

type Happens<'a> = Box<dyn FnOnce(&mut Element, &mut Surroundings) + 'a>;

/// A table with rows of 64 bytes, each updated 0 to 3 times, in a random order.
struct Updated {
    database: Database,
    files: Memory,
    program: Program,
    oldest: u64,
    middle: u64,
    newest: u64,
}

impl Updated {
    fn new() -> Self {
        let files = Memory::new();
        let options = Options { maintenance: false, ..Options::default() };
        let database = Database::open_in(Arc::new(files.clone()), options).expect("in memory");
        let columns = ["id", "a", "b", "c", "d", "e", "f"];
        let schema = columns
            .iter()
            .fold(Schema::builder("t"), |schema, name| schema.column(*name, Type::Int64));
        let schema = schema.primary_key(&["id"]).build().expect("a schema");
        let table = database.create_table(schema).expect("a table");
        let program = compile_select(table.id(), table.schema(), None, &[]).expect("all rows");
        // Vacuum would take the old versions.
        let mut keeper = database.session().expect("there is room");
        let mut session = database.session().expect("there is room");
        let rows: Result<(), Error> = session.transaction(OPTIONS, |transaction| {
            (0..VIDS).try_for_each(|id| {
                let mut values = vec![Value::Int(0); columns.len()];
                values[0] = Value::Int(id);
                transaction.insert(&table, &values)
            })
        });
        rows.expect("loaded");
        let oldest = database.published();
        let _all_versions = keeper.begin(Isolation::Snapshot);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut updates: Vec<i64> =
            (0..VIDS).flat_map(|id| vec![id; random.random_range(0..4)]).collect();
        updates.shuffle(&mut random);
        for id in updates {
            let updated: Result<_, Error> = session.transaction(OPTIONS, |transaction| {
                transaction.update(&table, &id, |row| {
                    row.set_int(1, row.as_row().int(1) + 1);
                    Ok(())
                })
            });
            updated.expect("updated");
        }
        database.checkpoint().expect("flushed");
        let newest = database.published();
        let middle = oldest + (newest - oldest) / 2;
        Self { database, files, program: program.program, oldest, middle, newest }
    }

    /// The walk of one element with all ports and memory to itself.
    fn walk(&self, snapshot: u64, verified: bool) -> (f64, Counts, f64) {
        let area = self.database.shared_state().expect("it fits");
        let file = self.files.open("pages").expect("it is in memory");
        let mut storage = vec![0; file.len().expect("a length") as usize];
        file.read_at(0, &mut storage).expect("it is in memory");
        let image = DeviceImage::new(Arc::new(storage), area.bytes().to_vec(), (0, snapshot));
        let image = image.expect("storage and shared state belong together");
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        let mut timing = platform.near_data.expect("it has elements");
        // As the RTL's test: no bandwidth but that of the ports.
        timing.device_memory.channels.set(Count(64));
        let mut memory = DeviceMemory::new(&timing.device_memory);
        let mut element = Element::new(0, &timing.element);
        let mut kernel: Kernel<ElementEvent> = Kernel::new();
        let mut what: Happens<'_> =
            Box::new(|element, around| element.start(0..image.vids(), verified, around));
        loop {
            let mut later = Vec::new();
            let mut around = Surroundings {
                now: kernel.now(),
                image: &image,
                program: &self.program,
                memory: &mut memory,
                schedule: &mut |time, event| later.push((time, event)),
            };
            what(&mut element, &mut around);
            for (time, event) in later {
                kernel.schedule_at(time, Priority::Deliver, event);
            }
            let Some((_, event)) = kernel.pop() else { break };
            what = Box::new(move |element, around| {
                element.handle(event, around);
            });
        }
        assert!(element.is_done());
        let clock = timing.element.clock.get().as_ps();
        let clocks = (element.busy_until().saturating_sub(Time::ZERO).as_ps() / clock) as f64;
        let visible = element.counts().visible as f64;
        (visible / clocks, element.counts(), 100.0 * memory.bytes() as f64 / 64.0 / visible)
    }
}

/// What `cargo test -p lockstep-visibility-walk a_quarter` prints of the RTL: tuples a clock, and
/// lines of memory for 100 tuples. The actor's parameters are those of the RTL and are not fitted to this.
#[test]
fn the_timed_element_is_as_fast_as_the_rtl_within_a_tenth() {
    let table = Updated::new();
    for (what, snapshot, verified, rate_of_rtl, lines_of_rtl) in [
        ("oldest, nothing verified", table.oldest, false, 0.182, 1010.0),
        ("oldest", table.oldest, true, 0.300, 612.0),
        ("anywhere", table.middle, true, 0.397, 463.0),
        ("newest", table.newest, true, 0.488, 313.0),
    ] {
        let (rate, counts, lines) = table.walk(snapshot, verified);
        println!(
            "{what}: {rate:.3} tuples a clock (RTL {rate_of_rtl}), {lines:.0} lines for 100 (RTL {lines_of_rtl}), {counts:?}"
        );
        assert_eq!((counts.visible, counts.faults), (VIDS as u64, 0), "{what}");
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() <= 0.1;
        assert!(close(rate, rate_of_rtl), "{what}: {rate:.3} tuples a clock, RTL {rate_of_rtl}");
        assert!(close(lines, lines_of_rtl), "{what}: {lines:.0} lines, RTL {lines_of_rtl}");
    }
}
