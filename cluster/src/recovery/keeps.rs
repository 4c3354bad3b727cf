// SPDX-License-Identifier: MIT OR Apache-2.0
//! What recovery asks of a protocol.

use super::{Records, Recovery};
use crate::engine::{Effects, NodeId, TransactionId};
use crate::store::Store;
use crate::store::log::Log;
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

/// The parts of a node's state that recovery changes.
#[derive(Debug)]
pub struct Parts<'a, T> {
    /// The view, the lease, and what is done for the next view.
    pub recovery: &'a mut Recovery,
    /// The rows.
    pub store: &'a mut Store<T>,
    /// The log.
    pub log: &'a mut Log,
}

/// What the parts of a node share, as recovery sees it: rows, log and view, and what else a protocol keeps
/// beside them.
///
/// In the order of a change of views: [`stop`](Keeps::stop), [`put_table`](Keeps::put_table),
/// [`decides`](Keeps::decides), [`decided`](Keeps::decided) for each record, [`begin`](Keeps::begin). If another
/// view is proposed in place of the one that is being prepared, it begins with `stop` again.
pub trait Keeps {
    /// The workload whose rows are kept.
    type Workload: Transactions;
    /// The form of records.
    type Records: Records;

    /// The view, the lease, and what is done for the next view.
    fn recovery(&self) -> &Recovery;

    /// The rows.
    fn store(&self) -> &Store<Self::Workload>;

    /// The log.
    fn log(&self) -> &Log;

    /// All of these, to be changed.
    fn parts(&mut self) -> Parts<'_, Self::Workload>;

    /// The node's process begins anew. Rows, log and view are seen to; what else has gone with the process
    /// goes here.
    fn restart(&mut self) {}

    /// The node has stopped its view, and the locks of its store are void. Void are other locks, too. What of
    /// records was not yet in the log, and is known to have committed, is added to it here.
    fn stop(&mut self, _: &mut Effects) {}

    /// Appends the node's table, which every other member is sent with its records: entries, of which each is
    /// read by [`Keeps::check_entry`] alone. They say what decides about records and stands in none of them.
    fn put_table(&self, _: &mut Vec<u8>) {}

    /// Reads one entry of a table of another member.
    ///
    /// # Errors
    /// When there is none.
    fn check_entry(&self, reader: &mut Reader<'_>) -> Result<(), WireError> {
        let found = reader.u8("an entry of a table")?;
        Err(reader.unknown("no table, as the protocol has none", found))
    }

    /// Decides whether the transaction of each of these records has committed. They are all records of all
    /// members as far as they concern this one, merged, and `tables` those of all members, the own one first.
    /// Those whose decision is [known](Records::decision) are not among them.
    ///
    /// It must come to the same on all members. It is kept in the log, so that it stays the same when another
    /// view is proposed, whose members may know less, or count anew.
    fn decides(&self, records: &[(TransactionId, &[u8])], tables: &[(NodeId, &[u8])]) -> Vec<bool>;

    /// The view begins with this decision about a transaction.
    fn decided(&mut self, _: TransactionId, _committed: bool) {}

    /// The next view has begun, and the log is empty.
    fn begin(&mut self, _: &mut Effects) {}
}
