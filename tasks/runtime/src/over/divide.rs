//! The ranges of loops: each can be divided into a first part and the rest.

use std::ops::Range;

/// Iterations that can be divided.
#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
pub trait Divide: Send + Sized {
    /// The argument of the loop's body.
    type Item;

    /// The number of items.
    fn len(&self) -> usize;

    /// The first `first` items, and the rest; the range has at least as many.
    fn divide(self, first: usize) -> (Self, Self);

    /// One after the other.
    fn items(self) -> impl Iterator<Item = Self::Item>;
}

macro_rules! ranges {
    ($($number:ty)*) => {$(
        impl Divide for Range<$number> {
            type Item = $number;

            fn len(&self) -> usize {
                let number = self.end.abs_diff(self.start);
                if self.is_empty() { 0 } else { usize::try_from(number).unwrap_or(usize::MAX) }
            }

            fn divide(self, first: usize) -> (Self, Self) {
                // Also right where a signed range has more numbers than its type has positive ones.
                let middle = self.start.wrapping_add(first as $number);
                (self.start..middle, middle..self.end)
            }

            fn items(self) -> impl Iterator<Item = $number> {
                self
            }
        }
    )*};
}

ranges!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl<'a, T: Sync> Divide for &'a [T] {
    type Item = &'a T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divide(self, first: usize) -> (Self, Self) {
        self.split_at(first)
    }

    fn items(self) -> impl Iterator<Item = &'a T> {
        self.iter()
    }
}

impl<'a, T: Send> Divide for &'a mut [T] {
    type Item = &'a mut T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divide(self, first: usize) -> (Self, Self) {
        self.split_at_mut(first)
    }

    fn items(self) -> impl Iterator<Item = &'a mut T> {
        self.iter_mut()
    }
}

/// Both at once, as far as the shorter one goes.
impl<A: Divide, B: Divide> Divide for (A, B) {
    type Item = (A::Item, B::Item);

    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }

    fn divide(self, first: usize) -> (Self, Self) {
        let ((a, after_a), (b, after_b)) = (self.0.divide(first), self.1.divide(first));
        ((a, b), (after_a, after_b))
    }

    fn items(self) -> impl Iterator<Item = Self::Item> {
        self.0.items().zip(self.1.items())
    }
}

/// Pieces of a range or of a slice: see [`Over::chunks`](super::Over::chunks).
#[derive(Debug)]
pub struct Chunks<D> {
    whole: D,
    elements: usize,
}

impl<D: Divide> Chunks<D> {
    /// # Panics
    /// They have no elements.
    #[track_caller]
    pub(super) fn new(whole: D, elements: usize) -> Self {
        assert!(elements > 0, "a chunk has elements");
        Self { whole, elements }
    }
}

impl<D: Divide> Divide for Chunks<D> {
    type Item = D;

    fn len(&self) -> usize {
        self.whole.len().div_ceil(self.elements)
    }

    fn divide(self, first: usize) -> (Self, Self) {
        let Self { whole, elements } = self;
        let at = first.saturating_mul(elements).min(whole.len());
        let (first, rest) = whole.divide(at);
        (Self { whole: first, elements }, Self { whole: rest, elements })
    }

    fn items(self) -> impl Iterator<Item = D> {
        let mut rest = Some(self.whole);
        std::iter::from_fn(move || {
            let whole = rest.take().filter(|whole| whole.len() > 0)?;
            let (first, after) = {
                let at = self.elements.min(whole.len());
                whole.divide(at)
            };
            rest = Some(after);
            Some(first)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_signed_range_may_be_longer_than_its_type_is_wide() {
        let (low, high) = (i8::MIN..i8::MAX).divide(200);
        assert_eq!((low, high), (-128..72, 72..127));
        assert_eq!(Divide::len(&(i8::MIN..i8::MAX)), 255);
        #[expect(clippy::reversed_empty_ranges, reason = "nobody runs it")]
        let none = 5..3;
        assert_eq!(Divide::len(&none), 0);
    }

    #[test]
    fn chunks_are_whole_but_the_last() {
        let (low, high) = Chunks::new(0..10, 4).divide(2);
        assert_eq!(low.items().collect::<Vec<_>>(), [0..4, 4..8]);
        assert_eq!(high.items().next(), Some(8..10));
    }
}
