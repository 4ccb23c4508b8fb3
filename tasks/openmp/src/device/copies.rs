//! Copies between devices, of which the host is the only one.

use std::ffi::{c_int, c_void};
use std::slice;

use libc::EINVAL;

use super::is_host;
use crate::registration::member;
use crate::task::depend;

/// The highest number of dimensions that [`omp_target_memcpy_rect`] takes: any.
const DIMENSIONS_MAX: c_int = c_int::MAX;

/// Copies between devices.
///
/// # Safety
/// Both pieces of memory have `bytes` bytes from their offsets on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memcpy(
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: c_int,
    from_device: c_int,
) -> c_int {
    if !is_host(to_device) || !is_host(from_device) {
        return EINVAL;
    }
    // SAFETY: both pieces of memory have `bytes` bytes from their offsets on.
    unsafe {
        let (to, from) = (to.cast::<u8>().add(to_offset), from.cast::<u8>().add(from_offset));
        libc::memmove(to.cast(), from.cast(), length);
    }
    0
}

/// Where a part of an array is, dimension by dimension, the one that changes slowest first.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// Elements that are copied.
    volume: &'a [usize],
    to_offsets: &'a [usize],
    from_offsets: &'a [usize],
    to_dimensions: &'a [usize],
    from_dimensions: &'a [usize],
}

impl Part<'_> {
    /// The part at one index of the first dimension.
    fn inner(self) -> Self {
        Self {
            volume: &self.volume[1..],
            to_offsets: &self.to_offsets[1..],
            from_offsets: &self.from_offsets[1..],
            to_dimensions: &self.to_dimensions[1..],
            from_dimensions: &self.from_dimensions[1..],
        }
    }

    /// Copies the part; `None` if a size overflows.
    ///
    /// # Safety
    /// The part lies in both arrays, whose elements have `element` bytes.
    unsafe fn copy(self, to: *mut u8, from: *const u8, element: usize) -> Option<()> {
        let bytes = |elements: &[usize]| {
            elements.iter().try_fold(element, |bytes, &number| bytes.checked_mul(number))
        };
        let to_slice = bytes(&self.to_dimensions[1..])?;
        let from_slice = bytes(&self.from_dimensions[1..])?;
        let to_first = to_slice.checked_mul(self.to_offsets[0])?;
        let from_first = from_slice.checked_mul(self.from_offsets[0])?;
        let length = element.checked_mul(self.volume[0])?;
        // SAFETY: the part lies in both arrays, whose elements have `element` bytes.
        unsafe {
            let (to, from) = (to.add(to_first), from.add(from_first));
            if self.volume.len() == 1 {
                libc::memmove(to.cast(), from.cast(), length);
                return Some(());
            }
            for index in 0..self.volume[0] {
                let (to, from) = (to.add(index * to_slice), from.add(index * from_slice));
                self.inner().copy(to, from, element)?;
            }
        }
        Some(())
    }
}

/// Copies a part of an array between devices. Without arrays returns how many dimensions are
/// allowed.
///
/// # Safety
/// Each list has a number for each dimension, and the part lies in both arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memcpy_rect(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dimensions: c_int,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_dimensions: *const usize,
    from_dimensions: *const usize,
    to_device: c_int,
    from_device: c_int,
) -> c_int {
    if to.is_null() && from.is_null() {
        return DIMENSIONS_MAX;
    }
    let number = usize::try_from(dimensions).unwrap_or(0);
    if number == 0 || !is_host(to_device) || !is_host(from_device) {
        return EINVAL;
    }
    // SAFETY: each list has a number for each dimension, and the part lies in both arrays.
    unsafe {
        let list = |first| slice::from_raw_parts(first, number);
        let part = Part {
            volume: list(volume),
            to_offsets: list(to_offsets),
            from_offsets: list(from_offsets),
            to_dimensions: list(to_dimensions),
            from_dimensions: list(from_dimensions),
        };
        part.copy(to.cast(), from.cast(), element).map_or(EINVAL, |()| 0)
    }
}

/// Waits for the dependences, then copies between devices. OpenMP would allow to return before.
///
/// # Safety
/// Both pieces of memory have `bytes` bytes from their offsets on; `objects` has `number` objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memcpy_async(
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: c_int,
    from_device: c_int,
    number: c_int,
    objects: *const *const c_void,
) -> c_int {
    // SAFETY: both pieces of memory have `bytes` bytes from their offsets on; `objects` has
    // `number` objects.
    unsafe {
        depend::wait(member(), &depend::of_objects(member(), objects, number));
        omp_target_memcpy(to, from, length, to_offset, from_offset, to_device, from_device)
    }
}

/// Waits for the dependences, then copies a part of an array between devices.
///
/// # Safety
/// Each list has a number for each dimension, and the part lies in both arrays; `objects` has
/// `number` objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_target_memcpy_rect_async(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dimensions: c_int,
    volume: *const usize,
    to_offsets: *const usize,
    from_offsets: *const usize,
    to_dimensions: *const usize,
    from_dimensions: *const usize,
    to_device: c_int,
    from_device: c_int,
    number: c_int,
    objects: *const *const c_void,
) -> c_int {
    // SAFETY: each list has a number for each dimension, and the part lies in both arrays;
    // `objects` has `number` objects.
    unsafe {
        if !to.is_null() || !from.is_null() {
            depend::wait(member(), &depend::of_objects(member(), objects, number));
        }
        omp_target_memcpy_rect(
            to,
            from,
            element,
            dimensions,
            volume,
            to_offsets,
            from_offsets,
            to_dimensions,
            from_dimensions,
            to_device,
            from_device,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::HOST;
    use super::*;

    #[test]
    fn the_host_copies_to_itself_and_to_nobody_else() {
        let (from, mut to) = (*b"abcd", *b"....");
        let mut copy = |device| {
            let to = to.as_mut_ptr().cast();
            // SAFETY: Two bytes from these offsets on are in both.
            unsafe { omp_target_memcpy(to, from.as_ptr().cast(), 2, 1, 2, HOST, device) }
        };
        assert_eq!((copy(1), copy(HOST)), (EINVAL, 0));
        assert_eq!(&to, b".cd.");
    }

    #[test]
    fn a_part_of_an_array_is_copied_row_by_row() {
        let from: Vec<u16> = (0..12).collect();
        let mut to = [99_u16; 8];
        let part = Part {
            volume: &[2, 2],
            to_offsets: &[0, 2],
            from_offsets: &[1, 1],
            to_dimensions: &[2, 4],
            from_dimensions: &[3, 4],
        };
        // SAFETY: the part lies in three rows of four, and in two rows of four.
        let copied = unsafe { part.copy(to.as_mut_ptr().cast(), from.as_ptr().cast(), 2) };
        assert_eq!((copied, to), (Some(()), [99, 99, 5, 6, 99, 99, 9, 10]));
        let vast = Part { to_dimensions: &[2, usize::MAX], ..part };
        // SAFETY: the call is refused before anything is copied.
        assert_eq!(unsafe { vast.copy(to.as_mut_ptr().cast(), from.as_ptr().cast(), 2) }, None);
    }
}
