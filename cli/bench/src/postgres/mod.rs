// SPDX-License-Identifier: MIT OR Apache-2.0
//! PostgreSQL's tuple locks and Lockstep's, measured in turns in the same run.
//!
//! A server of its own runs on a socket in a temporary folder, as a user that is not root. A
//! small extension, `lockstep_locks.c`, calls the server's own lock functions in a loop, so that
//! no protocol, parser or executor is measured. Whatever happens, the server is stopped and its
//! folder removed: `supervise.sh` waits for the end of this process.

mod latencies;
mod ours;
mod programs;
mod server;

use std::time::Duration;

use locks::LockTableError;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

pub use latencies::{Latencies, histograms};
use ours::Locks;
use programs::Programs;
use server::{Server, Session};

use terminal::Progress;

/// The extension.
const LOCKSTEP_LOCKS: &str = include_str!("lockstep_locks.c");
/// A lock table as the paper has it. Source: ccSLT paper, section 3, "In neoDBMS, we target small
/// hash tables sizes with just a few megabytes".
pub const TABLE_MIB: usize = 4;
/// A lock table with more buckets than there are tuples.
pub const LARGE_TABLE_MIB: usize = 64;
/// Of the tuples; a round goes over one. Short, so that on a busy machine some are left
/// undisturbed.
const PARTS: usize = 50;
/// So many parts use most of the buckets of the small table.
const WARMING: usize = 5;
/// Passes over each part for the histograms, of which the one with the least sum counts: a pass
/// that another program has interrupted finds the caches empty.
pub const PASSES: u32 = 5;
/// Readings of a round.
pub const CLOCK_READINGS: u64 = 10_000;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// Not on this machine.
    #[error("missing: {what}. {remedy}.")]
    Missing {
        /// All that is missing.
        what: String,
        /// How to get it.
        remedy: &'static str,
    },
    /// The extension was not compiled.
    #[error("the extension for PostgreSQL does not compile: {0}")]
    Build(String),
    /// There is no server.
    #[error("PostgreSQL does not start: {0}")]
    Start(String),
    /// The server refused something, or ended.
    #[error("PostgreSQL does not answer {sql:?}: {why}")]
    Query {
        /// The request.
        sql: String,
        /// What it said instead.
        why: String,
    },
    /// Something did not come in time.
    #[error("waited {} seconds for {what:?}", .limit.as_secs())]
    Silent {
        /// The awaited event.
        what: String,
        /// How long.
        limit: Duration,
    },
    /// There is no memory for Lockstep's lock table.
    #[error(transparent)]
    Table(#[from] LockTableError),
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Tuples, each of which counts once in the histograms.
    pub tuples: u64,
    /// Rounds over a part of the tuples, of which the best counts for the mean of the pair.
    pub rounds: u32,
    /// Of the random order.
    pub seed: u64,
}

impl Plan {
    /// Pairs of lock and unlock in a round; in the last part of the tuples there may be fewer.
    pub fn pairs_of_round(&self) -> u64 {
        self.tuples.div_ceil(PARTS as u64)
    }
}

/// Everything that was measured; times in ns.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What PostgreSQL says it is.
    pub version: String,
    /// Tuples as they were inserted, then at random.
    pub orders: [InOrder; 2],
    /// One reading of the clock in PostgreSQL, and in Lockstep.
    pub clock: (f64, f64),
}

/// The measurements for one order of the tuples; times in ns.
#[derive(Clone, Debug)]
pub struct InOrder {
    /// "sequential" or "random".
    pub name: &'static str,
    /// `LockTuple` alone.
    pub postgres_lock: Latencies,
    /// `heap_lock_tuple`.
    pub postgres_row: Latencies,
    /// [`locks::LockTable::acquire`] alone, in a table of [`TABLE_MIB`].
    pub lockstep_lock: Latencies,
    /// Lock and unlock, the best mean of a round.
    pub pair: Pair,
}

/// Lock and unlock, the best mean of a round in ns.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// `LockTuple` and `UnlockTuple`.
    pub postgres: f64,
    /// In a table of [`TABLE_MIB`].
    pub lockstep: Lockstep,
    /// In a table of [`LARGE_TABLE_MIB`].
    pub large: Lockstep,
}

