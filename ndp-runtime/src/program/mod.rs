//! Predicates and updates as a small typed program of fixed-width code.
