//! The host's side: invokes jobs and makes transactions of them.