/// Acquire and release, the best mean of a round in ns.
#[derive(Clone, Copy, Debug)]
pub struct Lockstep {
    /// Where operations may overlap.
    pub overlapping: f64,
    /// Where each depends on the last.
    pub dependent: f64,
}

/// Measures PostgreSQL and Lockstep in turns.
///
/// # Errors
/// When PostgreSQL is not there or does not work; its server is gone then, too.
pub fn side_by_side(plan: Plan, progress: &mut Progress) -> Result<Comparison, PostgresError> {
    let programs = Programs::find()?;
    let version = programs.version.clone();
    progress.set(0.0, "making a database for PostgreSQL");
    let server = Server::start(programs)?;
    let library = server.folder().join("lockstep_locks.so");
    server.programs().compile(LOCKSTEP_LOCKS, &library)?;
    server.wait_until_ready()?;
    let mut session = server.connect()?;
    declare(&mut session, &library.to_string_lossy())?;

    let (small, large) = (&Locks::new(TABLE_MIB)?, &Locks::new(LARGE_TABLE_MIB)?);
    let mut side = SideBySide { plan, session, small, large, progress };
    let orders = [side.in_order(false)?, side.in_order(true)?];
    Ok(Comparison { version, orders, clock: side.clock()? })
}

/// Makes the functions of the extension known.
fn declare(session: &mut Session, library: &str) -> Result<(), PostgresError> {
    for (function, result) in [
        ("lockstep_prepare(regclass, bigint, boolean, bigint)", "bigint"),
        ("lockstep_pair(regclass, bigint, bigint)", "double precision"),
        ("lockstep_lock(regclass, bigint, bigint)", "integer[]"),
        ("lockstep_lock_row(regclass)", "integer[]"),
        ("lockstep_clock(bigint)", "double precision"),
    ] {
        let library = library.replace('\'', "''");
        let sql = format!("CREATE FUNCTION {function} RETURNS {result} AS '{library}' LANGUAGE C");
        session.query(&sql)?;
    }
    Ok(())
}

struct SideBySide<'a> {
    plan: Plan,
    session: Session,
    small: &'a Locks,
    large: &'a Locks,
    progress: &'a mut Progress,
}

