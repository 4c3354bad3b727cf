// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting updaters: lock, update, delete, and who gets the row then.

use crate::isolation::script::scenarios;

scenarios! {
    /// Updates in a row: each waits its turn and re-reads, so that none is lost; a transaction that
    /// has a snapshot from before is refused.
    waiting_updaters("eval-plan-qual, wx1 wx2") "
        | T1      | T2      | T3      || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | add 1 1 |         |         || ok                                                             |
        |         | add 1 2 |         || waits T1                                                       |
        |         |         | add 1 4 || waits T1 T2                                                    |
        | commit  |         |         || ok                                                             |
        |         | ...     |         || ok             | ok         | write conflict | write conflict |
        |         | commit  |         || ok             | ok         | ended          | ended          |
        |         |         | ...     || ok             | ok         | write conflict | write conflict |
        |         |         | commit  || ok             | ok         | ended          | ended          |
        | scan    |         |         || 1=17 2=20      | 1=17 2=20  | 1=11 2=20      | 1=11 2=20      |
    "

    /// The same, when the first rolls back: the next finds the row as it was.
    waiting_updater_after_rollback("eval-plan-qual, wx1 wx2 r1") "
        | T1       | T2      || READ COMMITTED | PostgreSQL | SNAPSHOT  | PostgreSQL RR |
        | add 1 1  |         || ok                                                       |
        |          | add 1 2 || waits T1                                                 |
        | rollback |         || ok                                                       |
        |          | ...     || ok                                                       |
        |          | commit  || ok                                                       |
        | scan     |         || 1=12 2=20                                                |
    "

    /// A delete that waits for an update takes the updated row; if its condition does not hold any
    /// more, it takes none.
    delete_after_update("eval-plan-qual, wx2 d1", rows [(1, 600), (2, 600)]) "
        | T1        | T2               || READ COMMITTED | PostgreSQL    | SNAPSHOT       | PostgreSQL RR  |
        | add 1 450 |                  || ok                                                                |
        |           | delete 1         || waits T1                                                          |
        | commit    |                  || ok                                                                |
        |           | ...              || ok             | ok            | write conflict | write conflict |
        |           | rollback         || ok             | ok            | ended          | ended          |
        | add 1 50  |                  || ok                                                                |
        |           | delete value 1050 || waits T1                                                         |
        | commit    |                  || ok                                                                |
        |           | ...              || nothing        | nothing       | write conflict | write conflict |
        |           | rollback         || ok             | ok            | ended          | ended          |
        | scan      |                  || 1=1100 2=600                                                      |
    "

    /// An update that waits for a delete finds nothing when that commits, and the row when not.
    update_after_delete("eval-plan-qual, d1 wx2") "
        | T1       | T2      || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | delete 1 |         || ok                                                            |
        |          | add 1 1 || waits T1                                                      |
        | rollback |         || ok                                                            |
        |          | ...     || ok                                                            |
        |          | commit  || ok                                                            |
        | delete 1 |         || ok                                                            |
        |          | add 1 1 || waits T1                                                      |
        | commit   |         || ok                                                            |
        |          | ...     || nothing        | nothing    | write conflict | write conflict |
        |          | commit  || ok             | ok         | ended          | ended          |
        | scan     |         || 2=20                                                          |
    "

    /// An update that waits for a transaction that deletes the row and inserts its key again.
    update_after_reinsertion("no specification of its own") "
        | T1           | T2      || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | delete 1     |         || ok                                                            |
        | insert 1 100 |         || ok                                                            |
        |              | add 1 1 || waits T1                                                      |
        | commit       |         || ok                                                            |
        |              | ...     || ok             | nothing    | write conflict | write conflict |
        |              | commit  || ok             | ok         | ended          | ended          |
        | get 1        |         || 1=101          | 1=100      | 1=100          | 1=100          |
    " stricter "a key keeps its tuple when it is deleted and inserted again, so the waiting
        transaction finds the new row, as if its statement had begun after the commit"

    /// Locks and updates behind one lock of a row: all go through, in order.
    tuplelock_update("tuplelock-update") "
        | T1      | T2              | T3              | T4              || READ COMMITTED | PostgreSQL |
        | add 1 1 |                 |                 |                 || ok                          |
        | commit  |                 |                 |                 || ok                          |
        | lock 1  |                 |                 |                 || 1=11                        |
        |         | add 1 1; commit |                 |                 || waits T1       | ok         |
        |         |                 | add 1 1; commit |                 || waits T1 T2    | ok         |
        |         |                 |                 | add 1 1; commit || waits T1 T2 T3 | ok         |
        | commit  |                 |                 |                 || ok                          |
        |         | ...             |                 |                 || ok             | -          |
        |         |                 | ...             |                 || ok             | -          |
        |         |                 |                 | ...             || ok             | -          |
        | get 1   |                 |                 |                 || 1=14                        |
    " stricter "rows have no FOR KEY SHARE, which an update could ignore: the updates wait for the
        lock"

    /// Two wait for the row; both get it, in order, whatever the first does with it.
    tuplelock_in_order("tuplelock-upgrade-no-deadlock, s1_share s2_update s3_update") "
        | T1       | T2       | T3       || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | lock 1   |          |          || 1=10                                                    |
        |          | set 1 11 |          || waits T1                                                |
        |          |          | set 1 12 || waits T1 T2                                             |
        | rollback |          |          || ok                                                      |
        |          | ...      |          || ok                                                      |
        |          | rollback |          || ok                                                      |
        |          |          | ...      || ok                                                      |
        |          |          | rollback || ok                                                      |
        | lock 1   |          |          || 1=10                                                    |
        |          | delete 1 |          || waits T1                                                |
        |          |          | delete 1 || waits T1 T2                                             |
        | rollback |          |          || ok                                                      |
        |          | ...      |          || ok                                                      |
        |          | rollback |          || ok                                                      |
        |          |          | ...      || ok                                                      |
        |          |          | rollback || ok                                                      |
    "

    /// A share lock that its holder upgrades while another transaction waits for the row. There the
    /// holder passes the waiter by; here nobody has a share to make stronger, and nobody deadlocks.
    tuplelock_upgrade_no_deadlock("tuplelock-upgrade-no-deadlock, s1_share s2_for_update s3_share") "
        | T1       | T2       | T3             || READ COMMITTED | PostgreSQL     |
        | lock 1   |          |                || 1=10                            |
        |          | lock 1   |                || waits T1                        |
        |          |          | lock 1; lock 1 || waits T1 T2    | 1=10; waits T1 |
        | rollback |          |                || ok                              |
        |          | ...      |                || 1=10           | -              |
        |          | rollback |                || ok             | -              |
        |          |          | ...            || 1=10; 1=10     | 1=10           |
        |          |          | rollback       || ok                              |
    " stricter "T3's share lock is exclusive here: it waits behind T2, which is therefore served
        first"

    /// A row that is updated and then deleted, and a transaction that locks it with an older
    /// snapshot.
    lock_update_delete("lock-update-delete") "
        | T1     | T2       || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | scan   |          || 1=10 2=20                                                     |
        |        | set 1 11 || ok                                                            |
        |        | delete 1 || ok                                                            |
        | lock 1 |          || waits T2                                                      |
        |        | commit   || ok                                                            |
        | ...    |          || nothing        | nothing    | write conflict | write conflict |
        | commit |          || ok             | ok         | ended          | ended          |
    "

    /// The same, when the deletion is rolled back.
    lock_update_delete_rollback("lock-update-delete, rolled back") "
        | T1     | T2       || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | scan   |          || 1=10 2=20                                               |
        |        | set 1 11 || ok                                                      |
        |        | delete 1 || ok                                                      |
        | lock 1 |          || waits T2                                                |
        |        | rollback || ok                                                      |
        | ...    |          || 1=10                                                    |
        | commit |          || ok                                                      |
    "

    /// A row with a committed update, locked by one whose snapshot is older.
    lock_committed_update("lock-committed-update") "
        | T1       | T2     || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR |
        |          | begin  || ok                                                           |
        | set 1 11 |        || ok                                                           |
        |          | lock 1 || waits T1       | 1=10       | waits T1       | 1=10          |
        | commit   |        || ok                                                           |
        |          | ...    || 1=11           | -          | write conflict | -             |
        |          | commit || ok             | ok         | ended          | ok            |
    " stricter "there FOR KEY SHARE does not conflict with an update that does not change the key;
        here all locks are exclusive, so it waits, and the first updater wins"

    /// The same, with an update of the key there, and so FOR UPDATE: the outcomes agree.
    lock_committed_keyupdate("lock-committed-keyupdate") "
        | T1       | T2     || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        |          | begin  || ok                                                            |
        | set 1 11 |        || ok                                                            |
        |          | lock 1 || waits T1                                                      |
        | commit   |        || ok                                                            |
        |          | ...    || 1=11           | 1=11       | write conflict | write conflict |
        |          | commit || ok             | ok         | ended          | ended          |
    "

    /// A locked version is replaced; the delete of the new one waits for the lock all the same.
    lock_update_traversal("lock-update-traversal") "
        | T1     | T2       || SNAPSHOT       | PostgreSQL RR |
        | scan   |          || 1=10 2=20                      |
        |        | set 1 11 || ok                             |
        | lock 1 |          || waits T2       | 1=10          |
        |        | commit   || ok                             |
        | ...    |          || write conflict | -             |
        |        | delete 1 || ok             | waits T1      |
        | commit |          || ended          | ok            |
        |        | ...      || -              | ok            |
        |        | commit   || ok                             |
    " stricter "there T1 may lock a row (FOR KEY SHARE) while another transaction changes it; here
        it waits for that transaction, and its snapshot is then too old"

    /// A locked row (there by a foreign key) and its update by another.
    update_locked_tuple("update-locked-tuple") "
        | T1       | T2               || SNAPSHOT | PostgreSQL RR |
        | lock 1   |                  || 1=10                     |
        | set 2 21 |                  || ok                       |
        |          | set 1 11; commit || waits T1 | ok            |
        | set 2 22 |                  || ok                       |
        | commit   |                  || ok                       |
        |          | ...              || ok       | -             |
        | scan     |                  || 1=11 2=22                |
    " stricter "there the lock of a foreign key (FOR KEY SHARE) does not block an update of other
        columns"

    /// A delete that is rolled back to a savepoint leaves the lock that was there before.
    delete_abort_savept("delete-abort-savept") "
        | T1        | T2     || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | lock 1    |        || 1=10                                                    |
        | savepoint |        || ok                                                      |
        | delete 1  |        || ok                                                      |
        |           | lock 1 || waits T1                                                |
        | back 1    |        || ok                                                      |
        | get 1     |        || 1=10                                                    |
        | commit    |        || ok                                                      |
        |           | ...    || 1=10                                                    |
        |           | commit || ok                                                      |
    "

    /// A lock that was taken after the savepoint goes with it, at once.
    aborted_keyrevoke("aborted-keyrevoke, the row deleted") "
        | T1        | T2     || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | savepoint |        || ok                                                      |
        | delete 1  |        || ok                                                      |
        |           | lock 1 || waits T1                                                |
        | back 1    |        || ok                                                      |
        |           | ...    || 1=10                                                    |
        | get 1     |        || 1=10                                                    |
        | lock 1    |        || waits T2                                                |
        |           | commit || ok                                                      |
        | ...       |        || 1=10                                                    |
        | commit    |        || ok                                                      |
    "

    /// A lock is not lost when its holder updates the row, rolls that back, and deletes the row.
    propagate_lock_delete("propagate-lock-delete") "
        | T1     | T2             || READ COMMITTED | PostgreSQL |
        | lock 1 |                || 1=10                        |
        |        | begin          || ok                          |
        |        | set 1 11; savepoint; set 1 12; back 1; delete 1 || waits T1 |
        | commit |                || ok                          |
        |        | ...            || ok                          |
        |        | commit         || ok                          |
        | scan   |                || 2=20                        |
    "
}
