//! How the store reaches its files, so that a test can take the power away.
