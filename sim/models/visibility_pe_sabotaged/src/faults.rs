//! What is broken, and where. The build includes this file as well.

/// A place in `hw/rtl` where the element is broken on purpose.
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
pub const FAULTS: [Fault; 20] = [
    fault(
        "a line that could not be read is taken",
        "job_loader.sv",
        "if ({}) refusal = of_job",
        "loaded_error_i",
        "1'b0",
    ),
    fault(
        "the first line of the job is read twice",
        "job_loader.sv",
        "? job_address_i + {}",
        "58'(line_q)",
        "58'd0",
    ),
    fault(
        "the program is read from its second line on",
        "job_loader.sv",
        "program_address[63:6] + {};",
        "58'(line_q - ProgramHeader)",
        "58'(line_q - SecondOfJob)",
    ),
    fault(
        "a program within a line is read",
        "job_loader.sv",
        "line_q == SecondOfJob && {}) refusal",
        "coming_address[5:0] != 0",
        "1'b0",
    ),
    fault(
        "another version is executed",
        "job_loader.sv",
        "if ({}) return OtherVersion;",
        "header.version != Version",
        "1'b0",
    ),
    fault(
        "an empty program is executed",
        "job_loader.sv",
        "if ({} || header.instructions >",
        "header.instructions == 0",
        "1'b0",
    ),
    fault(
        "too many constants are executed",
        "job_loader.sv",
        "|| {} ||",
        "header.constants > LargestCount",
        "1'b0",
    ),
    fault(
        "too many outputs are executed",
        "job_loader.sv",
        "|| {}) return BadCount;",
        "header.outputs > 8'd8",
        "1'b0",
    ),
    fault(
        "a program for software is executed",
        "job_loader.sv",
        "return {} ? 8'd0 : BadFlags;",
        "header.flags == 0",
        "1'b1",
    ),
    fault(
        "a run is over before its last packet is taken",
        "visibility_pe.sv",
        "assign over = {};",
        "state_q == Closing && m_axis_row_tready",
        "state_q == Closing",
    ),
    fault(
        "a run does not wait for the walk",
        "visibility_pe.sv",
        "Waiting:  if ({}) state_q",
        "!walk_busy",
        "1'b1",
    ),
    fault("a stop is not handed on", "visibility_pe.sv", ".stop_i           ({}),", "stop", "1'b0"),
    fault(
        "a stop outlasts its run",
        "visibility_pe.sv",
        "to_registers.CONTROL.stop.hwclr             = {};",
        "over || !asked",
        "1'b0",
    ),
    fault(
        "a second start is taken",
        "visibility_pe.sv",
        "|| {});\n    assign access_error",
        "asked && access_address == visibility_pe_map_pkg::CONTROL && access_data[0]",
        "1'b0",
    ),
    fault(
        "the job moves under its run",
        "visibility_pe.sv",
        "access_data, access_strobe, {})",
        "asked",
        "1'b0",
    ),
    fault(
        "the end is not told",
        "visibility_pe.sv",
        "to_registers.ISR.done.hwset                 = {};",
        "over",
        "1'b0",
    ),
    fault(
        "every end interrupts",
        "visibility_pe.sv",
        "assign intr_o = {}\n",
        "from_registers.GIE.enable.value && from_registers.IER.done.value",
        "1'b1",
    ),
    fault(
        "a refused run is told as a finished one",
        "visibility_pe.sv",
        "last.code = {} ? Finished : Refused;",
        "walked_q",
        "1'b1",
    ),
    fault(
        "the counts of another run are shown",
        "visibility_pe.sv",
        "to_registers.VIDS.value.next                = {} ?",
        "walked_q",
        "1'b1",
    ),
    fault(
        "every refusal has the same reason",
        "visibility_pe.sv",
        "last.vid = 32'({});",
        "refusal",
        "8'd1",
    ),
];
