//! Parts: the points of a shard, in a file that says which grid and which shard.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail};

use super::table::Table;

/// One of several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    pub of: u32,
}

impl Shard {
    /// The only one.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether a point belongs to the shard. Points are dealt by hash, so that a slow corner of a
    /// grid is spread over all shards.
    pub fn has(self, point: u64) -> bool {
        random::fnv1a(point.to_le_bytes()) % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// The name of the file of its part.
    pub fn file_name(self) -> String {
        format!("part-{:05}-of-{:05}.parquet", self.number, self.of)
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

/// Which grid a part is of, by its digest, and which shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    pub grid: u64,
    pub shard: Shard,
}

impl fmt::Display for Origin {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:016x} {}", self.grid, self.shard)
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (grid, shard) = text.split_once(' ').ok_or("no grid and shard")?;
        let grid = u64::from_str_radix(grid, 16).map_err(|error| error.to_string())?;
        Ok(Self { grid, shard: shard.parse()? })
    }
}

/// Reads a part.
pub fn read(path: &Path) -> Result<(Table, Origin)> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("reading {name}"))?;
    let (table, origin) = Table::of_parquet(bytes).with_context(|| {
        format!("{name}: it is no whole part; remove it, and run its shard again")
    })?;
    match origin.parse() {
        Ok(origin) => Ok((table, origin)),
        Err(why) => bail!("{name}: {why}"),
    }
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
    fn shards_and_origins_are_read_as_they_are_written() {
        let origin = Origin { grid: 0xabc, shard: "3/8".parse().unwrap() };
        assert_eq!(origin.to_string().parse(), Ok(origin));
        assert_eq!(origin.shard.file_name(), "part-00003-of-00008.parquet");
        for bad in ["0/4", "5/4", "1", "1/x", "1/100001", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
