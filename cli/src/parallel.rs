//! Runs in parallel whose outcome does not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use rayon::prelude::*;

/// The results in the order of the items.
///
/// # Errors
/// That of the first item that fails, whichever thread fails first: only items behind one that
/// failed are left out.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    run: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let failed = AtomicUsize::new(usize::MAX);
    let one = |(place, item): (usize, &T)| {
        if place > failed.load(Ordering::Relaxed) {
            return None;
        }
        let result = run(item);
        if result.is_err() {
            failed.fetch_min(place, Ordering::Relaxed);
        }
        Some(result)
    };
    let results: Vec<Option<Result<R>>> = items.par_iter().enumerate().map(one).collect();
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    #[test]
    fn results_have_the_order_of_the_items_and_the_first_error_is_told() {
        let items: Vec<u32> = (0..1000).collect();
        assert_eq!(in_order(&items, |&item| Ok(item)).unwrap(), items);
        for _ in 0..20 {
            let error = in_order(&items, |&item| {
                ensure!(item % 300 != 299, "{item}");
                Ok(())
            });
            assert_eq!(error.unwrap_err().to_string(), "299");
        }
    }
}
