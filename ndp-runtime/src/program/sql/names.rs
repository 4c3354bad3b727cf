// SPDX-License-Identifier: MIT OR Apache-2.0
//! The name that was probably meant.

/// The candidate that differs least from a name, if it differs in a third of its letters at most.
pub(super) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let distances = candidates.iter().map(|near| (distance(&name, &near.to_lowercase()), *near));
    let (least, near) = distances.min_by_key(|(distance, _)| *distance)?;
    (least <= name.chars().count().max(3) / 3).then_some(near)
}

/// How many letters must be put in, taken out or exchanged to make one of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, of_a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, of_b) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(of_a != *of_b);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("balnce", &["id", "balance", "region"]), Some("balance"));
        assert_eq!(nearest("REGON", &["id", "balance", "region"]), Some("region"));
        assert_eq!(nearest("colour", &["id", "balance", "region"]), None);
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
