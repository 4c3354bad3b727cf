//! What host and device exchange: descriptors, grants and result sets, as bytes.
