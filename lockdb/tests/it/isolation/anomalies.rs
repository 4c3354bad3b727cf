// SPDX-License-Identifier: MIT OR Apache-2.0
//! The anomalies of Adya and of the Hermitage suite (M. Kleppmann), each at every level: admitted
//! (what is seen is marked `!`) or prevented.
//!
//! Table `test`: 1 => 10, 2 => 20. Sources: A. Adya, B. Liskov, P. O'Neil, Generalized Isolation
//! Level Definitions, ICDE 2000; A. Fekete, E. O'Neil, P. O'Neil, A Read-Only Transaction Anomaly
//! Under Snapshot Isolation, SIGMOD Record 2004.

use crate::isolation::script::scenarios;

scenarios! {
    /// G0, write cycle: two transactions change the same two rows. The rows must not end up with
    /// one value of each; the second waits for the first.
    g0_write_cycle("G0") "
        | T1       | T2       | T3       || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | set 1 11 |          |          || ok                                               |
        |          | set 1 12 |          || waits T1                                         |
        | set 2 21 |          |          || ok                                               |
        | commit   |          |          || ok                                               |
        |          | ...      |          || ok             | write conflict | write conflict |
        |          |          | scan     || 1=11 2=21                                        |
        |          | set 2 22 |          || ok             | ended          | ended          |
        |          | commit   |          || ok             | ended          | ended          |
        |          |          | commit   || ok                                               |
        |          |          | scan     || 1=12 2=22      | 1=11 2=21      | 1=11 2=21      |
    "

    /// G1a, aborted read: no transaction sees what is rolled back, neither before nor after.
    g1a_aborted_read("G1a") "
        | T1        | T2        || READ COMMITTED | SNAPSHOT  | SERIALIZABLE |
        | set 1 101 |           || ok                                        |
        |           | scan      || 1=10 2=20                                 |
        |           | value 101 || nothing                                   |
        | rollback  |           || ok                                        |
        |           | scan      || 1=10 2=20                                 |
        |           | value 101 || nothing                                   |
        |           | commit    || ok                                        |
    "

    /// G1a with a savepoint: what is rolled back to it is as unseen as if it had never been
    /// written, though the transaction commits.
    g1a_savepoint("G1a") "
        | T1        | T2        || READ COMMITTED | SNAPSHOT  | SERIALIZABLE |
        | set 1 11  |           || ok                                        |
        | savepoint |           || ok                                        |
        | set 1 101 |           || ok                                        |
        | delete 2  |           || ok                                        |
        | insert 3 3 |          || ok                                        |
        |           | scan      || 1=10 2=20                                 |
        | back 1    |           || ok                                        |
        | scan      |           || 1=11 2=20                                 |
        | commit    |           || ok                                        |
        |           | scan      || 1=11 2=20      | 1=10 2=20 | 1=10 2=20    |
        |           | commit    || ok                                        |
        |           | value 0..200 || 1=11 2=20                              |
    "

    /// G1b, intermediate read: no transaction sees a value that its writer has changed again.
    g1b_intermediate_read("G1b") "
        | T1        | T2        || READ COMMITTED | SNAPSHOT  | SERIALIZABLE |
        | set 1 101 |           || ok                                        |
        |           | scan      || 1=10 2=20                                 |
        | set 1 11  |           || ok                                        |
        |           | value 101 || nothing                                   |
        | commit    |           || ok                                        |
        |           | scan      || 1=11 2=20      | 1=10 2=20 | 1=10 2=20    |
        |           | value 101 || nothing                                   |
        |           | commit    || ok                                        |
    "

    /// G1c, circular information flow: neither of two transactions that run at the same time sees
    /// what the other writes, so at most one would see the other. At SERIALIZABLE the second to
    /// commit has read what the first has changed.
    g1c_circular_flow("G1c") "
        | T1       | T2       || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | set 1 11 |          || ok                                        |
        |          | set 2 22 || ok                                        |
        | get 2    |          || 2=20                                      |
        |          | get 1    || 1=10                                      |
        | commit   |          || ok                                        |
        |          | commit   || ok             | ok       | read conflict |
    "

    /// OTV, observed transaction vanishes: T3 sees T1's change of row 1, so it must not miss T1's
    /// change of row 2, nor go back behind it when T2 has changed both again.
    otv("OTV") "
        | T1       | T2       | T3    || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        |          |          | begin || ok                                               |
        | set 1 11 |          |       || ok                                               |
        | set 2 19 |          |       || ok                                               |
        |          | set 1 12 |       || waits T1                                         |
        | commit   |          |       || ok                                               |
        |          | ...      |       || ok             | write conflict | write conflict |
        |          |          | get 1 || 1=11           | 1=10           | 1=10           |
        |          | set 2 18 |       || ok             | -              | -              |
        |          |          | get 2 || 2=19           | 2=20           | 2=20           |
        |          | commit   |       || ok             | ended          | ended          |
        |          |          | get 2 || 2=18           | 2=20           | 2=20           |
        |          |          | get 1 || 1=12           | 1=10           | 1=10           |
        |          |          | commit || ok                                              |
    "

    /// PMP, predicate-many-preceders, for reads: T1 looks for a value twice, and finds a row the
    /// second time that was not there the first time.
    pmp_read("PMP") "
        | T1       | T2          || READ COMMITTED | SNAPSHOT | SERIALIZABLE |
        | value 30 |             || nothing                                  |
        |          | insert 3 30 || ok                                       |
        |          | commit      || ok                                       |
        | scan %3  |             || 3=30!          | nothing  | nothing      |
        | value 30 |             || 3=30!          | nothing  | nothing      |
        | keys 3..9 |            || 3=30!          | nothing  | nothing      |
        | commit   |             || ok                                       |
    "

    /// PMP for writes: T2 deletes the rows of value 20. While it waits, T1 makes row 1 one and
    /// row 2 none. At READ COMMITTED T2 deletes neither, and then sees one of the value.
    pmp_write("PMP") "
        | T1         | T2              || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | add all 10 |                 || ok                                               |
        |            | delete value 20 || waits T1                                         |
        | commit     |                 || ok                                               |
        |            | ...             || nothing        | write conflict | write conflict |
        |            | value 20        || 1=20!          | ended          | ended          |
        |            | commit          || ok             | ended          | ended          |
    "

    /// P4, lost update: both read 10 and write 11; the first update is lost. (As one operation,
    /// `add 1 1`, the update is not lost: `waiting_updaters`.)
    p4_lost_update("P4") "
        | T1       | T2       || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | get 1    |          || 1=10                                             |
        |          | get 1    || 1=10                                             |
        | set 1 11 |          || ok                                               |
        |          | set 1 11 || waits T1                                         |
        | commit   |          || ok                                               |
        |          | ...      || ok!            | write conflict | write conflict |
        |          | commit   || ok!            | ended          | ended          |
    "

    /// P4 where the second writes after the first has committed.
    p4_after_commit("P4") "
        | T1       | T2       || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | get 1    |          || 1=10                                             |
        |          | get 1    || 1=10                                             |
        | set 1 11 |          || ok                                               |
        | commit   |          || ok                                               |
        |          | set 1 11 || ok!            | write conflict | write conflict |
        |          | commit   || ok!            | ended          | ended          |
    "

    /// G-single, read skew: T1 sees row 1 from before T2 and row 2 from after it.
    g_single("G-single") "
        | T1     | T2       || READ COMMITTED | SNAPSHOT | SERIALIZABLE |
        | get 1  |          || 1=10                                     |
        |        | get 1    || 1=10                                     |
        |        | get 2    || 2=20                                     |
        |        | set 1 12 || ok                                       |
        |        | set 2 18 || ok                                       |
        |        | commit   || ok                                       |
        | get 2  |          || 2=18!          | 2=20     | 2=20         |
        | commit |          || ok                                       |
    "

    /// G-single by predicates: T1 looks for multiples of 5, then of 3; T2 turns 10 into 12.
    g_single_predicate("G-single") "
        | T1      | T2       || READ COMMITTED | SNAPSHOT | SERIALIZABLE |
        | scan %5 |          || 1=10 2=20                                |
        |         | set 1 12 || ok                                       |
        |         | commit   || ok                                       |
        | scan %3 |          || 1=12!          | nothing  | nothing      |
        | value 12 |         || 1=12!          | nothing  | nothing      |
        | commit  |          || ok                                       |
    "

    /// G-single with a write predicate: T1, having seen row 1 from before T2, deletes the rows of
    /// value 20, of which T2 has made 18. At READ COMMITTED it finds none.
    g_single_write("G-single") "
        | T1              | T2       || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | get 1           |          || 1=10                                             |
        |                 | scan     || 1=10 2=20                                        |
        |                 | set 1 12 || ok                                               |
        |                 | set 2 18 || ok                                               |
        |                 | commit   || ok                                               |
        | delete value 20 |          || nothing!       | write conflict | write conflict |
        | commit          |          || ok             | ended          | ended          |
    "

    /// G-single across a chain of two writers (dependencies): T3 depends on T2; T1 sees T3's row
    /// and not T2's.
    g_single_dependencies("G-single") "
        | T1     | T2       | T3       || READ COMMITTED | SNAPSHOT | SERIALIZABLE |
        | get 1  |          |          || 1=10                                     |
        |        | set 1 11 |          || ok                                       |
        |        | commit   |          || ok                                       |
        |        |          | get 1    || 1=11                                     |
        |        |          | set 2 21 || ok                                       |
        |        |          | commit   || ok                                       |
        | get 2  |          |          || 2=21!          | 2=20     | 2=20         |
        | commit |          |          || ok                                       |
    "

    /// G2-item, write skew: both read both rows, each changes another one.
    g2_item("G2-item") "
        | T1       | T2       || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | get 1    |          || 1=10                                      |
        | get 2    |          || 2=20                                      |
        |          | get 1    || 1=10                                      |
        |          | get 2    || 2=20                                      |
        | set 1 11 |          || ok                                        |
        |          | set 2 21 || ok                                        |
        | commit   |          || ok                                        |
        |          | commit   || ok!            | ok!      | read conflict |
    "

    /// G2-item, where what is read is locked: the second waits, and the skew is prevented at
    /// SNAPSHOT too.
    g2_item_locked("G2-item, rows locked for update") "
        | T1       | T2       || READ COMMITTED | SNAPSHOT       | SERIALIZABLE   |
        | lock 1   |          || 1=10                                             |
        | lock 2   |          || 2=20                                             |
        |          | lock 1   || waits T1                                         |
        | set 1 11 |          || ok                                               |
        | commit   |          || ok                                               |
        |          | ...      || 1=11           | write conflict | write conflict |
        |          | rollback || ok             | ended          | ended          |
    "

    /// G2, by a predicate over the whole table: both find no multiple of 3, both insert one.
    g2_scan("G2") "
        | T1          | T2          || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | scan %3     |             || nothing                                   |
        |             | scan %3     || nothing                                   |
        | insert 3 30 |             || ok                                        |
        |             | insert 4 42 || ok                                        |
        | commit      |             || ok                                        |
        |             | commit      || ok!            | ok!      | read conflict |
    "

    /// G2, by a range of primary keys.
    g2_key_range("G2") "
        | T1          | T2          || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | keys 3..9   |             || nothing                                   |
        |             | keys 3..9   || nothing                                   |
        | insert 3 30 |             || ok                                        |
        |             | insert 4 42 || ok                                        |
        | commit      |             || ok                                        |
        |             | commit      || ok!            | ok!      | read conflict |
    "

    /// G2, by a range of the secondary index, into which an update brings a row.
    g2_secondary_range("G2") "
        | T1           | T2           || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | value 30..40 |              || nothing                                   |
        |              | value 30..40 || nothing                                   |
        | set 1 30     |              || ok                                        |
        |              | set 2 40     || ok                                        |
        | commit       |              || ok                                        |
        |              | commit       || ok!            | ok!      | read conflict |
    "

    /// G2, by keys that are not there.
    g2_absent_key("G2") "
        | T1          | T2          || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | get 3       |             || nothing                                   |
        |             | get 4       || nothing                                   |
        | insert 4 42 |             || ok                                        |
        |             | insert 3 30 || ok                                        |
        | commit      |             || ok                                        |
        |             | commit      || ok!            | ok!      | read conflict |
    "

    /// G2 with a deletion: T1 counts on row 1 being in the range, T2 on row 2.
    g2_delete("G2") "
        | T1        | T2        || READ COMMITTED | SNAPSHOT | SERIALIZABLE  |
        | keys 1..2 |           || 1=10 2=20                                 |
        |           | keys 1..2 || 1=10 2=20                                 |
        | delete 1  |           || ok                                        |
        |           | delete 2  || ok                                        |
        | commit    |           || ok                                        |
        |           | commit    || ok!            | ok!      | read conflict |
    "

    /// G2 with two anti-dependency edges and a reader that changes nothing (Fekete, O'Neil,
    /// O'Neil): T3 sees T2's change and not T1's, though T1 has read what was before T2.
    g2_two_edges("G2") "
        | T1      | T2      | T3     || READ COMMITTED | SNAPSHOT  | SERIALIZABLE  |
        | scan    |         |        || 1=10 2=20                                  |
        |         | add 2 5 |        || ok                                         |
        |         | commit  |        || ok                                         |
        |         |         | scan   || 1=10 2=25                                  |
        |         |         | commit || ok                                         |
        | set 1 0 |         |        || ok                                         |
        | commit  |         |        || ok!            | ok!       | read conflict |
    "

    /// No anomaly, and no conflict: a range that nobody writes into is not disturbed by an insert
    /// beside it.
    apart("reads and writes apart") "
        | T1          | T2          || READ COMMITTED | SNAPSHOT | SERIALIZABLE |
        | keys 1..2   |             || 1=10 2=20                                |
        |             | keys 4..9   || nothing                                  |
        | insert 3 30 |             || ok                                       |
        |             | set 2 21    || ok                                       |
        | commit      |             || ok                                       |
        |             | commit      || ok                                       |
    "
}