impl SideBySide<'_> {
    fn in_order(&mut self, random: bool) -> Result<InOrder, PostgresError> {
        let name = if random { "random" } else { "sequential" };
        let at = |part: f64| if random { 0.5 + part / 2.0 } else { part / 2.0 };
        self.progress.set(at(0.1), format_args!("{name}: tuples"));
        self.make_tuples(random)?;
        let vids = self.vids(random);
        let pair = self.pairs(&vids, |progress, part| {
            progress.set(at(0.2 + 0.4 * part), format_args!("{name}: lock and unlock"));
        })?;
        self.progress.set(at(0.6), format_args!("{name}: each lock"));
        let (postgres_lock, lockstep_lock) = self.locks(&vids)?;
        self.progress.set(at(0.8), format_args!("{name}: each row"));
        // The last, since it changes the tuples.
        let postgres_row = self.latencies("lockstep_lock_row('tuples')", vids.len())?;
        Ok(InOrder { name, postgres_lock, postgres_row, lockstep_lock, pair })
    }

    /// A new table of tuples that nobody has locked yet, in the order of the calls to come.
    fn make_tuples(&mut self, random: bool) -> Result<(), PostgresError> {
        let Plan { tuples, seed, .. } = self.plan;
        for sql in [
            "DROP TABLE IF EXISTS tuples".into(),
            format!("CREATE TABLE tuples AS SELECT generate_series(1, {tuples}) AS vid"),
            // So that no call has to find out first that the inserter of a tuple has committed.
            "VACUUM tuples".into(),
            "CHECKPOINT".into(),
        ] {
            self.session.query(&sql)?;
        }
        // The sign of a seed means nothing.
        let seed = seed.cast_signed();
        let sql = format!("SELECT lockstep_prepare('tuples', {tuples}, {random}, '{seed}')");
        let prepared = self.session.number(&sql)?;
        match prepared == tuples as f64 {
            true => Ok(()),
            false => {
                let why = format!("expected {tuples} tuples, found {prepared}");
                Err(PostgresError::Query { sql, why })
            }
        }
    }

    /// What Lockstep locks; its random order is drawn by itself.
    fn vids(&self, random: bool) -> Vec<u32> {
        let tuples = u32::try_from(self.plan.tuples).expect("a plan has fewer than 2³² tuples");
        let mut vids: Vec<u32> = (0..tuples).collect();
        if random {
            vids.shuffle(&mut ChaCha8Rng::seed_from_u64(self.plan.seed));
        }
        vids
    }

    /// The best of several rounds for PostgreSQL and for Lockstep.
    fn clock(&mut self) -> Result<(f64, f64), PostgresError> {
        let mut best = (f64::INFINITY, f64::INFINITY);
        for _ in 0..self.plan.rounds {
            let sql = format!("SELECT lockstep_clock({CLOCK_READINGS})");
            best.0 = best.0.min(self.session.number(&sql)?);
            best.1 = best.1.min(ours::clock(CLOCK_READINGS));
        }
        Ok(best)
    }

    /// First with the table that fits into the caches, then with the large one, which would drive
    /// the other out of them.
    fn pairs(
        &mut self,
        vids: &[u32],
        report: impl Fn(&mut Progress, f64),
    ) -> Result<Pair, PostgresError> {
        let (before, lockstep) = self.rounds(self.small, vids, |p, part| report(p, part / 2.0))?;
        let (after, large) =
            self.rounds(self.large, vids, |p, part| report(p, 0.5 + part / 2.0))?;
        Ok(Pair { postgres: before.min(after), lockstep, large })
    }

    /// The best of PostgreSQL and of `locks`, in turns, each over the next part of the tuples.
    fn rounds(
        &mut self,
        locks: &Locks,
        vids: &[u32],
        report: impl Fn(&mut Progress, f64),
    ) -> Result<(f64, Lockstep), PostgresError> {
        let parts: Vec<&[u32]> = parts(vids).collect();
        let mut postgres = f64::INFINITY;
        let mut best = Lockstep { overlapping: f64::INFINITY, dependent: f64::INFINITY };
        for round in 0..self.plan.rounds as usize {
            report(self.progress, round as f64 / f64::from(self.plan.rounds));
            let number = round % parts.len();
            // All parts but the last are as long as the first.
            let (first, part) = (number * parts[0].len(), parts[number]);
            let sql = format!("SELECT lockstep_pair('tuples', {first}, {})", part.len());
            postgres = postgres.min(self.session.number(&sql)?);
            warm(locks, &parts, number);
            best.overlapping = best.overlapping.min(locks.overlapping(part));
            // Not the part whose buckets have just been brought into the caches.
            let other = parts[(number + WARMING + 1) % parts.len()];
            best.dependent = best.dependent.min(locks.dependent(other));
        }
        Ok((postgres, best))
    }

    /// The latencies of PostgreSQL and of Lockstep, measured in turns part by part.
    fn locks(&mut self, vids: &[u32]) -> Result<(Latencies, Latencies), PostgresError> {
        let (mut postgres, mut lockstep) = (Latencies::default(), Latencies::default());
        let parts: Vec<&[u32]> = parts(vids).collect();
        for (number, part) in parts.iter().enumerate() {
            let first = number * parts[0].len();
            let call = format!("lockstep_lock('tuples', {first}, {})", part.len());
            let (mut theirs, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..PASSES {
                theirs.push(self.latencies(&call, part.len())?);
                warm(self.small, &parts, number);
                ours.push(self.small.latencies(part));
            }
            for (all, passes) in [(&mut postgres, theirs), (&mut lockstep, ours)] {
                let best = passes.iter().min_by_key(|pass| pass.sum());
                all.add(best.expect("there are several passes"));
            }
        }
        Ok((postgres, lockstep))
    }

    /// Makes the call, which answers with the latency of each of so many locks.
    fn latencies(&mut self, call: &str, expected: usize) -> Result<Latencies, PostgresError> {
        let sql = format!("SELECT ns, count(*) FROM unnest({call}) AS ns GROUP BY ns ORDER BY ns");
        let rows = self.session.query(&sql)?;
        let pair = |row: &String| {
            let (nanoseconds, calls) = row.split_once('|')?;
            Some((nanoseconds.parse().ok()?, calls.parse().ok()?))
        };
        let latencies: Option<Latencies> = rows.iter().map(pair).collect();
        latencies.filter(|latencies| latencies.count() == expected as u64).ok_or_else(|| {
            let why = format!("expected {expected} latencies, found {} rows", rows.len());
            PostgresError::Query { sql, why }
        })
    }
}

