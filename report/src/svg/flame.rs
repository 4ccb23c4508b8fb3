//! Flame graph: call stacks as boxes below each other, the outermost function on top, each as wide
//! as the weight of the stacks that it is in.

use std::collections::BTreeMap;

use crate::drawing::{Anchor, Svg, fit, text_width};

const ROW: f64 = 18.0;
/// The least width of a box that is drawn, in pixels.
const WIDTH_MIN: f64 = 0.8;

/// What is drawn.
pub(crate) struct Flame {
    /// Names from the outermost to the innermost, and a weight that is not negative.
    pub(crate) stacks: Vec<(Vec<String>, f64)>,
    /// The name of the box of all stacks.
    pub(crate) all: String,
    /// How many boxes may be below each other. Of deeper stacks the outermost are left out.
    pub(crate) depth_max: usize,
    /// How large the boxes may become together.
    pub(crate) bytes_max: usize,
    /// A weight in words.
    pub(crate) words: fn(f64) -> String,
}

/// A function below its callers.
#[derive(Default)]
struct Node {
    weight: f64,
    /// Of it, that of stacks that end here.
    own: f64,
    below: BTreeMap<String, Node>,
}

/// A box: its name, its weights, its row, and the weight to its left.
struct Box<'a> {
    name: &'a str,
    weight: f64,
    own: f64,
    row: usize,
    from: f64,
}

/// Draws the stacks; returns the drawing, its height, and how many boxes are too narrow or had no
/// room.
pub(crate) fn flame(what: &Flame, width: f64) -> (Svg, f64, usize) {
    let root = tree(what);
    let mut boxes = Vec::new();
    boxes_of(&what.all, &root, (0, 0.0), &mut boxes);
    // Callers before those that they call, so that no box is without its caller.
    boxes.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
    let scale = (width - 2.0) / root.weight.max(f64::MIN_POSITIVE);
    let most = boxes.iter().map(|it| it.own).fold(0.0, f64::max);
    let mut body = String::new();
    let mut rows = 0;
    let mut drawn = 0;
    for it in &boxes {
        if it.weight * scale < WIDTH_MIN || body.len() > what.bytes_max {
            break;
        }
        body += &drawing(what, it, scale, most, root.weight);
        rows = rows.max(it.row + 1);
        drawn += 1;
    }
    let mut svg = Svg::new(width);
    svg.raw(&body);
    (svg, ROW * rows as f64 + 2.0, boxes.len() - drawn)
}

fn tree(what: &Flame) -> Node {
    let mut root = Node::default();
    for (names, weight) in &what.stacks {
        // The first name is kept: it is the program.
        let deepest = what.depth_max.max(2);
        let hidden = if names.len() > deepest { names.len() - deepest + 1 } else { 0 };
        root.weight += weight;
        let mut node = &mut root;
        for (place, name) in names.iter().enumerate() {
            if (1..=hidden).contains(&place) && place != hidden {
                continue;
            }
            let name = if place == hidden && hidden > 0 { "…" } else { name };
            node = node.below.entry(name.to_owned()).or_default();
            node.weight += weight;
        }
        node.own += weight;
    }
    root
}

fn boxes_of<'a>(name: &'a str, node: &'a Node, (row, from): (usize, f64), all: &mut Vec<Box<'a>>) {
    all.push(Box { name, weight: node.weight, own: node.own, row, from });
    let mut from = from;
    for (name, below) in &node.below {
        boxes_of(name, below, (row + 1, from), all);
        from += below.weight;
    }
}

fn drawing(what: &Flame, it: &Box, scale: f64, most: f64, all: f64) -> String {
    let (x, y, width) = (1.0 + it.from * scale, 1.0 + ROW * it.row as f64, it.weight * scale);
    let own =
        if it.own > 0.0 { format!(", {} in itself", (what.words)(it.own)) } else { String::new() };
    let pct = 100.0 * it.weight / all.max(f64::MIN_POSITIVE);
    let title = format!("{}: {}, {pct:.1} %{own}", it.name, (what.words)(it.weight));
    let mut piece = Svg::new(0.0);
    piece.shade((x, y), (width, ROW), it.own / most.max(f64::MIN_POSITIVE), &title);
    if text_width("abc") < width - 6.0 {
        piece.text("small", (x + 3.0, y + 13.0), Anchor::Start, &fit(it.name, width - 6.0));
    }
    piece.into_body()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stacks: &[(&str, f64)], depth_max: usize) -> Flame {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect();
        Flame {
            stacks: stacks.iter().map(|it| (names(it.0), it.1)).collect(),
            all: "all".to_owned(),
            depth_max,
            bytes_max: 100_000,
            words: |weight| format!("{weight} s"),
        }
    }

    fn titles(what: &Flame) -> Vec<String> {
        let body = flame(what, 102.0).0.into_body();
        let titles = body.split("<title>").skip(1).map(|it| it.split('<').next().unwrap());
        titles.map(str::to_owned).collect()
    }

    #[test]
    fn a_box_has_the_weight_of_all_stacks_through_it() {
        let found = titles(&of(&[("a b", 3.0), ("a", 1.0), ("a b", 4.0), ("d", 2.0)], 9));
        let expected = [
            "all: 10 s, 100.0 %",
            "a: 8 s, 80.0 %, 1 s in itself",
            "b: 7 s, 70.0 %, 7 s in itself",
            "d: 2 s, 20.0 %, 2 s in itself",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn of_a_deep_stack_the_program_and_the_innermost_functions_remain() {
        let found = titles(&of(&[("app 1 2 3 4 5", 1.0)], 4));
        let names: Vec<&str> = found.iter().map(|it| it.split(':').next().unwrap()).collect();
        assert_eq!(names, ["all", "app", "…", "4", "5"]);
        let whole = titles(&of(&[("app 1 2 3", 1.0)], 4));
        assert!(!whole.iter().any(|title| title.starts_with('…')), "{whole:?}");
    }

    #[test]
    fn boxes_too_narrow_to_be_seen_are_counted() {
        let what = of(&[("a", 1000.0), ("b", 1.0), ("c", 1.0)], 9);
        let (_, height, left_out) = flame(&what, 102.0);
        assert_eq!((height, left_out), (2.0 + 2.0 * ROW, 2));
    }
}
