//! System checks.
