//! What is broken, and where. The build includes this file as well.

/// A place in `hw/rtl` where the device is broken on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is wrong.
    pub name: &'static str,
    /// The file in `hw/rtl`.
    pub file: &'static str,
    /// Text that stands in it once, with `{}` for the expression.
    pub place: &'static str,
    /// The expression that stands there.
    pub right: &'static str,
    /// What is computed instead.
    pub wrong: &'static str,
}

/// The value of `fault_i` with which no clock ever stops. That is no fault: the device must
/// answer the same.
pub const CLOCKS_NEVER_STOP: u8 = 63;

const fn fault(
    name: &'static str,
    file: &'static str,
    place: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Fault {
    Fault { name, file, place, right, wrong }
}

/// `fault_i` is 1 for the first.
pub const FAULTS: [Fault; 40] = [
    fault(
        "a completion is written over one that is not consumed",
        "completion_store.sv",
        "assign room = {};",
        "taken_q - head_i < 16'd1 << log2_entries_i",
        "taken_q - head_i <= 16'd1 << log2_entries_i",
    ),
    fault(
        "the phase is 1 always",
        "completion_store.sv",
        "assign phase = {};",
        "!(1'(taken_q >> log2_entries_i))",
        "1'b1",
    ),
    fault(
        "the words are exchanged",
        "completion_store.sv",
        "store_address_o = {};",
        "{place_q, !second_q}",
        "{place_q, second_q}",
    ),
    fault(
        "the interrupt comes after word 1 alone",
        "completion_store.sv",
        "assign interrupt_o = {} && wants_q",
        "written_o",
        "run_i && stored_valid_i && !half_q",
    ),
    fault(
        "an interrupt comes for the others",
        "completion_store.sv",
        "<= {};",
        "completion_i.wants_interrupt",
        "!completion_i.wants_interrupt",
    ),
    fault(
        "failed stores are not noticed",
        "completion_store.sv",
        "assign failed_o    = {};",
        "run_i && stored_valid_i && stored_error_i",
        "1'b0",
    ),
    fault(
        "failed reads are not noticed",
        "submission_fetch.sv",
        "assign failed_o       = {};",
        "run_i && line_valid_i && line_error_i",
        "1'b0",
    ),
    fault(
        "nine lines are asked for",
        "submission_fetch.sv",
        "&& {};",
        "asked_q - handed_q < 16'd1 << LogDepth",
        "asked_q - handed_q <= 16'd1 << LogDepth",
    ),
    fault(
        "counts go on after enabling",
        "submission_fetch.sv",
        "if ({}) begin",
        "!rst_ni || clear_i",
        "!rst_ni",
    ),
    fault(
        "one entry too many may be rung",
        "queue_engine.sv",
        "|| {}\n",
        "submissions_rung > entries",
        "submissions_rung > entries + 16'd1",
    ),
    fault(
        "a doorbell may go backwards",
        "queue_engine.sv",
        "({} ||",
        "submissions_rung < submissions_waiting",
        "1'b0",
    ),
    fault(
        "completions may be consumed before they are there",
        "queue_engine.sv",
        "|| {});",
        "completions_consumed > completions_unread",
        "1'b0",
    ),
    fault(
        "the queue starts while moves of the last time are open",
        "queue_engine.sv",
        "assign quiet   = {};",
        "memory_quiet_o && inside_q == 0",
        "memory_quiet_o",
    ),
    fault(
        "RETURN leaves out the moves",
        "queue_engine.sv",
        "8'(lines_buffered) + {}\n",
        "8'(inside_q)",
        "8'd0",
    ),
    fault("an error does not halt", "queue_engine.sv", "assign halt_o    = {};", "halt", "1'b0"),
    fault(
        "answers go to the copy queue",
        "queue_memory_port.sv",
        "line_valid_o[n]   = line_q && {};",
        "line_id_q == 11'(n)",
        "n == 0",
    ),
    fault(
        "W is lost when AW is taken",
        "queue_memory_port.sv",
        "m_axi_wvalid  <= {} ||",
        "m_axi_wvalid && !m_axi_wready",
        "m_axi_wvalid && !m_axi_wready && !m_axi_awready",
    ),
    fault(
        "the largest length is refused",
        "copy_engine.sv",
        "|| {}) begin",
        "submission_i.length > LargestLength",
        "submission_i.length >= LargestLength",
    ),
    fault(
        "a move completes as another one",
        "copy_engine.sv",
        "identifier:      {}\n",
        "identifiers_q[moved_tag]",
        "identifiers_q[free_tag]",
    ),
    fault("a seventeenth move is begun", "copy_engine.sv", "&& {} &&", "!(&open_q)", "1'b1"),
    fault(
        "the status of moves is lost",
        "copy_engine.sv",
        "status:          {},",
        "moved_data_q[23:16]",
        "8'd0",
    ),
    fault(
        "notices of an earlier enablement are told",
        "lock_port.sv",
        "assign answer = rsp_q && {} &&",
        "ours_q[response_tag]",
        "1'b1",
    ),
    fault(
        "the last opcode of jobs is refused",
        "job_port.sv",
        "&& {};",
        "submission_i.opcode <= Forget",
        "submission_i.opcode < Forget",
    ),
    fault(
        "a seventeenth job goes out",
        "job_port.sv",
        "&& known && {}",
        "open_q < Jobs",
        "open_q <= Jobs",
    ),
    fault(
        "the last word of a job is lost",
        "job_port.sv",
        "                {}, submission_i.length",
        "submission_i.argument",
        "{64'd0, submission_i.argument[383:0]}",
    ),
    fault(
        "an answer of nobody completes",
        "job_port.sv",
        "assign answer = done_q && {} &&",
        "open_q != 0",
        "1'b1",
    ),
    fault(
        "the detail of an answer is lost",
        "job_port.sv",
        "result:          {},",
        "done_data_q[127:64]",
        "64'd0",
    ),
    fault("every job interrupts", "job_port.sv", "wants_interrupt: {},", "done_data_q[24]", "1'b1"),
    fault(
        "an answer is taken over one that waits",
        "job_port.sv",
        "assign s_axis_jobdone_tready = {};",
        "!done_q",
        "1'b1",
    ),
    fault(
        "the device sleeps over an answer",
        "lockstep_device.sv",
        "m_axis_job_tvalid || {}\n",
        "s_axis_jobdone_tvalid && s_axis_jobdone_tready",
        "1'b0",
    ),
    fault(
        "jobs interrupt as bus errors do",
        "lockstep_device.sv",
        "raised[{}] += queue_interrupts[n];",
        "QueueVector[n]",
        "n + 1",
    ),
    fault(
        "several interrupts become one",
        "interrupt_collector.sv",
        "offered_q[n] <= {};",
        "offered_q[n] + 1'b1",
        "raised_q[n]",
    ),
    fault(
        "a failed read is okay",
        "axi_lite_blocks.sv",
        "s_axil_rresp = {};",
        "error ? DecErr : Okay",
        "Okay",
    ),
    fault(
        "refused writes are done",
        "queue_block.sv",
        "s_cpuif_req         ({}),",
        "access_q && !refused",
        "access_q",
    ),
    fault(
        "bytes are not told apart",
        "shell_block.sv",
        "{8{strobe_i[3]}}, {},",
        "{8{strobe_i[2]}}",
        "8'hff",
    ),
    fault(
        "BYTES_MOVED loses the high bits",
        "queue_block.sv",
        "bytes_q <= bytes_q + {};",
        "64'(events.bytes)",
        "64'(events.bytes[23:0])",
    ),
    fault("a beat does not wake the lock unit", "lock_block.sv", "|| {}\n", "inv_valid_q", "1'b0"),
    fault(
        "a line does not wake the lock unit",
        "lock_block.sv",
        "b_valid_q || {}\n",
        "r_valid_q",
        "1'b0",
    ),
    fault(
        "a bus error interrupts as long as it stands",
        "lockstep_device.sv",
        "raised[BusErrorVector] += {};",
        "2'(bus_error && !bus_error_q)",
        "2'(bus_error)",
    ),
    fault(
        "the device is idle with moves open",
        "lockstep_device.sv",
        "|| {} ||",
        "!moves_quiet",
        "1'b0",
    ),
];
