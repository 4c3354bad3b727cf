// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images that a device must refuse, and that it may get.

use lockdb::schema::{Schema, Type};
use rand::{Rng, RngExt};

use super::{every_type, random};
use crate::program::{Instruction, MAX_INSTRUCTIONS, Outputs, Program, compile_select, evaluate};

fn program() -> Program {
    let compiled =
        compile_select(7, &every_type(), Some("i < 5 and x = 'abc' and t > 'no'"), &["i + j", "f"]);
    compiled.expect("the statement is sound").program
}

/// Puts in the checksum that belongs to the rest.
fn with_checksum(mut image: Vec<u8>) -> Vec<u8> {
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&image[..60]), &image[64..]);
    image[60..64].copy_from_slice(&checksum.to_le_bytes());
    image
}

/// The refusal of an image with these bytes in it.
fn refusal(offset: usize, bytes: &[u8]) -> String {
    let mut image = program().encode().to_vec();
    image[offset..offset + bytes.len()].copy_from_slice(bytes);
    let result = Program::decode(&with_checksum(image), Some((7, &every_type())));
    result.expect_err("the image is to be refused").to_string()
}

#[test]
fn each_rule_of_images_is_kept() {
    let program = program();
    let count = program.instructions().len();
    let word = |instruction: Instruction| instruction.encode().to_le_bytes();
    let load = Instruction::load(0, 8, 2);
    let cases: &[(usize, &[u8], &str)] = &[
        (0, b"LKPS", "magic (byte 0): found 0x53504b4c, expected 0x52504b4c"),
        (4, &[2], "version (byte 4): found 0x2, expected 0x1"),
        (6, &[0], "number of instructions (byte 6): found 0, expected 1 to 64"),
        (6, &[65], "number of instructions (byte 6): found 65, expected 1 to 64"),
        (6, &[count as u8 - 1], "found OUT, expected END, as it is the last"),
        (64 + 8 * 63, &[1], "instruction behind the last (byte 568): found 0x1, expected 0x0"),
        (6, &[count as u8 + 1], "expected END at the end alone"),
        (7, &[65], "number of constants (byte 7): found 65, expected 0 to 64"),
        (7, &[0], "constant behind the last (byte 576)"),
        (8, &[1], "outputs (byte 8): found 0x1, expected 0x2"),
        (9, &[0], "flags (byte 9): found 0x0, expected 0x1"),
        (12, &[1], "reserved (byte 12): found 0x1, expected 0x0"),
        (59, &[1], "reserved (byte 59): found 0x1, expected 0x0"),
        (16, &[8], "table (byte 16): found 0x8, expected 0x7"),
        (20, &[7], "bytes of the shortest row (byte 20): found 7"),
        (20, &[0, 0], "bytes of the shortest row (byte 20): found 0"),
        (20, &[0, 0x20], "bytes of the shortest row (byte 20): found 8192"),
        (20, &[0x80, 1], "bytes of the shortest row (byte 20): found 0x180"),
        (64, &[0xee], "instruction 0 (byte 64): found operation 0xee"),
        (64, &word(Instruction { a: 1, ..load }), "LOAD, byte 64): found field a = 1"),
        (64, &word(Instruction { z: 1, ..load }), "found field z = 1, expected 0"),
        (64, &word(Instruction { x: 12, ..load }), "found payload bytes 12 to 20"),
        (64, &word(Instruction { x: 8080, ..load }), "found payload bytes 8080 to 8088"),
        (64, &word(Instruction { y: 14, ..load }), "found null bit 14, expected a bit of 14"),
        (64, &word(Instruction { y: 9000, ..load }), "found null bit 9000"),
        (64, &word(Instruction::filter(3)), "found register r3, expected a register that was"),
        (64, &word(Instruction::constant(0, 63)), "found constants 63 to 64, expected at most"),
        (64, &word(Instruction::compare_fixed(0, 8, 2, 0, 0, false)), "found 0 words"),
        (64, &word(Instruction::compare_fixed(0, 8, 2, 0, 63, false)), "found constants 0 to 63"),
        (64, &[0; 8], "instruction 0 (END, byte 64): found END, expected END at the end alone"),
    ];
    for (offset, bytes, expected) in cases {
        let found = refusal(*offset, bytes);
        assert!(found.contains(expected), "{found}, expected {expected}");
    }
    let last = 64 + 8 * (count - 1);
    let found = refusal(last, &word(Instruction::null(0)));
    assert!(found.contains("found NULL, expected END, as it is the last"), "{found}");
    // Output 1 becomes output 5, then 8.
    let out = program.instructions().iter().position(|i| i.to_string().starts_with("OUT o1"));
    let (out, mut instruction) =
        out.map(|at| (64 + 8 * at, program.instructions()[at])).expect("there is output 1");
    instruction.z = 5;
    assert!(refusal(out, &word(instruction)).contains("expected outputs from 0 on without a gap"));
    instruction.z = 8;
    assert!(
        refusal(out, &word(instruction)).contains("found output 8, expected an output below 8")
    );
}

