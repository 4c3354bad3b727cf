// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of programs, on random and on chosen cases.

mod aggregates;
mod document;
mod draw;
mod errors;
mod images;
mod machine;
mod reference;
mod statements;
mod updates;

use lockdb::schema::{Schema, Type};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a case is drawn from.
fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A table with two columns of most types, the second of which admits nulls.
fn every_type() -> Schema {
    Schema::builder("every")
        .column("id", Type::Int64)
        .column("i", Type::Int64)
        .nullable_column("i_null", Type::Int64)
        .column("j", Type::Int64)
        .column("f", Type::Float64)
        .nullable_column("f_null", Type::Float64)
        .column("b", Type::Bool)
        .nullable_column("b_null", Type::Bool)
        .column("x", Type::Fixed(5))
        .nullable_column("x_null", Type::Fixed(11))
        .column("t", Type::Text)
        .nullable_column("t_null", Type::Text)
        .nullable_column("y_null", Type::Bytes)
        .column("keyed", Type::Int64)
        .primary_key(&["id"])
        .index("by_keyed", &["keyed"])
        .build()
        .expect("the schema is sound")
}
