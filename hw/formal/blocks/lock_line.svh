// SPDX-License-Identifier: MIT OR Apache-2.0
// The line of a bucket as docs/lock-protocol.md describes it, written from there and not from hw/bsv: its words, the
// transitions of word 0, and the order in which the ring of slots is served.
package lock_line;
    typedef logic [47:0]      timestamp_t;
    typedef logic [63:0]      word_t;
    typedef logic [7:0][63:0] line_t;    // element 0 is the head
    typedef logic [2:0]       slot_t;
    typedef struct packed {
        timestamp_t holder;
        logic [7:1] waiting;
        slot_t      first;
        logic [5:0] cancels;
    } head_t;

    function automatic word_t mark(timestamp_t transaction);
        return {transaction, 16'd0};
    endfunction

    // The slot behind another in the ring 1, 2, .. 7, 1.
    function automatic slot_t after(slot_t slot);
        return slot == 7 ? 3'd1 : slot + 3'd1;
    endfunction

    function automatic logic [2:0] count(logic [7:1] slots);
        logic [2:0] found;
        found = 0;
        for (int p = 1; p <= 7; p++) found += 3'(slots[p]);
        return found;
    endfunction

    // Those of the slots that come before slot `end_slot` on the way round the ring from `start`.
    function automatic logic [7:1] between(logic [7:1] slots, slot_t start, slot_t end_slot);
        logic [7:1] found;
        slot_t      at;
        logic       over;
        found = 0;
        at    = start;
        over  = 0;
        for (int n = 0; n < 7; n++) begin
            if (at == end_slot) over = 1;
            if (!over) found[at] = slots[at];
            at = after(at);
        end
        return found;
    endfunction

    // The first registered slot behind slot `from`, which is not among them; 0 if there is none.
    function automatic slot_t next_of(logic [7:1] waiting, slot_t from);
        slot_t found, at;
        found = 0;
        at    = from;
        for (int n = 0; n < 6; n++) begin
            at = after(at);
            if (found == 0 && waiting[at]) found = at;
        end
        return found;
    endfunction

    // "p behind every registered waiter".
    function automatic logic is_behind(head_t head, slot_t p);
        return between(head.waiting, head.first, p) == head.waiting;
    endfunction

    // Whether the owner of slot p, which does not hold the lock, may register there.
    function automatic logic may_join(head_t head, slot_t p);
        return head.holder != 0 && head.cancels != 63 && is_behind(head, p);
    endfunction

    function automatic head_t joined(head_t head, slot_t p);
        joined            = head;
        joined.waiting[p] = 1;
        if (head.waiting == 0) joined.first = p;
    endfunction

    function automatic head_t left(head_t head, slot_t p);
        left            = head;
        left.waiting[p] = 0;
        if (head.first == p) left.first = next_of(head.waiting, p);
        if (head.cancels != 63) left.cancels = head.cancels + 1;
    endfunction

    // From the holder to the transaction in slot `first`.
    function automatic head_t passed(head_t head, timestamp_t heir);
        passed                     = head;
        passed.holder              = heir;
        passed.waiting[head.first] = 0;
        passed.first               = next_of(head.waiting, head.first);
        passed.cancels             = 0;
    endfunction

    function automatic logic well_formed(head_t head);
        return head == 0 || head.holder != 0
            && (head.waiting == 0 ? head.first == 0 : head.first != 0 && head.waiting[head.first]);
    endfunction

    // Of two heads with the same holder, which has not let go of the lock in between: whether one is the later, and so
    // not the same.
    function automatic logic is_later(head_t head, head_t old);
        if (head.cancels != old.cancels) return head.cancels > old.cancels;
        if (head.waiting == old.waiting) return 0;
        return head.cancels == 63 ? (head.waiting & ~old.waiting) == 0 : (old.waiting & ~head.waiting) == 0;
    endfunction
endpackage
