// SPDX-License-Identifier: MIT OR Apache-2.0
// Two instances of axi4_rules for one port, one where it is driven, which assumes the rules of the manager, and one of which they
// are proven: they follow the same id, read and write, which are any, and so they know the same.
`define SAME_RULES(ONE, OTHER) \
    `RULE(both_follow_the_same, 0, \
        {ONE.id, ONE.i_read.mark, ONE.g_followed.i_write.mark, ONE.g_followed.i_write.skip} \
        == {OTHER.id, OTHER.i_read.mark, OTHER.g_followed.i_write.mark, OTHER.g_followed.i_write.skip}) \
    `RULE(both_count_the_same_accesses, 1, {ONE.reads_q, ONE.writes_q, ONE.atomics_q, ONE.written_q} \
        == {OTHER.reads_q, OTHER.writes_q, OTHER.atomics_q, OTHER.written_q}) \
    `RULE(both_know_the_same_read, 1, {ONE.i_read.followed_q, ONE.i_read.ahead_q, ONE.i_read.left_q} \
        == {OTHER.i_read.followed_q, OTHER.i_read.ahead_q, OTHER.i_read.left_q}) \
    `RULE(both_know_the_same_writes_before, 1, {ONE.g_followed.i_write.lead_q, ONE.g_followed.i_write.partial_q, \
        ONE.g_followed.i_write.addresses_q, ONE.g_followed.i_write.bursts_q, ONE.g_followed.i_write.ahead_q} \
        == {OTHER.g_followed.i_write.lead_q, OTHER.g_followed.i_write.partial_q, \
        OTHER.g_followed.i_write.addresses_q, OTHER.g_followed.i_write.bursts_q, OTHER.g_followed.i_write.ahead_q}) \
    `RULE(both_know_the_same_state_of_a_write, 1, {ONE.g_followed.i_write.follows_q, ONE.g_followed.i_write.addressed_q, \
        ONE.g_followed.i_write.ours_q, ONE.g_followed.i_write.ended_q, ONE.g_followed.i_write.beats_q} \
        == {OTHER.g_followed.i_write.follows_q, OTHER.g_followed.i_write.addressed_q, \
        OTHER.g_followed.i_write.ours_q, OTHER.g_followed.i_write.ended_q, OTHER.g_followed.i_write.beats_q}) \
    `RULE(both_know_the_same_write, 1, {ONE.g_followed.i_write.address_q, ONE.g_followed.i_write.length_q, \
        ONE.g_followed.i_write.size_q, ONE.g_followed.i_write.burst_q} == {OTHER.g_followed.i_write.address_q, \
        OTHER.g_followed.i_write.length_q, OTHER.g_followed.i_write.size_q, OTHER.g_followed.i_write.burst_q})
