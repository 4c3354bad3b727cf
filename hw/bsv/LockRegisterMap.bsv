// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 6fbb77ab633ced7347788774828f387a6ebdf1605943903cf72b3d203bd728cc bluespec.py lock_unit.rdl model.py properties.rdl requirements.txt
// body-sha256: 1d5b2747d7cd1d7c2b4efa990bf8ce5375b2368946e64024d55acd7c3c01d8c8
// Where the registers of the lock unit are, and what the constant ones say.
Bit#(12) controlOffset = 'h000;
Bit#(12) gieOffset = 'h004;
Bit#(12) ierOffset = 'h008;
Bit#(12) isrOffset = 'h00C;
Bit#(12) returnOffset = 'h010;
Bit#(12) tableBaseLowOffset = 'h020;
Bit#(12) tableBaseHighOffset = 'h024;
Bit#(12) tableLog2BucketsOffset = 'h030;
Bit#(12) identityOffset = 'h100;
Bit#(12) versionOffset = 'h104;
Bit#(12) capabilitiesOffset = 'h108;

// From REQUESTS to COPIES_VOIDED, each a low half and a high half.
Bit#(12) countersOffset = 'h200;
typedef 16 CounterCount;

Bit#(32) identity = 32'h4C534C55;
Bit#(32) version = 32'h00010000;
Bit#(32) capabilities = 32'h00000807;
Bit#(32) largestTableLog2Buckets = 32;
