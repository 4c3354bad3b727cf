// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read jobs: the rows and sums that the host itself sees.

use lockdb::schema::Type;
use ndp_runtime::engine::Mutant;
use ndp_runtime::job::{Aggregating, Status, Task};
use ndp_runtime::program::{Aggregate, Aggregation, compile_select};

use crate::engine::scene::{Found, PLENTY, Room, Scene, random};
use rand::RngExt;

/// A select over a store gives the host's rows, each once, with room for so many bytes at a time.
pub fn select(mutant: Option<Mutant>, seed: u64, payloads: bool, room: Room) -> Result<(), String> {
    let mut scene = Scene::new(seed, 150);
    scene.plant(mutant);
    let compiled = compile_select(
        scene.table.id(),
        scene.table.schema(),
        Some("region <> 3 and (balance < 100 or balance is null)"),
        &["id", "balance + 1", "rate * 2.0"],
    )
    .unwrap();
    let mut expected: Vec<(Vec<Option<u64>>, Vec<u8>)> = scene
        .qualifying(&compiled.program)
        .into_iter()
        .map(|(payload, outputs)| {
            let values = (0..compiled.program.outputs()).map(|output| outputs.get(output));
            (values.collect(), if payloads { payload } else { Vec::new() })
        })
        .collect();
    assert!(expected.len() > 20, "{} rows qualify", expected.len());
    let descriptor = scene.descriptor(&compiled.program, Task::Select { payloads }, room);
    let outcome = scene.finish(7, &descriptor, room);
    assert_eq!(outcome.status, Status::Done, "{}", outcome.text);
    let mut found: Vec<_> = outcome
        .entries
        .iter()
        .map(|entry| match entry {
            Found::Row { values, payload, .. } => (values.clone(), payload.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    found.sort();
    expected.sort();
    if found != expected {
        return Err(format!("{} rows, the host has {}, or others", found.len(), expected.len()));
    }
    let statistics = outcome.statistics;
    assert_eq!(statistics.qualified, expected.len() as u64);
    assert_eq!(statistics.visited, 150);
    assert_eq!(statistics.visible, scene.rows().len() as u64);
    assert!(statistics.storage_bytes > 0);
    assert_eq!(scene.engine.live_jobs(), 0, "a read job is over when it is done");
    Ok(())
}

#[test]
fn a_select_gives_what_the_host_sees() {
    seeds::each!(4, |seed| select(None, seed, seed % 2 == 0, PLENTY));
}

#[test]
fn a_select_loses_nothing_between_chunks_of_any_size() {
    seeds::each!(16, |seed| {
        let (payloads, most) = if seed % 4 == 3 { (true, 20_000) } else { (false, 2000) };
        let result = if seed == 0 { 0 } else { random(seed).random_range(0..most) };
        select(None, seed, payloads, Room { result, reservations: 1 })
    });
}

#[test]
fn an_aggregation_gives_the_sums_of_the_host() {
    seeds::each!(1, aggregate_as_the_host);
}

fn aggregate_as_the_host(seed: u64) {
    for (number, aggregate) in
        [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max].into_iter().enumerate()
    {
        for group in [None, Some(Type::Int64)] {
            let mut scene = Scene::new(seed + number as u64, 200);
            let compiled = compile_select(
                scene.table.id(),
                scene.table.schema(),
                Some("rate < 10.0"),
                &["balance", "region"],
            )
            .unwrap();
            let limit = 100;
            let mut expected = Aggregation::new(aggregate, Type::Int64, group, limit).unwrap();
            for (_, outputs) in scene.qualifying(&compiled.program) {
                expected.add(&outputs).unwrap();
            }
            let expected = expected.finish().unwrap();
            let groups = limit as u32;
            let task =
                Task::Aggregate(Aggregating { aggregate, value: Type::Int64, group, groups });
            for result in [0, 200, 4000] {
                let room = Room { result, reservations: 0 };
                let descriptor = scene.descriptor(&compiled.program, task.clone(), room);
                let outcome = scene.finish(9, &descriptor, room);
                assert_eq!(outcome.status, Status::Done, "{}", outcome.text);
                let found: Vec<_> = outcome
                    .entries
                    .iter()
                    .map(|entry| match entry {
                        Found::Group(group) => *group,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                assert_eq!(found, expected, "{aggregate:?} by {group:?}");
            }
        }
    }
}

#[test]
fn an_aggregation_with_too_many_groups_says_so() {
    let mut scene = Scene::new(1, 100);
    let (table, schema) = (scene.table.id(), scene.table.schema().clone());
    let compiled = compile_select(table, &schema, None, &["balance", "id"]).unwrap();
    let (value, group, groups) = (Type::Int64, Some(Type::Int64), 10);
    let task = Aggregating { aggregate: Aggregate::Sum, value, group, groups };
    let descriptor = scene.descriptor(&compiled.program, Task::Aggregate(task), PLENTY);
    let outcome = scene.finish(1, &descriptor, PLENTY);
    assert_eq!(outcome.status, Status::Aggregation);
    assert_eq!(outcome.text, "found more than 10 groups, expected fewer");
    assert_eq!(scene.engine.live_jobs(), 0);
}

#[test]
fn eight_jobs_run_at_a_time_and_a_ninth_is_refused() {
    let mut scene = Scene::new(3, 100);
    let (table, schema) = (scene.table.id(), scene.table.schema().clone());
    let compiled = compile_select(table, &schema, Some("region < 3"), &["id"]).unwrap();
    let expected = scene.qualifying(&compiled.program).len() as u64;
    let task = Task::Select { payloads: false };
    let descriptors: Vec<_> =
        (0..9).map(|_| scene.descriptor(&compiled.program, task.clone(), PLENTY)).collect();
    let begun: Vec<_> = (0..).zip(&descriptors).map(|(job, each)| scene.begin(job, each)).collect();
    let mut completions: Vec<_> = (0..9).map(|_| scene.completion()).collect();
    completions.sort_by_key(|completion| completion.identifier);
    for (number, completion) in completions.iter().enumerate() {
        assert_eq!(completion.identifier, begun[number]);
        let expected = if number < 8 { Status::Done } else { Status::TooManyJobs };
        assert_eq!(completion.status, expected, "job {number}");
    }
    for (completion, descriptor) in completions.iter().zip(&descriptors).take(8) {
        let span = ndp_runtime::job::Span { bytes: completion.bytes.into(), ..descriptor.result };
        let chunk = ndp_runtime::job::ResultChunk::verified(scene.card.bytes(span)).unwrap();
        assert_eq!(chunk.statistics().qualified, expected);
    }
}
