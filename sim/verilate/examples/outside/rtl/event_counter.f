// All files of event_counter, each after those that it needs. Paths count from this list.
saturate_pkg.sv
event_counter.sv
