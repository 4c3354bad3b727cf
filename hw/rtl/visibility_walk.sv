// Finds the versions that a snapshot sees of a part of a table's VID map.
//
// Contract: `start_i` is given while `busy_o` is low; `job_i` then stays until `done_o`, which is
// high in the last clock of `busy_o`. Each VID of the part gives one row, one fault, or nothing when
// the snapshot sees no row, in any order. A row is a header beat and its payload, aligned, in beats
// of 64 bytes, with `tlast` on the last; a fault is a header beat alone. `stop_i` ends the run with
// what is under way. Lines can be loaded by the load port while `busy_o` is low; they come in the
// order in which they were asked for. Counts are of the last run.
module visibility_walk #(
    parameter int unsigned LogChains = 7,    // walks at once, 5 to 7
    parameter int unsigned LogPages  = 16    // pages whose check is remembered
) (
    input  logic            clk_i,
    input  logic            rst_ni,

    input  logic            start_i,
    input  logic            stop_i,
    input  logic [1023:0]   job_i,               // walk_pkg::job_t
    output logic            busy_o,              // also while it forgets after a reset
    output logic            done_o,

    input  logic            load_valid_i,
    output logic            load_ready_o,
    input  logic [63:6]     load_address_i,
    output logic            loaded_valid_o,
    output logic            loaded_error_o,
    output logic [511:0]    loaded_data_o,

    output logic            m_axis_row_tvalid,
    input  logic            m_axis_row_tready,
    output logic [511:0]    m_axis_row_tdata,
    output logic            m_axis_row_tlast,

    output logic            m_axi_0_arvalid,
    input  logic            m_axi_0_arready,
    output logic [7:0]      m_axi_0_arid,
    output logic [63:0]     m_axi_0_araddr,
    output logic [7:0]      m_axi_0_arlen,
    output logic [2:0]      m_axi_0_arsize,
    output logic [1:0]      m_axi_0_arburst,
    output logic [3:0]      m_axi_0_arcache,
    output logic [2:0]      m_axi_0_arprot,
    input  logic            m_axi_0_rvalid,
    output logic            m_axi_0_rready,
    input  logic [7:0]      m_axi_0_rid,
    input  logic [511:0]    m_axi_0_rdata,
    input  logic [1:0]      m_axi_0_rresp,
    input  logic            m_axi_0_rlast,

    output logic            m_axi_1_arvalid,
    input  logic            m_axi_1_arready,
    output logic [7:0]      m_axi_1_arid,
    output logic [63:0]     m_axi_1_araddr,
    output logic [7:0]      m_axi_1_arlen,
    output logic [2:0]      m_axi_1_arsize,
    output logic [1:0]      m_axi_1_arburst,
    output logic [3:0]      m_axi_1_arcache,
    output logic [2:0]      m_axi_1_arprot,
    input  logic            m_axi_1_rvalid,
    output logic            m_axi_1_rready,
    input  logic [7:0]      m_axi_1_rid,
    input  logic [511:0]    m_axi_1_rdata,
    input  logic [1:0]      m_axi_1_rresp,
    input  logic            m_axi_1_rlast,

    output logic [63:0]     vids_o,              // visited
    output logic [63:0]     hops_o,              // versions looked at
    output logic [63:0]     visible_o,
    output logic [63:0]     faults_o,
    output logic [63:0]     line_reads_o,
    output logic [63:0]     page_checks_o,
    output logic [63:0]     page_map_misses_o
);

    // The shell: a run ends at once, without a row, and nothing can be loaded.
    logic unused;
    assign unused = ^{LogChains, LogPages, stop_i, job_i, load_valid_i, load_address_i,
        m_axis_row_tready,
        m_axi_0_arready, m_axi_0_rvalid, m_axi_0_rid, m_axi_0_rdata, m_axi_0_rresp, m_axi_0_rlast,
        m_axi_1_arready, m_axi_1_rvalid, m_axi_1_rid, m_axi_1_rdata, m_axi_1_rresp, m_axi_1_rlast};
    assign done_o = busy_o;
    always_ff @(posedge clk_i) busy_o <= rst_ni && start_i;
    assign {load_ready_o, loaded_valid_o, loaded_error_o, loaded_data_o} = '0;
    assign {m_axis_row_tvalid, m_axis_row_tdata, m_axis_row_tlast} = '0;
    assign {m_axi_0_arvalid, m_axi_0_arid, m_axi_0_araddr, m_axi_0_arlen, m_axi_0_arsize,
        m_axi_0_arburst, m_axi_0_arcache, m_axi_0_arprot, m_axi_0_rready} = '0;
    assign {m_axi_1_arvalid, m_axi_1_arid, m_axi_1_araddr, m_axi_1_arlen, m_axi_1_arsize,
        m_axi_1_arburst, m_axi_1_arcache, m_axi_1_arprot, m_axi_1_rready} = '0;
    assign {vids_o, hops_o, visible_o, faults_o, line_reads_o, page_checks_o,
        page_map_misses_o} = '0;

endmodule
