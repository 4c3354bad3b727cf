// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers and paragraphs as text for people.

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three digits of a number, and what it is to be multiplied with: `12.3 M`.
pub fn rate(number: f64) -> String {
    scaled(number, &[(1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")])
}

/// Three digits of a time in nanoseconds, with its unit: `1.25 µs`.
pub fn duration(nanoseconds: f64) -> String {
    scaled(nanoseconds, &[(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")])
}

/// Three digits of a number of bytes, with its unit: `64.0 kB`.
pub fn bytes(number: f64) -> String {
    scaled(number, &[(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")])
}

/// `number` in the largest of `units` (descending) that leaves at least 1.
fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    // What would be rounded up to the next unit is shown in it: 999.9 ns is 1.00 µs.
    let fits = |factor: f64| number / factor >= 0.9995;
    let (factor, unit) =
        units.iter().find(|(factor, _)| fits(*factor)).unwrap_or(&units[units.len() - 1]);
    format!("{}{unit}", three_digits(number / factor))
}

fn three_digits(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        _ if number < 9.995 => format!("{number:.2}"),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Breaks `text` between words into lines of at most `width` characters; a longer word gets a
/// line of its own.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn three_digits_and_a_unit_are_shown() {
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(duration(0.5), "0.50 ns");
        assert_eq!(duration(84.26), "84.3 ns");
        assert_eq!(duration(999.4), "999 ns");
        assert_eq!(duration(999.9), "1.00 µs");
        assert_eq!(duration(12_345_678.0), "12.3 ms");
        assert_eq!(duration(4e12), "4000 s");
        assert_eq!(rate(6_172_839.0), "6.17 M");
        assert_eq!(rate(12.0), "12.0");
        assert_eq!(bytes(64_000.0), "64.0 kB");
    }

    #[test]
    fn paragraphs_keep_their_width() {
        assert_eq!(wrap("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("", 9), Vec::<String>::new());
        assert_eq!(wrap("immeasurable", 3), ["immeasurable"]);
    }
}
