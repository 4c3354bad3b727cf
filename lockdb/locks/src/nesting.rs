// SPDX-License-Identifier: MIT OR Apache-2.0
//! The active calls of a thread that each run a transaction by a closure.
//!
//! Such a transaction ends only when its call returns. So a wait on the same thread for a lock that
//! it holds comes from within that closure, and is a deadlock with itself.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::{LockTable, Timestamp};

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
struct Call {
    table: *const LockTable,
    session: usize,
    /// What its transaction's locks stand under, once it has taken one.
    name: Option<Timestamp>,
}

/// Until it is dropped, this thread is in such a call.
#[derive(Debug)]
pub struct Entered(PhantomData<*const ()>);

/// Enters a call whose locks stand in `table`. No two sessions of a table have one number.
pub fn enter(table: &LockTable, session: usize) -> Entered {
    let call = Call { table, session, name: None };
    CALLS.with_borrow_mut(|calls| calls.push(call));
    Entered(PhantomData)
}

impl Drop for Entered {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(Vec::pop);
    }
}

/// A session's locks stand under this name from now on. If no call of it is under way on this thread,
/// nobody here can wait for it in vain.
pub fn name(table: &LockTable, session: usize, name: Timestamp) {
    CALLS.with_borrow_mut(|calls| {
        let ours = |call: &&mut Call| std::ptr::eq(call.table, table) && call.session == session;
        if let Some(call) = calls.iter_mut().rev().find(ours) {
            call.name = Some(name);
        }
    });
}

/// How many calls are under way on this thread whose locks stand in `table`.
pub fn depth(table: &LockTable) -> usize {
    CALLS.with_borrow(|calls| calls.iter().filter(|call| std::ptr::eq(call.table, table)).count())
}

/// The other transactions that cannot end before what `transaction` now does on this thread.
pub(crate) fn around(table: &LockTable, transaction: Timestamp) -> Vec<Timestamp> {
    CALLS.with_borrow(|calls| {
        let of_table = calls.iter().filter(|call| std::ptr::eq(call.table, table));
        of_table.filter_map(|call| call.name).filter(|&name| name != transaction).collect()
    })
}
