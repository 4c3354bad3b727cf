// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the look-up queue and nic_lookup: submissions become requests of the NIC's software, answers
// become completions.
//
// Contract: words 1 to 4 of a submission are the beat of `s_axis_sw` (docs/nic-lookup.md,
// "Requests and answers"), but for its token, which this block chooses. An unknown opcode completes at
// once. Each other submission completes when its answer comes, with the version of the answer in place
// of a number of bytes, and with a status that says how the request ended: StatusDone; StatusOutOfLine
// when it is done and the value lies elsewhere; else 0x40 and the status of the answer. Opcode
// GiveValue has the first word of the value as its result, or, if the request ended as locked, the
// owner; opcode GiveParticulars has bits 111:64 of the answer and above them bits 31:16 of it. At most
// 16 requests are open, as many as nic_lookup takes from its software; the next submission waits. Answers
// complete in the order in which they come. An answer with a token that is not open is dropped.
module lookup_port (
    input  logic                   clk_i,
    input  logic                   rst_ni,

    input  logic                   submission_valid_i,
    input  queue_pkg::submission_t submission_i,
    output logic                   submission_ready_o,
    output logic                   completion_valid_o,
    output queue_pkg::completion_t completion_o,
    input  logic                   completion_ready_i,

    output logic                   m_axis_sw_tvalid,
    input  logic                   m_axis_sw_tready,
    output logic [255:0]           m_axis_sw_tdata,
    input  logic                   s_axis_swrsp_tvalid,
    output logic                   s_axis_swrsp_tready,
    input  logic [191:0]           s_axis_swrsp_tdata
);

    localparam int unsigned LogRequests = 4;
    localparam int unsigned Requests    = 2**LogRequests;

    localparam logic [7:0] GiveValue       = 8'd1;
    localparam logic [7:0] GiveParticulars = 8'd2;

    // Of completions, beside those of queue_pkg.
    localparam logic [3:0] StatusHigh      = 4'h4;
    localparam logic [7:0] StatusOutOfLine = 8'h50;

    // Of answers.
    localparam logic [3:0] Done   = 4'd0;
    localparam logic [3:0] Locked = 4'd2;

    // What is known of each open request, by its token.
    typedef struct packed {
        logic        particulars;
        logic        wants_interrupt;
        logic [15:0] identifier;
    } request_t;

    logic [Requests-1:0] open_q;

    logic [LogRequests-1:0] free_token;
    always_comb begin
        free_token = '0;
        for (int unsigned n = 0; n < Requests; n++) begin
            if (!open_q[n]) free_token = LogRequests'(n);
        end
    end

    // One answer waits in a register, one completion in another.
    logic                   rsp_q;
    logic [191:0]           rsp_data_q;
    logic [LogRequests-1:0] rsp_token;
    logic                   rsp_known;
    assign rsp_token           = rsp_data_q[LogRequests-1:0];
    assign rsp_known           = rsp_data_q[15:LogRequests] == 0 && open_q[rsp_token];
    assign s_axis_swrsp_tready = !rsp_q;

    // Answers go first: they free tokens, and nic_lookup waits for nothing else.
    logic known, completion_free, answer, refuse, start;
    assign known = submission_i.opcode == GiveValue || submission_i.opcode == GiveParticulars;
    assign completion_free    = !completion_valid_o || completion_ready_i;
    assign answer             = rsp_q && rsp_known && completion_free;
    assign refuse             = submission_valid_i && !known && completion_free && !answer;
    assign start              = submission_valid_i && known && !(&open_q)
        && (!m_axis_sw_tvalid || m_axis_sw_tready);
    assign submission_ready_o = refuse || start;

    request_t request;
    lut_ram #(
        .AddressWidth(LogRequests),
        .DataWidth   ($bits(request_t))
    ) i_requests (
        .clk_i,
        .write_enable_i (start),
        .write_address_i(free_token),
        .write_data_i   ({
            submission_i.opcode == GiveParticulars,
            submission_i.wants_interrupt,
            submission_i.identifier
        }),
        .read_address_i (rsp_token),
        .read_data_o    (request)
    );

    // What the answer says, as a completion does.
    logic [3:0]  ended;
    logic        out_of_line;
    logic [7:0]  status;
    logic [63:0] result;
    assign ended       = rsp_data_q[19:16];
    assign out_of_line = rsp_data_q[21];
    always_comb begin
        status = {StatusHigh, ended};
        if (ended == Done) status = out_of_line ? StatusOutOfLine : queue_pkg::StatusDone;
        result = rsp_data_q[191:128];
        if (ended == Locked) result = 64'(rsp_data_q[95:80]);
        if (request.particulars) result = {rsp_data_q[31:16], rsp_data_q[111:64]};
    end

    // Requests have no length, and not all words.
    logic unused;
    assign unused = ^{submission_i.length, submission_i.argument[447:256], rsp_data_q[127:112]};

    always_ff @(posedge clk_i) begin
        if (s_axis_swrsp_tvalid && s_axis_swrsp_tready) rsp_data_q <= s_axis_swrsp_tdata;
        if (start) begin
            m_axis_sw_tdata <= {
                submission_i.argument[255:80], 16'(free_token), submission_i.argument[63:0]
            };
        end
        if (answer) begin
            completion_o <= '{
                result:          result,
                bytes:           rsp_data_q[63:32],
                wants_interrupt: request.wants_interrupt,
                status:          status,
                identifier:      request.identifier
            };
        end else if (refuse) begin
            completion_o <= '{
                result:          '0,
                bytes:           '0,
                wants_interrupt: submission_i.wants_interrupt,
                status:          queue_pkg::StatusBadOpcode,
                identifier:      submission_i.identifier
            };
        end
        if (!rst_ni) begin
            open_q             <= '0;
            rsp_q              <= 1'b0;
            completion_valid_o <= 1'b0;
            m_axis_sw_tvalid   <= 1'b0;
        end else begin
            if (start) open_q[free_token] <= 1'b1;
            if (answer) open_q[rsp_token] <= 1'b0;
            if (rsp_q) rsp_q <= rsp_known && !answer;
            else rsp_q <= s_axis_swrsp_tvalid;
            completion_valid_o <= answer || refuse || completion_valid_o && !completion_ready_i;
            m_axis_sw_tvalid   <= start || m_axis_sw_tvalid && !m_axis_sw_tready;
        end
    end

`ifndef SYNTHESIS
    request_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && m_axis_sw_tvalid && !m_axis_sw_tready)
            || m_axis_sw_tvalid && $stable(m_axis_sw_tdata));
    completion_holds_until_taken: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !$past(rst_ni && completion_valid_o && !completion_ready_i)
            || completion_valid_o && $stable(completion_o));
    a_token_starts_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !start || !open_q[free_token]);
`endif

endmodule
