// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 2fd2bd2fdc49b53538799782731083f2025fe35e51c696320c6e8165e0918bc1 model.py nic_lookup.rdl properties.rdl requirements.txt systemverilog.py
// body-sha256: 2af9d819c3644635821ecc49fbcb9aa37e7d1c8bc09eca00ca5758bb260e0467
// Offsets of the nic look-up's registers, and the writes that are refused.
package nic_lookup_map_pkg;
    // Switches the block on. What was accepted before it is switched off is carried out. Settings can be written when it is off and RETURN is 0.
    localparam logic [11:0] CONTROL = 12'h000;
    // Requests that were accepted and not yet answered, or those of which the index is still told what was seen: the larger number.
    localparam logic [11:0] RETURN = 12'h010;
    // Where the host's table lies, in host memory. A multiple of 64.
    localparam logic [11:0] TABLE_BASE = 12'h020;
    // Homes of the host's table.
    localparam logic [11:0] SLOTS = 12'h030;
    // The largest displacement in the host's table (D_m).
    localparam logic [11:0] LIMIT = 12'h040;
    // Slots of a first read beyond the known displacement, counted from the home (k).
    localparam logic [11:0] MORE = 12'h050;
    // Base-2 logarithm of the homes of a segment.
    localparam logic [11:0] SEGMENT_SHIFT = 12'h060;
    // Where the directory of the host's table lies, in host memory. A multiple of 64.
    localparam logic [11:0] DIRECTORY_BASE = 12'h070;
    // Where the overflow area lies, in host memory. A multiple of 64.
    localparam logic [11:0] OVERFLOW_BASE = 12'h080;
    // Slots of the overflow area.
    localparam logic [11:0] OVERFLOW_SLOTS = 12'h090;
    // Bytes of a value that the index caches.
    localparam logic [11:0] VALUE_BYTES = 12'h0a0;
    // Readings of all places of a key after which a look-up gives up.
    localparam logic [11:0] MOST_READINGS = 12'h0b0;
    // Where the index lies, in NIC memory. A multiple of the stride of its entries.
    localparam logic [11:0] INDEX_BASE = 12'h0c0;
    // Entries of the index.
    localparam logic [11:0] SEGMENTS = 12'h0d0;
    // Clocks without a new read after which the reads that wait are sent.
    localparam logic [11:0] IDLE_TIME = 12'h0e0;
    // Clocks after which the oldest read that waits is sent.
    localparam logic [11:0] FLUSH_TIME = 12'h0f0;
    // The characters LSNL.
    localparam logic [11:0] IDENTITY = 12'h100;
    // Version of the register map. A driver knows one major version.
    localparam logic [11:0] VERSION = 12'h104;
    // What the block was built for.
    localparam logic [11:0] CAPABILITIES = 12'h108;
    // What the index was built for.
    localparam logic [11:0] CAPABILITIES_INDEX = 12'h10c;
    // The first setting that did not fit when the block was last asked to be enabled.
    localparam logic [11:0] SETTINGS_ERROR = 12'h110;
    // How far the flush is that CONTROL asks for.
    localparam logic [11:0] FLUSH = 12'h114;
    // Requests that the index has answered, of both ports, with whatever status.
    localparam logic [11:0] REQUESTS = 12'h200;
    // Look-ups and lock-and-reads among them.
    localparam logic [11:0] LOOK_UPS = 12'h208;
    // Look-ups that the index answered with done.
    localparam logic [11:0] HITS = 12'h210;
    // Look-ups that it answered with miss, so that host memory was read.
    localparam logic [11:0] MISSES = 12'h218;
    // Misses that ended as done.
    localparam logic [11:0] FOUND = 12'h220;
    // Those of them whose object was in an overflow bucket.
    localparam logic [11:0] FOUND_IN_BUCKETS = 12'h228;
    // Misses that ended as absent.
    localparam logic [11:0] ABSENT = 12'h230;
    // Misses that ended as gave up.
    localparam logic [11:0] GAVE_UP = 12'h238;
    // Misses that ended as not read.
    localparam logic [11:0] NOT_READ = 12'h240;
    // Misses that went on beyond the slots that the index named.
    localparam logic [11:0] SHORT_HINTS = 12'h248;
    // Round trips to host memory.
    localparam logic [11:0] TRIPS = 12'h250;
    // Reads that trips asked for: of a row, of a bucket, of a word of the directory.
    localparam logic [11:0] READS = 12'h258;
    // Slots that they asked for.
    localparam logic [11:0] SLOTS_READ = 12'h260;
    // Bytes that they asked for: those of the slots, and 8 with each word.
    localparam logic [11:0] BYTES_READ = 12'h268;
    // Readings that were begun after the first of a look-up.
    localparam logic [11:0] REPEATED_READINGS = 12'h270;
    // Readings that came to their end and were not whole.
    localparam logic [11:0] DISTURBED_READINGS = 12'h278;
    // Fills that look-ups sent to the index, and it answered.
    localparam logic [11:0] FILLS = 12'h280;
    // Those of them that were stale.
    localparam logic [11:0] FILLS_STALE = 12'h288;
    // Those of them that were full.
    localparam logic [11:0] FILLS_FULL = 12'h290;
    // Set-hints that look-ups sent to the index, and it answered.
    localparam logic [11:0] HINTS_SET = 12'h298;
    // Answers of the index, to requests or look-ups, that were bus errors.
    localparam logic [11:0] INDEX_ERRORS = 12'h2a0;

    // Whether a write to a register that takes writes is refused all the same: the value
    // is impossible, the block is enabled, or bytes are missing.
    function automatic logic write_refused(
        input logic [11:0] address,
        input logic [31:0] data,
        input logic [3:0] strobe,
        input logic enabled
    );
        case (address)
            12'h020: return strobe != 4'hf || enabled;  // TABLE_BASE
            12'h024: return strobe != 4'hf || enabled;  // TABLE_BASE
            12'h030: return strobe != 4'hf || enabled;  // SLOTS
            12'h040: return strobe != 4'hf || enabled;  // LIMIT
            12'h050: return strobe != 4'hf || enabled;  // MORE
            12'h060: return strobe != 4'hf || enabled;  // SEGMENT_SHIFT
            12'h070: return strobe != 4'hf || enabled;  // DIRECTORY_BASE
            12'h074: return strobe != 4'hf || enabled;  // DIRECTORY_BASE
            12'h080: return strobe != 4'hf || enabled;  // OVERFLOW_BASE
            12'h084: return strobe != 4'hf || enabled;  // OVERFLOW_BASE
            12'h090: return strobe != 4'hf || enabled;  // OVERFLOW_SLOTS
            12'h0a0: return strobe != 4'hf || enabled;  // VALUE_BYTES
            12'h0b0: return strobe != 4'hf || enabled;  // MOST_READINGS
            12'h0c0: return strobe != 4'hf || enabled;  // INDEX_BASE
            12'h0c4: return strobe != 4'hf || enabled;  // INDEX_BASE
            12'h0d0: return strobe != 4'hf || enabled;  // SEGMENTS
            12'h0e0: return strobe != 4'hf || enabled || data > 32'd65535;  // IDLE_TIME
            12'h0f0: return strobe != 4'hf || enabled || data > 32'd65535;  // FLUSH_TIME
            default: return strobe != 4'hf;
        endcase
    endfunction
endpackage
