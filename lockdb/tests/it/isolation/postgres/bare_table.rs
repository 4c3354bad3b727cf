// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same on the bare lock table, without a store: T1 is the oldest.

use crate::isolation::script::scenarios;

scenarios! {
    /// Waiters get the lock in the order of the queue, once.
    in_line("tuplelock-upgrade-no-deadlock, on the bare lock table") "
        | T1     | T2     | T3     || WAITS-FOR   | PostgreSQL  | WAIT-DIE |
        | lock 1 |        |        || ok                                   |
        | lock 1 |        |        || ok                                   |
        |        | lock 1 |        || waits T1    | waits T1    | died     |
        |        |        | lock 1 || waits T1 T2 | waits T1 T2 | died     |
        | end    |        |        || ok                                   |
        |        | ...    |        || ok          | ok          | -        |
        |        | end    |        || ok                                   |
        |        |        | ...    || ok          | ok          | -        |
        |        |        | end    || ok                                   |
    "

    /// Wait-die: the older waits for the younger, never the other way round.
    older_waits("wait-die, on the bare lock table") "
        | T1     | T2     | T3     || WAIT-DIE |
        |        | lock 1 |        || ok       |
        |        |        | lock 1 || died     |
        | lock 1 |        |        || waits T2 |
        |        | end    |        || ok       |
        | ...    |        |        || ok       |
        |        | lock 1 |        || died     |
        | end    |        |        || ok       |
        |        |        | lock 1 || ok       |
        |        |        | end    || ok       |
    "

    /// A request without waiting is refused, also when only the queue is in its way; nobody in the
    /// queue suffers from it.
    nowait("nowait, nowait-3, on the bare lock table") "
        | T1     | T2     | T3            || WAITS-FOR | PostgreSQL |
        | lock 1 |        |               || ok                     |
        |        |        | lock 1 nowait || busy                   |
        |        | lock 1 |               || waits T1               |
        |        |        | lock 1 nowait || busy                   |
        | end    |        |               || ok                     |
        |        | ...    |               || ok                     |
        |        |        | lock 1 nowait || busy                   |
        |        | end    |               || ok                     |
        |        |        | lock 1 nowait || ok                     |
        |        |        | end           || ok                     |
    "

    /// Two, two locks: the younger leaves its queue and keeps what it holds until it ends.
    deadlock_simple("deadlock-simple, on the bare lock table") "
        | T1     | T2     || WAITS-FOR | PostgreSQL | WAIT-DIE |
        | lock 1 |        || ok                                |
        |        | lock 2 || ok                                |
        | lock 2 |        || waits T2                          |
        |        | lock 1 || deadlock  | deadlock   | died     |
        |        | end    || ok                                |
        | ...    |        || ok                                |
        | end    |        || ok                                |
    "

    /// Two transactions that are only in the queues are not part of the deadlock, though the cycle
    /// could be drawn through them, and the youngest of all is one of them.
    deadlock_soft("deadlock-soft, on the bare lock table") "
        | T1     | T2     | E1     | E2     || WAITS-FOR   |
        | lock 1 |        |        |        || ok          |
        |        | lock 2 |        |        || ok          |
        |        |        | lock 1 |        || waits T1    |
        |        |        |        | lock 2 || waits T2    |
        | lock 2 |        |        |        || waits T2 E2 |
        |        | lock 1 |        |        || deadlock    |
        |        | end    |        |        || ok          |
        |        |        |        | ...    || ok          |
        |        |        |        | end    || ok          |
        | ...    |        |        |        || ok          |
        | end    |        |        |        || ok          |
        |        |        | ...    |        || ok          |
        |        |        | end    |        || ok          |
    "

    /// Two rings at once: one of each dies.
    deadlock_hard("deadlock-hard, two at once, on the bare lock table") "
        | T1     | T2     | T3     | T4     || WAITS-FOR | WAIT-DIE |
        | lock 1 |        |        |        || ok                   |
        |        | lock 2 |        |        || ok                   |
        |        |        | lock 3 |        || ok                   |
        |        |        |        | lock 4 || ok                   |
        | lock 2 |        |        |        || waits T2             |
        |        |        | lock 4 |        || waits T4             |
        |        | lock 1 |        |        || deadlock  | died     |
        |        | end    |        |        || ok                   |
        | ...    |        |        |        || ok                   |
        |        |        |        | lock 3 || deadlock  | died     |
        |        |        |        | end    || ok                   |
        |        |        | ...    |        || ok                   |
        | end    |        |        |        || ok                   |
        |        |        | end    |        || ok                   |
    "
}
