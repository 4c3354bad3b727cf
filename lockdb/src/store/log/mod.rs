//! The write-ahead log, and the order of commits that it gives.
