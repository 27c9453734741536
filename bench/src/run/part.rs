//! A part of the suite, for machines that are lent for a short time only.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, ensure};

/// Part `number` of `of`, counted from 1; written `2/3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which one.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Part {
    /// The items of this part. Each item is in one part, and all parts weigh about as much.
    pub fn take<T>(self, items: Vec<T>, weight: impl Fn(&T) -> usize) -> Vec<T> {
        let total: usize = items.iter().map(&weight).sum();
        let mut before = 0;
        let mut taken = Vec::new();
        for item in items {
            // The middle of an item decides, so that a heavy one does not always fall to the earlier part.
            let middle = 2 * before + weight(&item);
            before += weight(&item);
            if middle * self.of / (2 * total).max(1) + 1 == self.number {
                taken.push(item);
            }
        }
        taken
    }
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, of) = text.split_once('/').context("a part is written as 2/3")?;
        let part = Self { number: number.parse()?, of: of.parse()? };
        ensure!((1..=part.of).contains(&part.number), "there is no part {part}");
        Ok(part)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_part() {
        let items: Vec<usize> = vec![3, 1, 0, 7, 2, 2, 5];
        let parts = |of| (1..=of).map(move |number| Part { number, of });
        for of in 1..10 {
            let all: Vec<usize> = parts(of).flat_map(|part| part.take(items.clone(), |item| *item)).collect();
            assert_eq!(all, items, "{of} parts");
        }
        assert_eq!(Part { number: 2, of: 2 }.take(items, |item| *item), [2, 2, 5], "half of 20 and what is beyond");
    }

    #[test]
    fn a_part_is_read_as_it_is_written() {
        assert_eq!("2/3".parse::<Part>().map(|part| part.to_string()).ok(), Some("2/3".to_owned()));
        for wrong in ["", "2", "0/3", "4/3", "a/b"] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }
}
