// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block or its mutants, so that one suite runs on both, and the findings of a suite.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mutants::Mutant;
use verilated::{Core, Model};

thread_local! {
    static MUTANT: Cell<Option<u8>> = const { Cell::new(None) };
}

/// Has [`model`] make the model with mutants from now on, in this thread, with the mutant of this
/// number; 0 is none.
pub fn set_mutant(number: u8) {
    MUTANT.set(Some(number));
}

/// The block at power-up, or, after [`set_mutant`], its model with mutants; `set` chooses one of them.
pub fn model<B, M>(seed: u64, set: impl FnOnce(&mut M, u8)) -> Model<Subject<B, M>>
where
    B: Core,
    M: Core<Inputs = B::Inputs, Outputs = B::Outputs>,
{
    match MUTANT.get() {
        None => Model::powered_up(seed),
        Some(number) => mutant(seed, number, set),
    }
}

/// The model with mutants at power-up, with the mutant of this number.
pub fn mutant<B, M>(seed: u64, number: u8, set: impl FnOnce(&mut M, u8)) -> Model<Subject<B, M>>
where
    B: Core,
    M: Core<Inputs = B::Inputs, Outputs = B::Outputs>,
{
    let mut model: Model<Subject<B, M>> = Model::powered_up(seed);
    let mut core = M::new(seed);
    set(&mut core, number);
    *model.core_mut() = Subject::Mutant(core);
    model
}

/// What a test suite finds, if anything: its error, or the message with which it panics, as it does
/// where an assertion of the RTL fails.
pub fn found(suite: impl FnOnce() -> Result<(), String>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(suite)) {
        Ok(result) => result.err(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Some(text.unwrap_or("a panic, see above").to_owned())
        }
    }
}

/// Runs the suite on the model with each of these mutants in turn, and prints what it finds.
///
/// # Panics
/// When the suite finds nothing wrong with a mutant; names all of those.
pub fn assert_each_found(mutants: &[Mutant], suite: impl Fn() -> Result<(), String>) {
    let mut missed = Vec::new();
    for (number, mutant) in (1..).zip(mutants) {
        set_mutant(number);
        match found(&suite) {
            Some(what) => {
                let line = what.lines().next().unwrap_or_default();
                println!("{number} {}: {line:.150}", mutant.name);
            }
            None => missed.push(mutant.name),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}

/// The index of the mutant that is a random test's case of this seed; none for seeds from `count` on, so that any
/// larger number of cases has each mutant once. A few seeds have mutants from everywhere in the list.
pub fn mutant_of_case(count: usize, seed: u64) -> Option<usize> {
    let count = count as u64;
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // About the golden section of the list, and coprime with its length, so that it comes everywhere.
    let mut steps = count * 5 / 8..=count + 1;
    let step = steps.find(|&step| divisor(step, count) == 1)?;
    (seed < count).then(|| (seed * step % count) as usize)
}

/// Runs the suite on the mutant that is the case of this seed, if any, and prints what it finds.
///
/// # Errors
/// When the suite finds nothing wrong with it.
pub fn finds_case(
    mutants: &[Mutant],
    seed: u64,
    suite: impl Fn() -> Result<(), String>,
) -> Result<(), String> {
    let Some(index) = mutant_of_case(mutants.len(), seed) else { return Ok(()) };
    set_mutant(index as u8 + 1);
    let name = mutants[index].name;
    let what = found(&suite).ok_or_else(|| format!("not found: {name}"))?;
    println!("{} {name}: {:.150}", index + 1, what.lines().next().unwrap_or_default());
    Ok(())
}

/// The C++ side of a block or of its mutants, which have the same pins.
pub enum Subject<B, M> {
    /// The block itself.
    Block(B),
    /// The model with mutants.
    Mutant(M),
}

/// The same call on whichever it is.
macro_rules! either {
    ($subject:expr, $core:ident => $call:expr) => {
        match $subject {
            Subject::Block($core) => $call,
            Subject::Mutant($core) => $call,
        }
    };
}

impl<B, M> Core for Subject<B, M>
where
    B: Core,
    M: Core<Inputs = B::Inputs, Outputs = B::Outputs>,
{
    type Inputs = B::Inputs;
    type Outputs = B::Outputs;

    const CHECKED: bool = B::CHECKED;

    fn new(power_up_seed: u64) -> Self {
        Subject::Block(B::new(power_up_seed))
    }

    fn block(&self) -> &'static str {
        either!(self, core => core.block())
    }

    fn set_reset(&mut self, asserted: bool) {
        either!(self, core => core.set_reset(asserted));
    }

    #[inline]
    fn clock(&mut self, inputs: &Self::Inputs, outputs: &mut Self::Outputs) -> bool {
        either!(self, core => core.clock(inputs, outputs))
    }

    fn clock_dumping(
        &mut self,
        inputs: &Self::Inputs,
        outputs: &mut Self::Outputs,
        start_ps: u64,
        half_period_ps: u64,
    ) -> bool {
        either!(self, core => core.clock_dumping(inputs, outputs, start_ps, half_period_ps))
    }

    fn toggle_only(&mut self, cycles: u64) -> bool {
        either!(self, core => core.toggle_only(cycles))
    }

    fn failure(&self) -> String {
        either!(self, core => core.failure())
    }

    fn open_waves(&mut self, path: &str) -> Result<(), String> {
        either!(self, core => core.open_waves(path))
    }

    fn close_waves(&mut self) {
        either!(self, core => core.close_waves());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_are_found() {
        assert_eq!(found(|| Ok(())), None);
        assert_eq!(found(|| Err("wrong".into())).as_deref(), Some("wrong"));
        assert_eq!(found(|| panic!("wrong")).as_deref(), Some("wrong"));
        assert_eq!(found(|| panic!("{} wrong", 1)).as_deref(), Some("1 wrong"));
    }

    #[test]
    fn a_mutant_that_is_not_found_is_named() {
        let mutants = ["first", "second"].map(|name| mutants::mutant(name, "", "", "", ""));
        let finds_the_first = || match MUTANT.get() {
            Some(1) => Err("wrong".into()),
            _ => Ok(()),
        };
        assert_each_found(&mutants[..1], finds_the_first);
        let missed = found(|| {
            assert_each_found(&mutants, finds_the_first);
            Ok(())
        });
        assert_eq!(missed.as_deref(), Some("not found: [\n    \"second\",\n]"));

        let cases: Vec<_> =
            (0..3).map(|seed| finds_case(&mutants, seed, finds_the_first)).collect();
        assert_eq!(cases, [Ok(()), Err("not found: second".into()), Ok(())]);
    }

    #[test]
    fn each_mutant_is_one_case() {
        for count in 0..100 {
            let mut places: Vec<_> =
                (0..200).filter_map(|seed| mutant_of_case(count, seed)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..count).collect::<Vec<_>>());
        }
    }
}
