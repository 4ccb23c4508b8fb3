use super::calls::put;
use super::*;
use crate::registration::member;

fn expanded(format: &str) -> String {
    let fields = Fields {
        level: 1,
        thread: 3,
        threads: 4,
        ancestor: -1,
        host: "node".to_owned(),
        cpus: vec![0, 1, 2, 6, 8, 9],
        ..Fields::default()
    };
    expand(format, &fields)
}

#[test]
fn fields_have_letters_and_names() {
    assert_eq!(expanded("%n of %{num_threads} on %H: %A"), "3 of 4 on node: 0-2,6,8-9");
}

#[test]
fn fields_have_a_width_a_side_and_zeros() {
    assert_eq!(expanded("[%4n][%.4n][%0.4n][%0.6H]"), "[3   ][   3][0003][  node]");
}

#[test]
fn text_that_is_no_field_is_printed_as_it_is() {
    assert_eq!(expanded("100%% %x %{thread %"), "100% undefined %{thread %");
}

#[test]
fn a_format_that_does_not_fit_is_cut_and_its_length_told() {
    let mut room = [b'x'; 4];
    // SAFETY: There are four bytes.
    let length = unsafe { put("abcdef", room.as_mut_ptr().cast(), 4) };
    assert_eq!((length, &room), (6, b"abc\0"));
}

#[test]
fn a_thread_outside_of_teams_knows_where_it_is() {
    let fields = fields(member());
    assert!(fields.native > 0 && !fields.cpus.is_empty());
}
