//! Parts of data that tasks take turns with: ranges of a slice.

use std::ops::{Bound, Range, RangeBounds};
use std::ptr;

use crate::access::{Access, Kind, RangeAccess};
use crate::data::{Argument, Data, Lends, TaskBuilder};

impl<T> Data<[T]> {
    /// A slice of which tasks of a scope use ranges.
    ///
    /// ```
    /// use evenkeel_runtime::{Data, scope};
    ///
    /// let mut cells = [1; 100];
    /// let data = Data::from_slice(&mut cells);
    /// scope(|s| {
    ///     s.task().inout_of(data, ..50).spawn(|low| low.fill(2));
    ///     s.task().inout_of(data, 50..).spawn(|high| high.fill(3)); // beside it
    ///     s.task().inout_of(data, 25..75).spawn(|all| all.reverse()); // after both
    /// });
    /// assert_eq!((cells[0], cells[25], cells[74], cells[75]), (2, 3, 2, 3));
    /// ```
    pub fn from_slice(slice: &mut [T]) -> &Self {
        const { assert!(size_of::<T>() > 0, "data without bytes has no address of its own") };
        // SAFETY: the layout is that of `[T]`, and the borrow stays exclusive.
        unsafe { &*(ptr::from_mut(slice) as *const Self) }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.value.get().len()
    }

    /// Whether the slice has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A range of a slice.
struct Part<T> {
    first: *mut T,
    elements: usize,
}

impl<T> Part<T> {
    /// # Panics
    /// The slice ends before the range.
    #[track_caller]
    fn new(data: &Data<[T]>, range: impl RangeBounds<usize>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => data.len(),
        };
        let Range { start, end } = start..end;
        let length = data.len();
        assert!(start <= end && end <= length, "{start}..{end} of a slice of {length} elements");
        let first = data.value.get().cast::<T>().wrapping_add(start);
        Self { first, elements: end - start }
    }

    fn range(&self, kind: Kind) -> RangeAccess {
        RangeAccess::new(self.first.addr(), self.elements * size_of::<T>(), kind)
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $Name:ident: $Bound:ident, $kind:ident, $Given:ty, $slice:path;)*) => {$(
        $(#[$doc])*
        pub struct $Name<T>(Part<T>);

        // SAFETY: the part becomes the reference that the task gets, which satisfies `$Bound`.
        unsafe impl<T: $Bound> Send for $Name<T> {}

        impl<'task, T> Lends<'task> for $Name<T> {
            type Given = $Given;

            unsafe fn give(&self) -> Self::Given {
                // SAFETY: the range is inside the slice; tasks whose ranges overlap this one, and
                // that conflict, have ended or have not begun.
                unsafe { $slice(self.0.first, self.0.elements) }
            }
        }

        impl<T: $Bound> Argument for $Name<T> {
            const IS_PART: bool = true;

            fn access(&self) -> Access {
                Access::new(self.0.first.addr(), Kind::$kind)
            }

            fn range(&self) -> Option<RangeAccess> {
                Some(self.0.range(Kind::$kind))
            }
        }
    )*};
}

parts! {
    /// A range that a task reads.
    InputOf: Sync, Read, &'task [T], std::slice::from_raw_parts;
    /// A range that a task writes, and may read.
    InOutOf: Send, Write, &'task mut [T], std::slice::from_raw_parts_mut;
    /// A range that a task uses in parallel with other concurrent tasks: the task synchronises its
    /// own writes.
    ConcurrentOf: Sync, Concurrent, &'task [T], std::slice::from_raw_parts;
}

macro_rules! adds {
    ($($A:ident $a:ident)*) => {
        impl<'a, 'scope, $($A: Argument,)*> TaskBuilder<'a, 'scope, ($($A,)*)> {
            /// The task reads this range.
            ///
            /// # Panics
            /// The slice ends before the range.
            #[track_caller]
            pub fn input_of<T: Sync>(
                self,
                data: &'scope Data<[T]>,
                range: impl RangeBounds<usize>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InputOf<T>,)> {
                let part = Part::new(data, range);
                self.with(|($($a,)*)| ($($a,)* InputOf(part),))
            }

            /// The task reads and writes this range.
            ///
            /// # Panics
            /// The slice ends before the range.
            #[track_caller]
            pub fn inout_of<T: Send>(
                self,
                data: &'scope Data<[T]>,
                range: impl RangeBounds<usize>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InOutOf<T>,)> {
                let part = Part::new(data, range);
                self.with(|($($a,)*)| ($($a,)* InOutOf(part),))
            }

            /// The task changes this range in parallel with other concurrent tasks. Tasks that only
            /// read the range come before or after.
            ///
            /// # Panics
            /// The slice ends before the range.
            #[track_caller]
            pub fn concurrent_of<T: Sync>(
                self,
                data: &'scope Data<[T]>,
                range: impl RangeBounds<usize>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* ConcurrentOf<T>,)> {
                let part = Part::new(data, range);
                self.with(|($($a,)*)| ($($a,)* ConcurrentOf(part),))
            }
        }
    };
}

adds!();
adds!(A a);
adds!(A a B b);
adds!(A a B b C c);
adds!(A a B b C c D d);
adds!(A a B b C c D d E e);
