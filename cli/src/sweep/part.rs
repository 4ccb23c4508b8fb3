//! Parts: the points of a shard, in a file whose name says which grid and which shard.

use std::fmt;
use std::str::FromStr;

/// One of several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    pub of: u32,
}

impl Shard {
    /// Whether a point belongs to the shard. Points are dealt by hash, so that a slow corner of a
    /// grid is spread over all shards.
    pub fn has(self, point: usize) -> bool {
        let hash = random::fnv1a((point as u64).to_le_bytes());
        hash % u64::from(self.of) == u64::from(self.number - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected I/N with I from 1 to N, and N at most 100000";
        let (number, of) = text.split_once('/').ok_or(expected)?;
        let parse = |text: &str| text.parse::<u32>().map_err(|_| expected.to_owned());
        let (number, of) = (parse(number)?, parse(of)?);
        let is_one = (1..=of).contains(&number) && of <= 100_000;
        if is_one { Ok(Self { number, of }) } else { Err(expected.to_owned()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}/{}", self.number, self.of)
    }
}

/// The part of a grid that a shard writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The digest of the grid.
    pub grid: u64,
    pub shard: Shard,
}

impl Part {
    /// The name of its file.
    pub fn file_name(self) -> String {
        let Shard { number, of } = self.shard;
        format!("part-{number:05}-of-{of:05}-{:016x}.csv", self.grid)
    }

    /// The part of a file of that name; `None` for other files.
    pub fn of_file(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("part-")?.strip_suffix(".csv")?;
        let (number, rest) = rest.split_once("-of-")?;
        let (of, grid) = rest.split_once('-')?;
        let shard = format!("{}/{}", number.parse::<u32>().ok()?, of.parse::<u32>().ok()?);
        let part = Self { grid: u64::from_str_radix(grid, 16).ok()?, shard: shard.parse().ok()? };
        (part.file_name() == name).then_some(part)
    }
}

/// The last line of a part: a part without it was cut off.
const END: &str = "end";

/// The text of a part.
pub fn text(head: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("{head}\n{lines}{END}\n")
}

/// Head and lines of a part; `None` if the part was cut off.
pub fn read(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
    if lines.pop()? != END || lines.is_empty() {
        return None;
    }
    let head = lines.remove(0);
    Some((head, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_shard_and_shards_are_about_equal() {
        for of in [1, 2, 7, 100] {
            let shards: Vec<Shard> = (1..=of).map(|number| Shard { number, of }).collect();
            let mut counts = vec![0_u32; of as usize];
            for point in 0..10_000 {
                let mut homes = shards.iter().filter(|shard| shard.has(point));
                counts[homes.next().unwrap().number as usize - 1] += 1;
                assert_eq!(homes.next(), None);
            }
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*most < 2 * least, "{of}: {least} to {most}");
        }
    }

    #[test]
    fn names_and_texts_are_read_as_they_are_written() {
        let part = Part { grid: 0xabc, shard: "3/8".parse().unwrap() };
        assert_eq!(Part::of_file(&part.file_name()), Some(part));
        for bad in ["part-1-of-8-abc.csv", "part-00009-of-00008-0000000000000abc.csv", "x.csv"] {
            assert_eq!(Part::of_file(bad), None, "{bad}");
        }
        for bad in ["0/4", "5/4", "1", "1/x", "1/100001", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        let lines = ["1,2".to_owned(), "3,4".to_owned()];
        let whole = text("a,b", &lines);
        assert_eq!(read(&whole), Some(("a,b", vec!["1,2", "3,4"])));
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), None, "{cut}");
        }
    }
}
