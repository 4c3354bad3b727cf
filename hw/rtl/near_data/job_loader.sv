// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the block of a job and its program from memory, and stores the program in the lanes.
//
// Contract: `start_i` begins with the block at `job_address_i`; `done_o` is high for one clock,
// when everything is loaded or an error was found, with the reason in `refusal_o` from then on.
// `job_o` and the program's properties are stable until the next start. One line at a time is
// requested. The program's checksum is not computed here: the software that makes the block has
// validated the image, and this module only refuses images of other versions or for software.
module job_loader (
    input  logic          clk_i,
    input  logic          rst_ni,

    input  logic          start_i,
    input  logic [63:6]   job_address_i,
    output logic          done_o,
    output logic [7:0]    refusal_o,          // 0: none; see below
    output logic [1023:0] job_o,              // walk_pkg::job_t
    output logic          has_program_o,
    output logic [3:0]    outputs_o,

    output logic          load_valid_o,
    input  logic          load_ready_i,
    output logic [63:6]   load_address_o,
    input  logic          loaded_valid_i,
    input  logic          loaded_error_i,
    input  logic [511:0]  loaded_data_i,

    output logic          code_write_o,
    output logic          constant_write_o,
    output logic [5:0]    store_address_o,
    output logic [63:0]   store_data_o
);

    // Reasons.
    localparam logic [7:0] JobUnreadable     = 8'd1;
    localparam logic [7:0] ProgramUnreadable = 8'd2;
    localparam logic [7:0] Misplaced         = 8'd3;  // the program, at no multiple of 64
    localparam logic [7:0] NoProgram         = 8'd4;  // another magic number
    localparam logic [7:0] OtherVersion      = 8'd5;
    localparam logic [7:0] BadCount          = 8'd6;  // of instructions, constants or outputs
    localparam logic [7:0] BadFlags          = 8'd7;  // the first: for software alone

    localparam logic [31:0] Magic        = 32'h5250_4b4c;  // "LKPR"
    localparam logic [15:0] Version      = 16'd1;
    localparam logic [7:0]  LargestCount = 8'd64;

    // The first line of an image begins so.
    typedef struct packed {
        logic [7:0]  flags;
        logic [7:0]  outputs;
        logic [7:0]  constants;
        logic [7:0]  instructions;
        logic [15:0] version;
        logic [31:0] magic;
    } image_header_t;

    function automatic logic [7:0] judged(input image_header_t header);
        if (header.magic != Magic) return NoProgram;
        if (header.version != Version) return OtherVersion;
        if (header.instructions == 0 || header.instructions > LargestCount
            || header.constants > LargestCount || header.outputs > 8'd8) return BadCount;
        return header.flags == 0 ? 8'd0 : BadFlags;
    endfunction

    // Two lines of the job, then of the program its header, its instructions, its constants.
    localparam logic [4:0] SecondOfJob   = 5'd1;
    localparam logic [4:0] ProgramHeader = 5'd2;
    localparam logic [4:0] LastOfCode    = 5'd10;
    localparam logic [4:0] LastOfProgram = 5'd18;

    typedef enum logic [2:0] {
        Idle,
        Ask,
        Wait,
        Judge,      // a line that is not only stored, or could not be read
        Store
    } state_t;

    state_t       state_q;
    logic [4:0]   line_q;
    logic [63:6]  address_q;         // of this line
    logic [2:0]   word_q;
    logic [511:0] data_q;
    logic         error_q;
    logic [63:0]  program_address;
    logic         of_job, ends, stores, good;
    logic [7:0]   refusal;
    assign program_address = job_o[959:896];
    assign has_program_o   = program_address != 0;
    assign of_job          = line_q < ProgramHeader;
    assign stores          = line_q > ProgramHeader;

    assign load_valid_o   = state_q == Ask;
    assign load_address_o = address_q;

    // What is wrong with a line that has come. The second one of the job says where the program is.
    logic [63:0] coming_address;
    assign coming_address = data_q[447:384];
    always_comb begin
        refusal = '0;
        if (error_q) refusal = of_job ? JobUnreadable : ProgramUnreadable;
        else if (line_q == ProgramHeader) refusal = judged(data_q[79:0]);
        else if (line_q == SecondOfJob && coming_address[5:0] != 0) refusal = Misplaced;
        good = refusal == 0;
        ends = !good || line_q == SecondOfJob && coming_address == 0;
    end

    assign code_write_o     = state_q == Store && line_q <= LastOfCode;
    assign constant_write_o = state_q == Store && line_q > LastOfCode;
    assign store_address_o  = {3'(line_q - 5'd3), word_q};
    assign store_data_o     = data_q[63:0];

    always_ff @(posedge clk_i) begin
        done_o <= 1'b0;
        if (state_q == Wait) begin
            data_q  <= loaded_data_i;
            error_q <= loaded_error_i;
        end
        if (state_q == Judge) begin
            refusal_o <= refusal;
            if (line_q == 0) job_o[511:0] <= data_q;
            if (line_q == SecondOfJob) job_o[1023:512] <= data_q;
            if (line_q == ProgramHeader) outputs_o <= data_q[67:64];
        end
        if (state_q == Store) data_q <= data_q >> 64;
        word_q <= state_q == Store ? word_q + 1'b1 : '0;
        if (!rst_ni) begin
            state_q <= Idle;
        end else begin
            case (state_q)
                Idle: begin
                    line_q    <= '0;
                    address_q <= job_address_i;
                    if (start_i) state_q <= Ask;
                end
                Ask: if (load_ready_i) state_q <= Wait;
                Wait: if (loaded_valid_i) state_q <= stores && !loaded_error_i ? Store : Judge;
                Judge: begin
                    done_o    <= ends;
                    state_q   <= ends ? Idle : Ask;
                    line_q    <= line_q + 1'b1;
                    address_q <= line_q == SecondOfJob ? coming_address[63:6] : address_q + 1'b1;
                end
                Store: if (&word_q) begin
                    done_o    <= line_q == LastOfProgram;
                    state_q   <= line_q == LastOfProgram ? Idle : Ask;
                    line_q    <= line_q + 1'b1;
                    address_q <= address_q + 1'b1;
                end
                default: state_q <= Idle;
            endcase
        end
    end

`ifndef SYNTHESIS
    line_comes_only_when_requested: assert property (@(posedge clk_i) disable iff (!rst_ni)
        !loaded_valid_i || state_q == Wait);
`endif

endmodule
