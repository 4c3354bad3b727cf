// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives the reads of trips to the vectorizer, and says when all reads of a trip have ended.
//
// Contract: `begins_*` asks for the first slots of the row of a context, and is always taken: there is
// a place for each context. Further trips come by `walk_*`, read by read; `parts_i` says before, or
// with, the first of them which parts belong to the trip. The next trip of a context begins after the
// one before has ended at `ended_*`. Ends of reads are always taken. Each context has a region in the
// landing memory for slots of the row and one for slots of a bucket, where they land without the
// bytes before them in their line. For `clearing_o`, after a reset, nothing may begin.
module lookup_reads
    import lookup_pkg::*;
    import vector_pkg::*;
#(
    parameter int unsigned SlotBytes    = 32,
    parameter int unsigned LogContexts  = 7,
    parameter int unsigned LandingLines = 32
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    output logic                       clearing_o,

    input  logic                       begins_i,
    input  context_t                   begins_number_i,
    input  logic [63:0]                begins_address_i,
    input  logic [6:0]                 begins_slots_i,

    input  logic                       parts_valid_i,
    input  context_t                   parts_number_i,
    input  logic [2:0]                 parts_i,
    input  logic                       walk_valid_i,
    output logic                       walk_ready_o,
    input  read_t                      walk_read_i,

    output logic [Queues-1:0]          cmd_valid_o,
    input  logic [Queues-1:0]          cmd_ready_i,
    output element_t                   cmd_o,
    output logic                       given_o,         // a clock ago, a read was given
    output read_t                      given_read_o,

    input  logic                       done_valid_i,
    input  done_t                      done_i,
    output logic                       ended_valid_o,
    input  logic                       ended_ready_i,
    output ended_t                     ended_o
);

    localparam int unsigned LogLines  = $clog2(LandingLines);

    // ---- First trips wait for their turn.

    logic        first_waits, first_taken, takes, move;
    context_t    first_number;
    logic [63:0] first_address;
    logic [6:0]  first_slots;
    lut_fifo #(
        .LogDepth(8),
        .Width   (79)
    ) i_first (
        .clk_i,
        .rst_ni,
        .push_i (begins_i),
        .data_i ({begins_number_i, begins_address_i, begins_slots_i}),
        .pop_i  (first_taken),
        .valid_o(first_waits),
        .data_o ({first_number, first_address, first_slots})
    );

    // Further ones wait beside them, so that the walk does not wait for the vectorizer within a clock.

    logic  walk_waits, walk_taken;
    read_t walk_read;
    stream_buffer #(
        .Width($bits(read_t))
    ) i_further (
        .clk_i,
        .rst_ni,
        .valid_i(walk_valid_i),
        .ready_o(walk_ready_o),
        .data_i (walk_read_i),
        .valid_o(walk_waits),
        .ready_i(walk_taken),
        .data_o (walk_read)
    );

    // ---- One read after the other, of both in turns.

    logic  walk_next_q, chosen_walk, read_q, is_first_q;
    read_t read, giving_q;
    assign chosen_walk  = walk_waits && (walk_next_q || !first_waits);
    assign walk_taken   = move && (walk_next_q || !first_waits);
    assign first_taken  = move && first_waits && !chosen_walk;
    assign takes        = walk_waits || first_waits;
    always_comb begin
        read = walk_read;
        if (!chosen_walk) begin
            read = '{
                address: first_address,
                bytes:   13'(first_slots) * 13'(SlotBytes),
                slots:   first_slots,
                part:    Row,
                number:  first_number
            };
        end
    end

    logic [Queues-1:0] chosen_queue;
    assign chosen_queue = Queues'(1) << giving_q.number[2:0];
    assign move         = !read_q || (chosen_queue & cmd_ready_i) != 0;
    assign cmd_valid_o  = read_q ? chosen_queue : '0;
    always_comb begin
        cmd_o.token        = read_token_t'{
            zero: '0, first: is_first_q, part: giving_q.part, number: giving_q.number};
        cmd_o.bytes        = 16'(giving_q.bytes);
        cmd_o.host_address = giving_q.address;
        cmd_o.nic_address  = giving_q.part == Word ? word_address(giving_q.number)
            : 64'(region(giving_q.number, giving_q.part == Bucket, LogContexts)) << LogLines + 6;
    end
    always_ff @(posedge clk_i) begin
        if (move) begin
            giving_q   <= read;
            is_first_q <= !chosen_walk;
        end
        given_read_o <= giving_q;
        if (!rst_ni) begin
            read_q      <= 1'b0;
            walk_next_q <= 1'b0;
            given_o     <= 1'b0;
        end else begin
            if (move) read_q <= takes;
            if (move && takes) walk_next_q <= !chosen_walk;
            given_o <= read_q && move;
        end
    end

    // ---- Ends. Of a trip after the first: which of its parts have ended, and failed; none between
    // trips.

    logic        done_q, over, failed_now;
    done_t       ending_q;
    read_token_t token;
    logic [2:0]  part, parts, ended, failed, ended_now, failed_parts;
    logic [8:0]  cleared_q;
    assign clearing_o   = !cleared_q[8];
    assign token        = ending_q.token;
    assign part         = 3'b001 << token.part;
    assign failed_now   = ending_q.response != 0;
    assign ended_now    = ended | part;
    assign failed_parts = failed | (failed_now ? part : '0);
    assign over         = token.first || ended_now == parts;
    always_ff @(posedge clk_i) begin
        ending_q <= done_i;
        if (!rst_ni) begin
            done_q    <= 1'b0;
            cleared_q <= '0;
        end else begin
            done_q    <= done_valid_i;
            cleared_q <= cleared_q + 9'(clearing_o);
        end
    end
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (3)
    ) i_parts (
        .clk_i,
        .write_enable_i (parts_valid_i),
        .write_address_i(parts_number_i),
        .write_data_i   (parts_i),
        .read_address_i (token.number),
        .read_data_o    (parts)
    );
    lut_ram #(
        .AddressWidth(8),
        .DataWidth   (6)
    ) i_progress (
        .clk_i,
        .write_enable_i (clearing_o || done_q && !token.first),
        .write_address_i(clearing_o ? cleared_q[7:0] : token.number),
        .write_data_i   (clearing_o || over ? '0 : {failed_parts, ended_now}),
        .read_address_i (token.number),
        .read_data_o    ({failed, ended})
    );

    ended_t ending;
    always_comb begin
        ending = '{
            first:  token.first,
            parts:  token.first ? part : parts,
            failed: token.first ? (failed_now ? part : '0) : failed_parts,
            number: token.number
        };
    end
    lut_fifo #(
        .LogDepth(8),
        .Width   ($bits(ended_t))
    ) i_ended (
        .clk_i,
        .rst_ni,
        .push_i (done_q && over),
        .data_i (ending),
        .pop_i  (ended_valid_o && ended_ready_i),
        .valid_o(ended_valid_o),
        .data_o (ended_o)
    );

    logic unused;
    assign unused = ^{token.zero, ending_q.from_queue};

`ifndef SYNTHESIS
    a_part_ends_once: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(done_q && !token.first) || (ended & part) == 0 && (parts & part) != 0);
    a_first_trip_finds_nothing_left: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(done_q && token.first) || ended == 0 && token.part == Row);
    reads_fit_their_region: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !(read_q && giving_q.part != Word)
            || giving_q.bytes != 0 && giving_q.bytes <= 13'(64 * LandingLines));
    nothing_ends_while_clearing: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !clearing_o || !done_q && !begins_i);
`endif

endmodule
