// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remote readers in a race with host threads, on real atomics.
