//! The page of a machine: well-formed, self-contained, the answer first, nothing left out.

use cpu_model::{CpuTable, TurboMode};
use report::machine_page;
use silicon::{Findings, Modelled, Noise, characterize};

fn findings() -> Findings {
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    characterize(&mut Modelled::new(model, Noise::QUIET, 1), 1.0, 1, &mut |_| {})
}

/// The names of all elements; fails on anything that is not well-formed.
fn elements(page: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(page);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                names.push(tag.name().as_ref().to_owned());
            }
            quick_xml::events::Event::Eof => return names,
            _ => {}
        }
    }
}

#[test]
fn the_page_is_well_formed_and_fetches_nothing() {
    let page = machine_page(&findings());
    let elements = elements(&page);
    for refused in ["script", "link", "img", "iframe"] {
        assert!(!elements.iter().any(|name| name == refused), "{refused}");
    }
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn the_answer_comes_first_and_every_condition_has_its_curves() {
    let findings = findings();
    let page = machine_page(&findings);
    let answer = page.find("Yes: heavy 512-bit code lowers a core by").unwrap();
    let drawing = page.find("<svg").unwrap();
    assert!(answer < drawing);
    // Wide and narrow, each condition and the starts; scalar and four classes have curves.
    assert_eq!(page.matches("<figure").count(), 2 * (findings.conditions.len() + 1));
    assert_eq!(
        page.matches("class=\"curve c").count() - page.matches("<line class=\"curve").count(),
        2 * (5 * findings.conditions.len() + 4)
    );
}

#[test]
fn names_from_the_cpu_stay_text() {
    let mut findings = findings();
    findings.place.cpu_name = "<script>alert(1)</script>\u{202e}".to_owned();
    findings.hidden.push("<b>".to_owned());
    let page = machine_page(&findings);
    assert!(!elements(&page).iter().any(|name| name == "script" || name == "b"));
    assert!(!page.contains('\u{202e}'));
}
