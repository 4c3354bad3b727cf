//! The device's side: executes jobs beside the data.
