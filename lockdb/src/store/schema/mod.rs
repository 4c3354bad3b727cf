//! Typed rows: columns, values, their bytes in a version, and keys for the indexes.
