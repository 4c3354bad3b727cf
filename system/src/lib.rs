//! A host and a device around one lock table, executing a scenario: in virtual time, or by the
//! wall clock with real threads.

mod report;

pub use report::{
    Aborts, CoherenceReport, Latency, LatencyRecorder, QueueReport, Report, SideReport, UnitReport,
};
