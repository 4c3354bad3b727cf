// SPDX-License-Identifier: MIT OR Apache-2.0
//! NOWAIT and SKIP LOCKED.

use crate::isolation::script::scenarios;

scenarios! {
    /// A locked row is refused at once; the transaction that asked is over.
    nowait("nowait") "
        | T1            | T2            || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | lock 1 nowait |               || 1=10                                                    |
        |               | lock 1 nowait || busy                                                    |
        | commit        |               || ok                                                      |
        |               | commit        || ended                                                   |
        |               | lock 1 nowait || 1=10                                                    |
        |               | commit        || ok                                                      |
    "

    /// Two that would share the row.
    nowait_2("nowait-2") "
        | T1            | T2            || READ COMMITTED | PostgreSQL |
        | lock 1 nowait |               || 1=10                        |
        |               | lock 1 nowait || busy           | 1=10       |
        |               | lock 1 nowait || ended          | busy       |
        | commit        |               || ok                          |
        |               | commit        || ended                       |
    " stricter "two transactions cannot share a row (FOR SHARE), so the second is refused at once
        and not only when it requests the row exclusively"

    /// A transaction already waits for the row.
    nowait_3("nowait-3") "
        | T1     | T2     | T3            || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | lock 1 |        |               || 1=10                                                    |
        |        | lock 1 |               || waits T1                                                |
        |        |        | lock 1 nowait || busy                                                    |
        | commit |        |               || ok                                                      |
        |        | ...    |               || 1=10                                                    |
        |        |        | commit        || ended                                                   |
        |        | commit |               || ok                                                      |
    "

    /// The row has been updated, and is being updated again.
    nowait_4("nowait-4; nowait-5") "
        | T1            | T2       || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | get 1         |          || 1=10                                                          |
        |               | set 1 11 || ok                                                            |
        |               | commit   || ok                                                            |
        |               | set 1 12 || ok                                                            |
        | lock 1 nowait |          || busy           | busy       | write conflict | write conflict |
        | commit        |          || ended                                                         |
        |               | commit   || ok                                                            |
        | get 1         |          || 1=12                                                          |
    "

    /// A queue: a transaction that finds the first entry locked takes the second; its own lock does
    /// not count.
    skip_locked("skip-locked") "
        | T1         | T2         || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | first skip |            || 1=10                                                    |
        | first skip |            || 1=10                                                    |
        |            | first skip || 2=20                                                    |
        |            | first skip || 2=20                                                    |
        | commit     |            || ok                                                      |
        |            | first skip || 1=10                                                    |
        | first skip |            || nothing                                                 |
        |            | commit     || ok                                                      |
        | first skip |            || 1=10                                                    |
        | commit     |            || ok                                                      |
    "

    /// Two that would share the first entry.
    skip_locked_2("skip-locked-2") "
        | T1         | T2         || READ COMMITTED | PostgreSQL |
        | first skip |            || 1=10                        |
        |            | first skip || 2=20           | 1=10       |
        |            | first skip || 2=20                        |
        | commit     |            || ok                          |
        |            | commit     || ok                          |
    " stricter "two transactions cannot share a row (FOR SHARE), so the second continues with the
        next row at once"

    /// A transaction already waits for the first entry.
    skip_locked_3("skip-locked-3") "
        | T1     | T2     | T3         || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | first  |        |            || 1=10                                                    |
        |        | first  |            || waits T1                                                |
        |        |        | first skip || 2=20                                                    |
        | commit |        |            || ok                                                      |
        |        | ...    |            || 1=10                                                    |
        |        | commit |            || ok                                                      |
        |        |        | commit     || ok                                                      |
    "

    /// The first entry has been updated, and is being updated again.
    skip_locked_4("skip-locked-4") "
        | T1         | T2       || READ COMMITTED | PostgreSQL | SNAPSHOT       | PostgreSQL RR  |
        | scan       |          || 1=10 2=20                                                     |
        |            | set 1 11 || ok                                                            |
        |            | commit   || ok                                                            |
        |            | set 1 12 || ok                                                            |
        | first skip |          || 2=20           | 2=20       | write conflict | write conflict |
        | commit     |          || ok             | ok         | ended          | ended          |
        |            | commit   || ok                                                            |
    "
}