#[test]
fn damage_and_wrong_lengths_are_seen() {
    let image = program().encode();
    for bytes in [0, 1, Program::BYTES - 1] {
        let error = Program::decode(&image[..bytes], None).expect_err("it is cut");
        let expected = format!("program, image: found {bytes} bytes, expected 1088 bytes");
        assert_eq!(error.to_string(), expected);
    }
    for offset in 0..Program::BYTES {
        let mut damaged = image.to_vec();
        damaged[offset] ^= 4;
        Program::decode(&damaged, None).expect_err("a bit has changed");
    }
}

#[test]
fn a_program_is_for_the_rows_of_its_table() {
    let image = program().encode();
    Program::decode(&image[..], None).expect("whatever the table");
    let error = Program::decode(&image[..], Some((8, &every_type()))).expect_err("of table 7");
    assert_eq!(error.offset(), 16);
    let other = Schema::builder("other").column("id", Type::Int64).primary_key(&["id"]);
    let other = other.build().expect("the schema is sound");
    let error = Program::decode(&image[..], Some((7, &other))).expect_err("of longer rows");
    assert_eq!(error.offset(), 20);
}

/// What is admitted says of itself what it is, and runs on whatever there is.
#[test]
fn hostile_images_are_refused_or_harmless() {
    let schema = every_type();
    let (seeds, mut admitted) = (seeds::of!(20_000), 0);
    for seed in &seeds {
        let mut random = random(seed);
        let mut image = program().encode().to_vec();
        for _ in 0..random.random_range(1..4) {
            let offset = match random.random_range(0..4) {
                0 => random.random_range(0..64),
                1 => random.random_range(0..Program::BYTES),
                _ => 64 + random.random_range(0..8 * 20),
            };
            image[offset] = random.random();
        }
        if random.random_ratio(1, 4) {
            random.fill_bytes(&mut image[64..64 + 8 * MAX_INSTRUCTIONS]);
        }
        let image = with_checksum(image);
        let table = random.random::<bool>().then_some((7, &schema));
        let Ok(program) = Program::decode(&image, table) else { continue };
        admitted += 1;
        assert_eq!(program.encode().to_vec(), image);
        let mut payload = vec![0; random.random_range(0..200)];
        random.fill_bytes(&mut payload);
        let _ = evaluate(&program, &payload, &mut Outputs::default());
    }
    println!("{admitted} were admitted");
    assert!(admitted > 0 || !seeds.is_whole());
}

#[test]
fn a_listing_says_what_a_program_is() {
    let compiled = compile_select(
        3,
        &every_type(),
        Some("i_null between 1 and 100 and x_null = 'a long text' and y_null <> X'00ff'"),
        &["f * 2.5"],
    );
    let listing = compiled.expect("the statement is sound").program.to_string();
    let expected = "\
program table 3, rows of 112 bytes or more
c0 = 0x0000000000000001 ; 1
c1 = 0x0000000000000064 ; 100
";
    assert!(listing.starts_with(expected), "{listing}");
    for line in
        ["; \"a long t\"", "; 2.5", "CMPVAR r", "x 2 bytes, null 12", "FILTER r", "OUT o0, r"]
    {
        assert!(listing.contains(line), "{listing}, expected {line}");
    }
    for (text, expected) in [
        ("", "listing, line 1: found \"\", expected program table T, rows of B bytes or more"),
        ("program table 0, rows of 8 bytes or more\nADDI r1, r2", "line 2: found \"ADDI r1, r2\""),
        ("program table 0, rows of 8 bytes or more\nc1 = 0x0", "expected the next constant"),
        ("program table 0, rows of 8 bytes or more\nNULL r77\nEND", "expected fields that fit"),
    ] {
        let error = text.parse::<Program>().expect_err("it is no listing").to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
}
