// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlocks: exactly one dies, and the others continue.
//!
//! There the first to lose timeout dies (`deadlock_timeout`, which the specifications set so that
//! it is a certain one); here the youngest in the cycle, the one that took its first lock last.

use crate::isolation::script::scenarios;

scenarios! {
    /// Two, two rows.
    deadlock_of_two("deadlock-simple, with rows") "
        | T1      | T2      || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR | SERIALIZABLE |
        | add 1 1 |         || ok                                                                    |
        |         | add 2 1 || ok                                                                    |
        | add 2 2 |         || waits T2                                                              |
        |         | add 1 2 || deadlock                                                              |
        | ...     |         || ok                                                                    |
        | commit  |         || ok                                                                    |
        |         | commit  || ended                                                                 |
        | scan    |         || 1=11 2=22                                                             |
    "

    /// The youngest dies, also when it is not the one who closes the cycle.
    deadlock_closed_by_the_older("deadlock-simple, with rows, the other way round") "
        | T1      | T2      || READ COMMITTED | PostgreSQL | SNAPSHOT | PostgreSQL RR |
        | add 1 1 |         || ok                                                      |
        |         | add 2 1 || ok                                                      |
        |         | add 1 2 || waits T1                                                |
        | add 2 2 |         || ...                                                     |
        |         | ...     || deadlock       | ok         | deadlock | ok            |
        | ...     |         || ok             | deadlock   | ok       | deadlock      |
        | commit  |         || ok             | ended      | ok       | ended         |
    " stricter "as strict, with another victim: there the first transaction to time out, usually the
        one that closed the cycle or waited longest; here always the youngest, so that the oldest
        transaction succeeds"

    /// Two share a lock, and each wants it for itself.
    deadlock_simple("deadlock-simple") "
        | T1     | T2     || READ COMMITTED | PostgreSQL |
        | lock 1 |        || 1=10                        |
        |        | lock 1 || waits T1       | 1=10       |
        | lock 1 |        || 1=10           | waits T2   |
        |        | lock 1 || -              | deadlock   |
        | ...    |        || -              | 1=10       |
        | commit |        || ok                          |
        |        | ...    || 1=10           | -          |
        |        | commit || ok             | ended      |
    " stricter "the lock cannot be shared (ACCESS SHARE there), so there is no upgrade and no
        deadlock: the second transaction waits from the beginning"

    /// Two wait behind each other's queues: T1 for row 2 behind E2, T2 for row 1 behind E1.
    deadlock_soft("deadlock-soft", rows [(1, 10), (2, 20)]) "
        | T1     | T2     | E1     | E2     || READ COMMITTED | PostgreSQL  |
        | lock 1 |        |        |        || 1=10                         |
        |        | lock 2 |        |        || 2=20                         |
        |        |        | lock 1 |        || waits T1                     |
        |        |        |        | lock 2 || waits T2                     |
        | lock 2 |        |        |        || waits T2 E2                  |
        |        | lock 1 |        |        || deadlock       | waits T1 E1 |
        |        |        |        | ...    || 2=20           | -           |
        | ...    |        |        |        || -              | 2=20        |
        |        |        |        | commit || ok             | -           |
        | ...    |        |        |        || 2=20           | -           |
        | commit |        |        |        || ok                           |
        |        |        | ...    |        || 1=10                         |
        |        |        | commit |        || ok                           |
        |        | ...    |        |        || -              | 1=10        |
        |        | commit |        |        || ended          | ok          |
        |        |        |        | ...    || -              | 2=20        |
        |        |        |        | commit || -              | ok          |
    " stricter "there T1 and T2 may share their locks, and the cycle opens when the queue is
        rearranged; here they exclude each other, so the younger of them must abort. The two that
        only wait in the queues do not abort"

    /// Eight in a ring.
    deadlock_hard("deadlock-hard", rows [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)]) "
        | T1     | T2     | T3     | T4     | T5     | T6     | T7     | T8     || READ COMMITTED | PostgreSQL |
        | lock 1 |        |        |        |        |        |        |        || 1=1                         |
        |        | lock 2 |        |        |        |        |        |        || 2=2                         |
        |        |        | lock 3 |        |        |        |        |        || 3=3                         |
        |        |        |        | lock 4 |        |        |        |        || 4=4                         |
        |        |        |        |        | lock 5 |        |        |        || 5=5                         |
        |        |        |        |        |        | lock 6 |        |        || 6=6                         |
        |        |        |        |        |        |        | lock 7 |        || 7=7                         |
        |        |        |        |        |        |        |        | lock 8 || 8=8                         |
        | lock 2 |        |        |        |        |        |        |        || waits T2                    |
        |        | lock 3 |        |        |        |        |        |        || waits T3                    |
        |        |        | lock 4 |        |        |        |        |        || waits T4                    |
        |        |        |        | lock 5 |        |        |        |        || waits T5                    |
        |        |        |        |        | lock 6 |        |        |        || waits T6                    |
        |        |        |        |        |        | lock 7 |        |        || waits T7                    |
        |        |        |        |        |        |        | lock 8 |        || waits T8                    |
        |        |        |        |        |        |        |        | lock 1 || deadlock                    |
        |        |        |        |        |        |        | ...    |        || 8=8                         |
        |        |        |        |        |        |        |        | commit || ended                       |
        |        |        |        |        |        |        | commit |        || ok                          |
        |        |        |        |        |        | ...    |        |        || 7=7                         |
        |        |        |        |        |        | commit |        |        || ok                          |
        |        |        |        |        | ...    |        |        |        || 6=6                         |
        |        |        |        |        | commit |        |        |        || ok                          |
        |        |        |        | ...    |        |        |        |        || 5=5                         |
        |        |        |        | commit |        |        |        |        || ok                          |
        |        |        | ...    |        |        |        |        |        || 4=4                         |
        |        |        | commit |        |        |        |        |        || ok                          |
        |        | ...    |        |        |        |        |        |        || 3=3                         |
        |        | commit |        |        |        |        |        |        || ok                          |
        | ...    |        |        |        |        |        |        |        || 2=2                         |
        | commit |        |        |        |        |        |        |        || ok                          |
    "
}
