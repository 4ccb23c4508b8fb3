use std::cell::RefCell;

use super::*;

thread_local! {
    static SEEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A microtask of as many arguments as there are names.
macro_rules! microtask {
    ($($name:ident)*) => {{
        unsafe extern "C" fn body(global: *mut i32, bound: *mut i32 $(, $name: usize)*) {
            // SAFETY: The tests pass numbers.
            assert_eq!(unsafe { (*global, *bound) }, (5, 7));
            SEEN.set(vec![$($name),*]);
        }
        let body: unsafe extern "C" fn(*mut i32, *mut i32 $(, $name: usize)*) = body;
        // SAFETY: Both are functions; it is called with the arguments that it has.
        unsafe { std::mem::transmute::<*const (), Microtask>(body as *const ()) }
    }};
}

fn seen_by(microtask: Microtask, argc: usize) -> Vec<usize> {
    let given: Vec<*mut c_void> = (1..=argc).map(|i| (i * 11) as *mut c_void).collect();
    let (mut global, mut bound) = (5, 7);
    let mut exit = std::ptr::null_mut();
    // SAFETY: The microtask has as many arguments as the array.
    unsafe {
        let exit = &mut exit;
        evenkeel_omp_invoke(microtask, &mut global, &mut bound, argc, given.as_ptr(), exit);
    }
    assert!(!exit.is_null());
    SEEN.take()
}

#[test]
fn a_microtask_gets_its_arguments_in_order() {
    let bodies = [
        microtask!(),
        microtask!(a),
        microtask!(a b),
        microtask!(a b c),
        microtask!(a b c d),
        microtask!(a b c d e),
        microtask!(a b c d e f),
        microtask!(a b c d e f g),
        microtask!(a b c d e f g h),
        microtask!(a b c d e f g h i),
    ];
    for (argc, body) in bodies.into_iter().enumerate() {
        let expected: Vec<usize> = (1..=argc).map(|i| i * 11).collect();
        assert_eq!(seen_by(body, argc), expected);
    }
}
