// SPDX-License-Identifier: MIT OR Apache-2.0
//! SERIALIZABLE, and keys that are inserted twice.

use crate::isolation::script::scenarios;

scenarios! {
    /// Both look at both rows and change one: one must go.
    simple_write_skew("simple-write-skew") "
        | T1       | T2       || SERIALIZABLE  | PostgreSQL    |
        | value 10 |          || 1=10                          |
        |          | value 20 || 2=20                          |
        | set 1 20 |          || ok                            |
        |          | set 2 10 || ok                            |
        | commit   |          || ok                            |
        |          | commit   || read conflict                 |
    "

    /// Row 1 is the day, the others are receipts: T1 books one on the old day, T2 closes the day, T3
    /// reports the closed day. (There is a report that misses the receipt unless one of them goes.)
    receipt_report("receipt-report", rows [(1, 22), (101, 22), (102, 22)]) "
        | T1             | T2       | T3         || SERIALIZABLE  | PostgreSQL    |
        | get 1          |          |            || 1=22                          |
        | insert 103 22  |          |            || ok                            |
        |                | set 1 23 |            || ok                            |
        |                | commit   |            || ok                            |
        |                |          | get 1      || 1=23                          |
        |                |          | keys 101..999 || 101=22 102=22              |
        |                |          | commit     || ok                            |
        | commit         |          |            || read conflict                 |
    "

    /// The same where the report comes before the day is closed: all three may stand.
    receipt_report_before("receipt-report, rxwy1 rx3 wx2") "
        | T1             | T2       | T3         || SERIALIZABLE  | PostgreSQL |
        | get 1          |          |            || 1=10                       |
        | insert 103 22  |          |            || ok                         |
        |                |          | get 1      || 1=10                       |
        |                |          | keys 101..999 || nothing                 |
        |                |          | commit     || ok                         |
        |                | set 1 23 |            || ok                         |
        | commit         |          |            || ok                         |
        |                | commit   |            || ok                         |
    "

    /// The same where the day is closed before the receipt is committed, and nobody reports.
    receipt_without_report("receipt-report, rxwy1 wx2 c2 c1") "
        | T1             | T2       || SERIALIZABLE  | PostgreSQL |
        | get 1          |          || 1=10                       |
        | insert 103 22  |          || ok                         |
        |                | set 1 23 || ok                         |
        |                | commit   || ok                         |
        | commit         |          || read conflict | ok         |
    " stricter "T1 would be serialisable before T2. Validation enforces the order of the commits, so
        it refuses T1 although no cycle is closed yet; a retry succeeds"

    /// Four transactions, three rows, one of them with several versions.
    multiple_row_versions("multiple-row-versions", rows [(1, 1), (5, 5), (9, 9)]) "
        | T1    | T2    | T3    | T4    || SERIALIZABLE  | PostgreSQL    |
        | get 9 |       |       |       || 9=9                           |
        |       | set 9 2 |     |       || ok                            |
        |       | commit |      |       || ok                            |
        |       |       | set 9 3 |     || ok                            |
        |       |       | get 5 |       || 5=5                           |
        |       |       |       | set 5 4 || ok                          |
        |       |       |       | get 1 || 1=1                           |
        |       |       |       | commit || ok                           |
        |       |       | commit |      || read conflict | ok            |
        | set 1 1 |     |       |       || ok            | read conflict |
        | commit |      |       |       || read conflict | ended         |
    " stricter "T3 has read a row that T4 has changed, and commits after it, which alone would be
        harmless. Validation refuses T3, and also T1, which has read a row that T2 has changed;
        retries of both succeed"

    /// Both find a key free and insert it: the second waits, and is refused.
    read_write_unique("read-write-unique") "
        | T1           | T2           || SERIALIZABLE   | PostgreSQL     |
        | get 42       |              || nothing                         |
        |              | get 42       || nothing                         |
        | insert 42 1  |              || ok                              |
        |              | insert 42 2  || waits T1                        |
        | commit       |              || ok                              |
        |              | ...          || write conflict                  |
        |              | commit       || ended                           |
    "

    /// A key that is there already when the second begins.
    read_write_unique_after("read-write-unique, one after the other") "
        | T1           | T2           || SERIALIZABLE | PostgreSQL | READ COMMITTED | PostgreSQL RC |
        | get 42       |              || nothing                                                    |
        | insert 42 1  |              || ok                                                         |
        | commit       |              || ok                                                         |
        |              | get 42       || 42=1                                                       |
        |              | insert 42 2  || duplicate                                                  |
        |              | rollback     || ok                                                         |
    "

    /// Two insert one key: the second waits for the end of the first.
    insert_unique("insert-conflict-do-nothing; unique violations") "
        | T1           | T2           || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR |
        | insert 42 1  |              || ok                                                           |
        |              | insert 42 2  || waits T1                                                     |
        | rollback     |              || ok                                                           |
        |              | ...          || ok                                                           |
        |              | rollback     || ok                                                           |
        | insert 42 1  |              || ok                                                           |
        |              | insert 42 2  || waits T1                                                     |
        | commit       |              || ok                                                           |
        |              | ...          || duplicate      | duplicate  | write conflict | duplicate     |
        |              | rollback     || ok             | ok         | ended          | ok            |
        |              | get 42       || 42=1                                                         |
    " stricter "at SNAPSHOT the first insert commits after the second transaction's snapshot, which
        does not show the row: a conflict, so that the transaction is retried and then sees the row"

    /// A key is freed by a delete that is still open: the insert waits for its end.
    insert_after_delete("insert-conflict-do-nothing, with a delete") "
        | T1       | T2           || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR |
        | delete 1 |              || ok                                                           |
        |          | insert 1 11  || waits T1                                                     |
        | rollback |              || ok                                                           |
        |          | ...          || duplicate                                                    |
        |          | rollback     || ok                                                           |
        | delete 1 |              || ok                                                           |
        |          | insert 1 11  || waits T1                                                     |
        | commit   |              || ok                                                           |
        |          | ...          || ok             | ok         | write conflict | ok            |
        |          | commit       || ok             | ok         | ended          | ok            |
        | get 1    |              || 1=11           | 1=11       | nothing        | 1=11          |
    " stricter "a key keeps its tuple: at SNAPSHOT the insert would overwrite a deletion that came
        after the snapshot, and the first updater wins"
}
