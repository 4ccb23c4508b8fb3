//! Means, and how far they may be off.

/// Two-sided 95 % quantiles of Student's t for 1..=30 degrees of freedom
/// (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2).
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
/// The same quantile of the normal distribution.
const Z_975: f64 = 1.959_963_985;

/// Arithmetic mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Half the width of the 95 % confidence interval of the mean; `None` below two values.
#[must_use]
pub fn ci95_half_width(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|&n| n > 0)?;
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    let deviation = (squares / freedom as f64).sqrt();
    Some(t_975(freedom) * deviation / (values.len() as f64).sqrt())
}

/// Beyond the table the expansion of Abramowitz and Stegun 26.7.5, which is off by less than 0.001.
fn t_975(freedom: usize) -> f64 {
    if let Some(&t) = T_975.get(freedom - 1) {
        return t;
    }
    let n = freedom as f64;
    let z = Z_975;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / n + second / (n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_have_the_interval_of_the_textbook() {
        // Mean 3, deviation sqrt(2.5), t(4) = 2.776: 2.776 * 1.5811 / sqrt(5) = 1.963.
        let half = ci95_half_width(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((half - 1.963).abs() < 1e-3, "{half}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(ci95_half_width(&[1.0]), None);
        assert_eq!(ci95_half_width(&[]), None);
    }

    #[test]
    fn wider_spread_widens_the_interval() {
        let narrow = ci95_half_width(&[1.0, 2.0, 3.0]).unwrap();
        let wide = ci95_half_width(&[0.0, 2.0, 4.0]).unwrap();
        assert!((wide - 2.0 * narrow).abs() < 1e-9);
    }

    #[test]
    fn expansion_continues_the_table() {
        // NIST: t(40) = 2.021, t(60) = 2.000, t(100) = 1.984.
        for (freedom, t) in [(40, 2.021), (60, 2.000), (100, 1.984)] {
            assert!((t_975(freedom) - t).abs() < 1e-3, "{freedom}");
        }
        assert!(t_975(31) < t_975(30));
    }
}
