//! From values to places, and where to put the ticks.

/// A linear axis over a range of ticks.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: f64,
}

impl Linear {
    /// An axis that holds `low..=high` between the pixels `from` and `to`, its ends widened to
    /// ticks; about `ticks` of them.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64), ticks: f64) -> Self {
        let span = (high - low).max(1e-9);
        let step = nice(span / ticks);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, from, to, step }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    pub(crate) fn ticks(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.step).round() as usize;
        (0..=count).map(|tick| self.low + tick as f64 * self.step).collect()
    }

    /// A tick in as many digits as the steps need.
    pub(crate) fn label(&self, tick: f64) -> String {
        let digits = (-self.step.log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{tick:.digits$}");
        if tick.abs() < self.step / 2.0 { "0".to_owned() } else { text }
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// A logarithmic axis over whole decades.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Log {
    /// An axis over the decades that hold `low..=high`, both positive.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let low = low.log10().floor() as i32;
        Self { low, high: (high.log10().ceil() as i32).max(low + 1), from, to }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Powers of ten.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        (self.low..=self.high).map(|power| 10f64.powi(power)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        let axis = Linear::new((-3.0, 31.4), (0.0, 100.0), 5.0);
        assert_eq!(axis.ticks(), [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!((axis.at(-10.0), axis.at(40.0)), (0.0, 100.0));
        assert_eq!((axis.label(0.0), axis.label(-10.0)), ("0".to_owned(), "-10".to_owned()));
    }

    #[test]
    fn small_steps_have_digits() {
        let axis = Linear::new((0.0, 0.23), (0.0, 100.0), 5.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|tick| axis.label(tick)).collect();
        assert_eq!(labels, ["0", "0.05", "0.10", "0.15", "0.20", "0.25"]);
    }

    #[test]
    fn decades_have_equal_distances() {
        let axis = Log::new((2.0, 900.0), (0.0, 300.0));
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert!((axis.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(axis.at(1e9), 300.0);
    }
}
