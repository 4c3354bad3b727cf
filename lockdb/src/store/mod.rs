//! A multi-version store whose row locks are the shared lock table (ccSLT paper, sections 2.3
//! and 3).

pub mod files;
pub mod layout;
pub mod log;
pub mod memory;
pub mod schema;
pub mod visibility;
