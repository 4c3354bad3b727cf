// SPDX-License-Identifier: MIT OR Apache-2.0
// The registers of the DMA vectorizer (docs/registers.md), and its counters.
//
// Contract: settings change only while the queues are off and no element is under way; writes at other
// times are refused. Counters follow the events by a clock or two, RETURN by one.
module vectorizer_block
    import vector_pkg::*;
(
    input  logic                    clk_i,
    input  logic                    rst_ni,

    // A register access: valid and all beside it hold until done.
    input  logic                    valid_i,
    input  logic                    write_i,
    input  logic [11:0]             address_i,
    input  logic [31:0]             data_i,
    input  logic [3:0]              strobe_i,
    output logic                    done_o,
    output logic                    error_o,
    output logic [31:0]             data_o,

    output logic                    enable_o,
    output logic [15:0]             idle_time_o,
    output logic [15:0]             flush_time_o,
    output logic [63:12]            host_first_o,
    output logic [63:12]            host_last_o,
    output logic [63:12]            nic_first_o,
    output logic [63:12]            nic_last_o,

    // Events, as the engine gives them.
    input  logic  [Queues-1:0]      accepted_i,
    input  sent_t [1:0][Queues-1:0] sent_i,
    input  logic  [1:0][8:0]        bytes_i,
    input  logic  [1:0]             refused_i,
    input  logic                    ended_i,          // in this clock
    input  logic                    failed_i          // with ended_i: with an error
);

    // How many happen in a clock, a clock later.
    logic [3:0]      accepted, accepted_q;
    logic [2:0][4:0] sent, sent_q;                    // Full, Flushed, Idle
    logic            failed_q;
    always_comb begin
        accepted = '0;
        sent     = '0;
        for (int unsigned n = 0; n < Queues; n++) begin
            accepted += 4'(accepted_i[n]);
            for (int unsigned way = 0; way < 2; way++) begin
                sent[0] += 5'(sent_i[way][n] == Full);
                sent[1] += 5'(sent_i[way][n] == Flushed);
                sent[2] += 5'(sent_i[way][n] == Idle);
            end
        end
    end

    logic [31:0]      under_way_q;
    logic [63:0]      elements_q, errors_q, refused_q;
    logic [1:0][63:0] bytes_q;
    logic [2:0][63:0] vectors_q;
    always_ff @(posedge clk_i) begin
        accepted_q <= accepted;
        sent_q     <= sent;
        failed_q   <= ended_i && failed_i;
        if (!rst_ni) begin
            accepted_q  <= '0;
            sent_q      <= '0;
            failed_q    <= 1'b0;
            under_way_q <= '0;
            elements_q  <= '0;
            errors_q    <= '0;
            refused_q   <= '0;
            bytes_q     <= '0;
            vectors_q   <= '0;
        end else begin
            under_way_q <= under_way_q + 32'(accepted) - 32'(ended_i);
            elements_q  <= elements_q + 64'(accepted_q);
            errors_q    <= errors_q + 64'(failed_q);
            refused_q   <= refused_q + 64'(refused_i[0]) + 64'(refused_i[1]);
            for (int unsigned way = 0; way < 2; way++) begin
                bytes_q[way] <= bytes_q[way] + 64'(bytes_i[way]);
            end
            for (int unsigned why = 0; why < 3; why++) begin
                vectors_q[why] <= vectors_q[why] + 64'(sent_q[why]);
            end
        end
    end

    dma_vectorizer_registers_pkg::dma_vectorizer__in_t  to_registers;
    dma_vectorizer_registers_pkg::dma_vectorizer__out_t from_registers;

    logic        fixed_q, refused;
    logic        cpuif_req, cpuif_req_is_wr, cpuif_rd_ack, cpuif_rd_err, cpuif_wr_ack, cpuif_wr_err;
    logic [11:0] cpuif_addr;
    logic [31:0] cpuif_wr_data, cpuif_wr_biten, cpuif_rd_data;
    always_ff @(posedge clk_i) fixed_q <= enable_o || under_way_q != 0 || accepted_i != 0;
    assign refused = write_i && dma_vectorizer_map_pkg::write_refused(address_i, data_i, strobe_i, fixed_q);

    register_access i_access (
        .clk_i,
        .rst_ni,
        .valid_i,
        .write_i,
        .address_i,
        .data_i,
        .strobe_i,
        .refused_i        (refused),
        .done_o,
        .error_o,
        .data_o,
        .m_cpuif_req      (cpuif_req),
        .m_cpuif_req_is_wr(cpuif_req_is_wr),
        .m_cpuif_addr     (cpuif_addr),
        .m_cpuif_wr_data  (cpuif_wr_data),
        .m_cpuif_wr_biten (cpuif_wr_biten),
        .m_cpuif_rd_ack   (cpuif_rd_ack),
        .m_cpuif_rd_err   (cpuif_rd_err),
        .m_cpuif_rd_data  (cpuif_rd_data),
        .m_cpuif_wr_ack   (cpuif_wr_ack),
        .m_cpuif_wr_err   (cpuif_wr_err)
    );

    always_comb begin
        to_registers.RETURN.value.next          = under_way_q;
        to_registers.ELEMENTS.value.next        = elements_q;
        to_registers.VECTORS_FULL.value.next    = vectors_q[0];
        to_registers.VECTORS_FLUSHED.value.next = vectors_q[1];
        to_registers.VECTORS_IDLE.value.next    = vectors_q[2];
        to_registers.BYTES_READ.value.next      = bytes_q[0];
        to_registers.BYTES_WRITTEN.value.next   = bytes_q[1];
        to_registers.ERRORS.value.next          = errors_q;
        to_registers.REFUSED.value.next         = refused_q;
    end

    assign enable_o     = from_registers.CONTROL.enable.value;
    assign idle_time_o  = from_registers.IDLE_TIME.clocks.value[15:0];
    assign flush_time_o = from_registers.FLUSH_TIME.clocks.value[15:0];
    assign host_first_o = {from_registers.HOST_FIRST.high.value, from_registers.HOST_FIRST.low.value};
    assign host_last_o  = {from_registers.HOST_LAST.high.value, from_registers.HOST_LAST.low.value};
    assign nic_first_o  = {from_registers.NIC_FIRST.high.value, from_registers.NIC_FIRST.low.value};
    assign nic_last_o   = {from_registers.NIC_LAST.high.value, from_registers.NIC_LAST.low.value};

    dma_vectorizer_registers i_registers (
        .clk                 (clk_i),
        .rst_n               (rst_ni),
        .s_cpuif_req         (cpuif_req),
        .s_cpuif_req_is_wr   (cpuif_req_is_wr),
        .s_cpuif_addr        (cpuif_addr),
        .s_cpuif_wr_data     (cpuif_wr_data),
        .s_cpuif_wr_biten    (cpuif_wr_biten),
        .s_cpuif_req_stall_wr(),
        .s_cpuif_req_stall_rd(),
        .s_cpuif_rd_ack      (cpuif_rd_ack),
        .s_cpuif_rd_err      (cpuif_rd_err),
        .s_cpuif_rd_data     (cpuif_rd_data),
        .s_cpuif_wr_ack      (cpuif_wr_ack),
        .s_cpuif_wr_err      (cpuif_wr_err),
        .hwif_in             (to_registers),
        .hwif_out            (from_registers)
    );

`ifndef SYNTHESIS
    each_end_is_of_an_accepted_element: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !ended_i || under_way_q != 0);
    settings_hold_while_elements_are_under_way: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && under_way_q != 0)
            || $stable({idle_time_o, flush_time_o, host_first_o, host_last_o, nic_first_o, nic_last_o}));
`endif

endmodule
