// SPDX-License-Identifier: MIT OR Apache-2.0
//! The versions that a run depends on.

use std::sync::LazyLock;

static ALL: LazyLock<String> = LazyLock::new(|| {
    format!("{}\nVerilator {}", env!("CARGO_PKG_VERSION"), sim::models::VERILATOR_VERSION)
});

/// The version of this program, and on a line of its own that of the Verilator that made the
/// models in it.
pub fn all() -> &'static str {
    ALL.as_str()
}