/// What a round goes over.
fn parts(vids: &[u32]) -> impl Iterator<Item = &[u32]> {
    vids.chunks(vids.len().div_ceil(PARTS))
}

/// Brings as much of the table as fits into the caches, by the parts after this one: in a run of
/// nothing but locks it would be there.
fn warm(locks: &Locks, parts: &[&[u32]], number: usize) {
    (1..=WARMING).for_each(|further| {
        locks.overlapping(parts[(number + further) % parts.len()]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short run, where PostgreSQL is installed: all calls are counted, and nothing is left.
    #[test]
    fn a_short_run_measures_both_and_leaves_nothing_behind() {
        let plan = Plan { tuples: 3_000, rounds: 11, seed: 7 };
        let compared = match side_by_side(plan, &mut Progress::hidden()) {
            Err(missing @ PostgresError::Missing { .. }) => return eprintln!("skipped: {missing}"),
            compared => compared.expect("PostgreSQL is there"),
        };
        assert!(compared.version.contains(" 15."), "{}", compared.version);
        for order in &compared.orders {
            for latencies in [&order.postgres_lock, &order.postgres_row, &order.lockstep_lock] {
                assert_eq!(latencies.count(), 3_000, "{}", order.name);
                assert!(latencies.median() > 0.0, "{}", order.name);
            }
            let Pair { postgres, lockstep, large } = order.pair;
            let all =
                [lockstep.overlapping, lockstep.dependent, large.overlapping, large.dependent];
            assert!(all.iter().chain([&postgres]).all(|ns| ns.is_finite() && *ns > 0.0));
        }
        assert!(compared.clock.0 > 0.0 && compared.clock.1 > 0.0);
    }

    fn found() -> Option<Programs> {
        Programs::find().inspect_err(|missing| eprintln!("skipped: {missing}")).ok()
    }

    fn server() -> Option<Server> {
        found().map(|programs| Server::start(programs).expect("a folder"))
    }

    #[test]
    fn a_refused_query_is_told_with_the_servers_words_and_the_folder_is_removed() {
        let Some(server) = server() else { return };
        let folder = server.folder().to_owned();
        server.wait_until_ready().expect("started");
        let mut session = server.connect().expect("connected");
        assert_eq!(session.query("SELECT 1 UNION SELECT 2 ORDER BY 1").expect("two"), ["1", "2"]);
        let error = session.number("SELECT no_such_column").expect_err("refused").to_string();
        assert!(error.contains("column \"no_such_column\" does not exist"), "{error}");
        assert!(folder.join("data").is_dir());
        drop((session, server));
        assert!(!folder.exists());
    }

    #[test]
    fn a_server_that_is_dropped_while_its_database_is_made_leaves_nothing() {
        let Some(server) = server() else { return };
        let folder = server.folder().to_owned();
        std::thread::sleep(Duration::from_millis(100));
        drop(server);
        assert!(!folder.exists());
    }

    /// As after a kill: nobody reads the folder's path, and the pipe that keeps it alive closes.
    #[test]
    fn a_supervisor_whose_owner_dies_at_once_leaves_nothing() {
        use std::process::{Command, Stdio};
        let Some(programs) = found() else { return };
        let place = tempfile::tempdir().expect("a folder");
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(place.path(), everybody).expect("writable");
        for pause in [0, 10, 30, 100, 300] {
            let mut child: std::process::Child = {
                let mut command: Command = server::supervise(&programs);
                command.env("TMPDIR", place.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
                command.spawn().expect("sh starts")
            };
            if pause == 0 {
                drop(child.stdout.take());
            }
            std::thread::sleep(Duration::from_millis(pause));
            drop((child.stdin.take(), child.stdout.take()));
            assert!(server::wait_for(&mut child, Duration::from_secs(30)), "after {pause} ms");
            let left = std::fs::read_dir(place.path()).expect("listed").count();
            assert_eq!(left, 0, "after {pause} ms");
        }
    }

    #[test]
    fn an_extension_that_does_not_compile_is_told_with_the_compilers_words() {
        let Some(server) = server() else { return };
        let library = server.folder().join("x.so");
        let error = server.programs().compile("int f(void) { return g(); }", &library);
        let error = error.expect_err("refused").to_string();
        assert!(
            error.contains("implicit declaration of function") && error.contains('g'),
            "{error}"
        );
    }
}
