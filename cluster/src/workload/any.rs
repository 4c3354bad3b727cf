// SPDX-License-Identifier: MIT OR Apache-2.0
//! A workload that is chosen when the program runs.
//!
//! Machines and worlds are compiled for each type of workload, which takes minutes. What lets a user choose
//! the workload has them once, for this one.

use super::{ChangedRow, ObjectStore, Retwis, SmallBank, Tatp, Totals, Tpcc};
use crate::engine::{Access, Key};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError};

/// Does the same with the workload, whichever it is.
macro_rules! any {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One of the workloads.
        #[derive(Clone, Debug)]
        pub enum AnyWorkload {
            $($(#[$doc])* $name($name),)*
        }

        /// An input of one of the workloads.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum AnyInput {
            $($(#[$doc])* $name(<$name as Transactions>::Input),)*
        }

        /// What draws the inputs of one worker.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum AnySource {
            $($(#[$doc])* $name(<$name as Transactions>::Source),)*
        }

        $(impl From<$name> for AnyWorkload {
            fn from(workload: $name) -> Self {
                Self::$name(workload)
            }
        })*

        /// What the workload gives: an expression of the workload.
        macro_rules! of {
            ($any:expr, $workload:ident => $value:expr) => {
                match $any {
                    $(AnyWorkload::$name($workload) => $value,)*
                }
            };
        }

        /// What the workload gives for one of its inputs: an expression of both.
        macro_rules! of_input {
            ($any:expr, $all:expr, $workload:ident, $input:ident => $value:expr) => {
                match ($any, $all) {
                    $((AnyWorkload::$name($workload), AnyInput::$name($input)) => $value,)*
                    _ => unreachable!("an input is of the workload that has drawn or read it"),
                }
            };
        }

        impl AnyWorkload {
            fn any_source(&self, worker: u32) -> AnySource {
                match self {
                    $(Self::$name(it) => AnySource::$name(it.source(worker)),)*
                }
            }

            fn draw_any(&self, source: &mut AnySource) -> Option<AnyInput> {
                match (self, source) {
                    $((Self::$name(it), AnySource::$name(source)) => {
                        it.draw(source).map(AnyInput::$name)
                    })*
                    _ => unreachable!("a source is of the workload that has made it"),
                }
            }

            fn take_any(&self, reader: &mut Reader<'_>) -> Result<AnyInput, WireError> {
                match self {
                    $(Self::$name(it) => it.take_input(reader).map(AnyInput::$name),)*
                }
            }
        }
    };
}

any! {
    /// O(r, w) of FaSST.
    ObjectStore,
    /// Retwis.
    Retwis,
    /// SmallBank.
    SmallBank,
    /// TATP.
    Tatp,
    /// TPC-C, or its new-orders alone.
    Tpcc,
}

impl Transactions for AnyWorkload {
    type Input = AnyInput;
    type Source = AnySource;

    fn tables(&self) -> &[TableShape] {
        of!(self, it => it.tables())
    }

    fn kinds(&self) -> &[&'static str] {
        of!(self, it => it.kinds())
    }

    #[inline]
    fn kind(&self, input: &AnyInput) -> u8 {
        of_input!(self, input, it, input => it.kind(input))
    }

    fn source(&self, worker: u32) -> AnySource {
        self.any_source(worker)
    }

    fn draw(&self, source: &mut AnySource) -> Option<AnyInput> {
        self.draw_any(source)
    }

    fn put_input(&self, input: &AnyInput, out: &mut Vec<u8>) {
        of_input!(self, input, it, input => it.put_input(input, out));
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<AnyInput, WireError> {
        self.take_any(reader)
    }

    fn is_one_round(&self, input: &AnyInput) -> bool {
        of_input!(self, input, it, input => it.is_one_round(input))
    }

    #[inline]
    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        of!(self, it => it.initial(key, value))
    }

    #[inline]
    fn declare(&self, input: &AnyInput, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        of_input!(self, input, it, input => it.declare(input, rows, wanted));
    }

    #[inline]
    fn run(&self, input: &AnyInput, rows: &mut Rows) -> Result<Decision, Missing> {
        of_input!(self, input, it, input => it.run(input, rows))
    }
}

impl Totals for AnyWorkload {
    fn total_name(&self) -> &'static str {
        of!(self, it => it.total_name())
    }

    fn count(&self, key: Key, value: Option<&[u8]>) -> i64 {
        of!(self, it => it.count(key, value))
    }

    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        of!(self, it => it.change(kind, accesses))
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        of!(self, it => it.check_row(key, value))
    }

    fn check_together(&self, rows: &[ChangedRow<'_>]) -> Result<(), String> {
        of!(self, it => it.check_together(rows))
    }
}
