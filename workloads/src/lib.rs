//! Seeded workload generators and lock traces.
