//! How software reaches a Lockstep device.
