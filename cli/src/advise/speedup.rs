//! How much faster is a program by its own 512-bit code, as its user measured?

/// The speed-up of programs whose name fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Speedup {
    /// Pattern of names, as of `--class`.
    pub glob: String,
    /// Cycles with 256-bit code over cycles with 512-bit code.
    pub factor: f64,
}

/// Reads `GLOB=FACTOR`.
pub fn speedup(text: &str) -> Result<Speedup, String> {
    let expected =
        || "expected GLOB=FACTOR with a factor from 0.1 to 100, as 'x265*=1.12'".to_owned();
    let (glob, factor) = text.rsplit_once('=').ok_or_else(expected)?;
    let factor: f64 = factor.parse().map_err(|_| expected())?;
    if glob.is_empty() || !(0.1..=100.0).contains(&factor) {
        return Err(expected());
    }
    Ok(Speedup { glob: glob.to_owned(), factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_has_a_name_and_a_factor() {
        let found = speedup("x265*=1.12").unwrap();
        assert_eq!((found.glob.as_str(), found.factor), ("x265*", 1.12));
        for wrong in ["", "x265", "=1.1", "x265=", "x265=0", "x265=nan", "x265=inf", "x265=101"] {
            assert!(speedup(wrong).is_err(), "{wrong}");
        }
    }
}
