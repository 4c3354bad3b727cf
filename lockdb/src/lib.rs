//! The cache-coherent shared lock table.
