// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite of the lanes: a comparison with the machine of `ndp_runtime`, packet by packet.

use std::iter;

use ndp_runtime::program::{
    Evaluation, Instruction, NEVER_NULL, Opcode, Outputs, Program, evaluate,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::stall::StallPattern;

use crate::bench::{Bench, Packet, Row};
use suites::programs;

/// The outcome of a row.
fn expected(row: &Row, program: Option<&Program>, wants_payloads: bool) -> Option<Packet> {
    let mut packet = Packet { row: row.clone(), values: Vec::new(), nulls: 0 };
    if row.code == 0
        && let Some(program) = program
    {
        let mut outputs = Outputs::default();
        match evaluate(program, &row.payload, &mut outputs) {
            Ok(Evaluation::Fails) => return None,
            Ok(Evaluation::Passes) => {
                packet.values = outputs.values[..program.outputs().into()].to_vec();
                packet.nulls = outputs.nulls;
            }
            Err(fault) => packet.row.code = fault.code(),
        }
    }
    if packet.row.code != 0 || !wants_payloads {
        packet.row.payload.clear();
    }
    Some(packet)
}

/// Rows with a program, through the lanes, and what came out beside what must.
fn check(
    bench: &mut Bench,
    rows: &[Row],
    program: Option<&Program>,
    wants_payloads: bool,
) -> Result<(), String> {
    bench.store(program, wants_payloads);
    bench.counts = [0; 2];
    let mut packets = bench.run(rows)?;
    packets.sort_by_key(|packet| packet.row.vid);
    let mut expected: Vec<Packet> =
        rows.iter().filter_map(|row| expected(row, program, wants_payloads)).collect();
    expected.sort_by_key(|packet| packet.row.vid);
    let listing = || program.map_or("no program".into(), |program| format!("{program}"));
    for (found, expected) in packets.iter().zip(&expected) {
        if found != expected {
            let row = rows.iter().find(|row| row.vid == expected.row.vid);
            return Err(format!(
                "found {found:x?}, expected {expected:x?} of {row:x?} by {}",
                listing()
            ));
        }
    }
    if packets.len() != expected.len() {
        return Err(format!(
            "{} packets, expected {} by {}",
            packets.len(),
            expected.len(),
            listing()
        ));
    }
    let faults = expected.iter().filter(|packet| packet.row.code != 0).count() as u64;
    let counts = [expected.len() as u64 - faults, faults];
    if bench.counts != counts {
        return Err(format!("pulses {:?}, expected {counts:?}", bench.counts));
    }
    Ok(())
}

fn row(generator: &mut ChaCha8Rng, vid: u32, payload: Vec<u8>) -> Row {
    let mut row = Row {
        vid,
        number: generator.next_u32(),
        record: generator.next_u64(),
        created: generator.next_u64(),
        code: 0,
        payload,
    };
    if generator.random_range(0..16u8) == 0 {
        row.code = generator.random_range(1..=10);
        row.payload.clear();
    }
    row
}

/// Rows that pass, fail, overflow, are too short.
pub type Kinds = [u32; 4];

/// Random programs, rows and stalls; how many rows there were of each kind.
pub fn packets(seed: u64) -> Result<Kinds, String> {
    let mut kinds = [0; 4];
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let stalls = match seed % 3 {
        0 => StallPattern::None,
        1 => StallPattern::Random { probability: 0.4 },
        _ => StallPattern::Burst { probability: 0.05, longest: 60 },
    };
    let mut bench = Bench::new(stalls, seed);
    for _ in 0..25 {
        let program = programs::program(&mut generator);
        let rows: Vec<Row> = (0..generator.random_range(1..40u32))
            .map(|vid| {
                let payload = programs::payload(&mut generator, &program);
                row(&mut generator, vid, payload)
            })
            .collect();
        let has_program = generator.random_range(0..8u8) > 0;
        let wants_payloads = generator.random_range(0..3u8) == 0;
        check(&mut bench, &rows, has_program.then_some(&program), wants_payloads)?;
        for row in &rows {
            let packet = expected(row, Some(&program), false);
            let code = packet.map_or(u8::MAX, |packet| packet.row.code);
            let of_kind = [0, u8::MAX, 20, 21].map(|of| u32::from(code == of));
            kinds = std::array::from_fn(|kind| kinds[kind] + of_kind[kind]);
        }
    }
    Ok(kinds)
}

/// A payload of words behind an empty bitmap.
fn words(words: &[u64]) -> Vec<u8> {
    [0].iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
}

/// Programs with fewer and fewer outputs, each after one with eight nulls: nothing is left of those in the packets.
pub fn fewer_outputs() -> Result<(), String> {
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    let rows: Vec<Row> =
        (0..16).map(|vid| Row { code: 0, ..row(generator, vid, words(&[5])) }).collect();
    let mut bench = Bench::new(StallPattern::None, 0);
    let with_outputs = |first: Instruction, outputs: u8| {
        let outs = (0..outputs).map(|place| Instruction::out(place, 0));
        let code = [first].into_iter().chain(outs).chain([Instruction::new(Opcode::End)]).collect();
        Program::new(7, 16, code, vec![]).expect("a valid program")
    };
    for outputs in (0..8).rev() {
        let nulls = with_outputs(Instruction::null(0), 8);
        let values = with_outputs(Instruction::load(0, 8, NEVER_NULL), outputs);
        check(&mut bench, &rows, Some(&nulls), false)?;
        check(&mut bench, &rows, Some(&values), false)?;
    }
    Ok(())
}

/// Every operation on every pair of values at which something changes. Pairs that differ at most in
/// their sign, such as both zeros, have enough rows that each lane gets one.
pub fn corners() -> Result<(), String> {
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    // The last one is a little more than half of the last place of 1.5.
    let floats =
        [0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, -5e-324, 1.110_223_024_625_157e-16]
            .map(f64::to_bits);
    let integers = [0, 1, -1, 2, i64::MIN, i64::MAX, 3_037_000_500].map(i64::cast_unsigned);
    let nans = [0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFE];
    let values: Vec<u64> = [&floats[..], &integers, &nans].concat();
    let mut rows = Vec::new();
    for a in &values {
        for b in &values {
            let times = if a << 1 == b << 1 { 16 } else { 1 };
            for nulls in (0..4).flat_map(|nulls| iter::repeat_n(nulls, times)) {
                let mut payload = words(&[*a, *b]);
                payload[0] = nulls;
                rows.push(Row { code: 0, ..row(generator, rows.len() as u32, payload.clone()) });
                let last = rows.last_mut().expect("a row was pushed");
                last.payload = payload;
            }
        }
    }
    let mut bench = Bench::new(StallPattern::None, 0);
    let form = |op: &Opcode| match op {
        Opcode::End | Opcode::Load | Opcode::Constant | Opcode::Filter | Opcode::Out => None,
        Opcode::CompareFixed | Opcode::CompareVariable => None,
        Opcode::Null => Some(Instruction::null(2)),
        Opcode::Not | Opcode::IsNull => Some(Instruction::unary(*op, 2, 0)),
        _ => Some(Instruction::binary(*op, 2, 0, 1)),
    };
    for instruction in Opcode::ALL.iter().filter_map(form) {
        let code = vec![
            Instruction::load(0, 8, 0),
            Instruction::load(1, 16, 1),
            instruction,
            Instruction::out(0, 2),
            Instruction::new(Opcode::End),
        ];
        let program = Program::new(7, 24, code, vec![]).expect("a valid program");
        check(&mut bench, &rows, Some(&program), false)?;
    }
    Ok(())
}

/// Each word of the longest row, each null bit in five programs, and a comparison that begins at each
/// seventh word.
pub fn every_column() -> Result<(), String> {
    (1..14).step_by(3).try_for_each(columns_with_nulls_from)
}

fn columns_with_nulls_from(first_null: u16) -> Result<(), String> {
    const WORDS: usize = 1011;
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    let mut bench = Bench::new(StallPattern::Random { probability: 0.1 }, first_null.into());
    for first in (0..WORDS - 1).step_by(7) {
        // Three of four null bits are set, so that a bit which is spoilt by another one shows.
        let mut draw = || generator.next_u64() | generator.next_u64();
        let drawn: [Vec<u64>; 2] = [0; 2].map(|_| (0..WORDS).map(|_| draw()).collect());
        let rows = [0, 1].map(|vid| {
            let payload = drawn[vid].iter().flat_map(|word| word.to_le_bytes()).collect();
            Row { code: 0, payload, ..row(generator, vid as u32, Vec::new()) }
        });
        let columns = first..(first + 7).min(WORDS);
        let mut code: Vec<Instruction> = (0..)
            .zip(columns.clone())
            .map(|(dst, word)| Instruction::load(dst, 8 * word as u16, word as u16 + first_null))
            .collect();
        // It finds the words of the first row.
        code.push(Instruction::compare_fixed(7, 8 * first as u16, NEVER_NULL, 0, 2, false));
        let outputs = (0..columns.len() as u8).chain([7]);
        code.extend((0..).zip(outputs).map(|(place, from)| Instruction::out(place, from)));
        code.push(Instruction::new(Opcode::End));
        let constants = drawn[0][first..first + 2].to_vec();
        let program = Program::new(7, 8 * WORDS as u16, code, constants).expect("a valid program");
        check(&mut bench, &rows, Some(&program), first % 2 == 0)?;
    }
    Ok(())
}

/// Comparisons of columns at all places in a beat with constants from which they differ from some
/// byte of one word on, or not at all.
pub fn comparisons() -> Result<(), String> {
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    let mut bench = Bench::new(StallPattern::None, 0);
    for (first, count) in (1..9).flat_map(|first| [1, 2, 8, 17].map(|count| (first, count))) {
        let constants: Vec<u64> = (0..count).map(|_| generator.next_u64()).collect();
        let mut rows = Vec::new();
        for different in 0..=count {
            let mut column = constants.clone();
            if let Some(word) = column.get_mut(different) {
                // What is behind the first byte that differs means nothing.
                *word ^= generator.next_u64() << (8 * (different % 8)) | 1 << (8 * (different % 8));
            }
            let payload = words(&[&vec![0; first - 1], &column[..], &[7]].concat());
            rows.push(Row { payload, code: 0, ..row(generator, different as u32, vec![]) });
        }
        for longer in [false, true] {
            let offset = 8 * first as u16;
            let code = vec![
                Instruction::compare_fixed(0, offset, NEVER_NULL, 0, count as u8, longer),
                Instruction::out(0, 0),
                Instruction::new(Opcode::End),
            ];
            let bytes = 8 * (first + count + 1) as u16;
            let program = Program::new(7, bytes, code, constants.clone()).expect("a valid program");
            check(&mut bench, &rows, Some(&program), false)?;
        }
    }
    Ok(())
}

/// Words of a program's image that no validator admits: the lanes end each row all the same.
pub fn no_end() -> Result<(), String> {
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    let mut bench = Bench::new(StallPattern::None, 0);
    let rows: Vec<Row> =
        (0..20).map(|vid| Row { code: 0, ..row(generator, vid, words(&[1])) }).collect();
    for code in [[0x03; 64], [0x77; 64]] {
        bench.store_words(&code);
        let packets = bench.run(&rows)?;
        let other = packets.iter().find(|packet| packet.row.code != 31);
        if packets.len() != rows.len() || other.is_some() {
            return Err(format!("{} packets, one is {other:x?}, expected code 31", packets.len()));
        }
    }
    Ok(())
}

/// Rows a clock when all qualify and no payload is wanted. A row of 72 bytes takes three beats of the
/// stream, so that no more than a third can come; one of 64 bytes takes two.
pub fn rates() -> Result<(), String> {
    let code = vec![
        Instruction::load(0, 8, NEVER_NULL),
        Instruction::constant(1, 0),
        Instruction::binary(Opcode::LessInt, 2, 0, 1),
        Instruction::filter(2),
        Instruction::out(0, 0),
        Instruction::new(Opcode::End),
    ];
    let program = Program::new(7, 64, code, vec![100]).expect("a valid program");
    let generator = &mut ChaCha8Rng::seed_from_u64(0);
    for (payload, least) in [(words(&[7; 7]), 0.48), (words(&[7; 8]), 0.33)] {
        let rows: Vec<Row> =
            (0..2000).map(|vid| Row { code: 0, ..row(generator, vid, payload.clone()) }).collect();
        let rows: Vec<Row> =
            rows.into_iter().map(|row| Row { payload: payload.clone(), ..row }).collect();
        let mut bench = Bench::new(StallPattern::None, 0);
        bench.store(Some(&program), false);
        let packets = bench.run(&rows)?;
        let rate = rows.len() as f64 / bench.cycle as f64;
        println!("{} bytes: {rate:.3} rows a clock", payload.len());
        if packets.len() != rows.len() || rate < least {
            let (found, bytes) = (packets.len(), payload.len());
            return Err(format!("{bytes} bytes: {found} packets, {rate:.3} rows a clock"));
        }
    }
    Ok(())
}

/// Words that no validator would admit, most of them operations: every row leaves all the same, or is
/// found not to qualify, and a valid program works as ever behind them.
pub fn any_words(seed: u64) -> Result<(), String> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(StallPattern::Random { probability: 0.2 }, seed);
    for _ in 0..10 {
        let program = programs::program(&mut generator);
        let rows: Vec<Row> = (0..20)
            .map(|vid| {
                let payload = programs::payload(&mut generator, &program);
                row(&mut generator, vid, payload)
            })
            .collect();
        let words: Vec<u64> = (0..128)
            .map(|_| {
                let op = Opcode::ALL[generator.random_range(0..Opcode::ALL.len())] as u64;
                let op = if generator.random_range(0..50u8) == 0 { 0x77 } else { op };
                generator.next_u64() & !0xFF | op
            })
            .collect();
        bench.store(Some(&program), false);
        bench.store_words(&words);
        bench.run(&rows)?;
        check(&mut bench, &rows, Some(&program), true)?;
    }
    Ok(())
}
