//! The queues against a fake device.
