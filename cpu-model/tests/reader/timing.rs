//! Rules, rises and their stages.

use cpu_model::CpuTable;

use super::{SMALL, check};

#[test]
fn rules_that_contradict_each_other_are_refused() {
    check(&[
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"avx2-heavy\", rate = 0.5, level = \"fast\"",
            "33: demand.rules[1]: found level slow for avx2-heavy from rate 0.25 on beside level \
             fast from rate 0.5 on, expected one rule a rate and a level that does not fall with \
             the rate",
        ),
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"avx2-heavy\", rate = 0.25, level = \"slow\"",
            "33: demand.rules[1]: found level slow for avx2-heavy from rate 0.25 on beside level \
             slow from rate 0.25 on, expected one rule a rate and a level that does not fall with \
             the rate",
        ),
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"amx\", level = \"slow\"",
            "32: demand.rules[0]: found a rule for amx, expected none for an unsupported class",
        ),
        (
            "class = \"avx2-light\", level",
            "class = \"avx3\", level",
            "32: demand.rules[0].class: found \"avx3\", expected one of scalar, avx2-light, \
             avx2-heavy, avx512-light, avx512-heavy, amx",
        ),
        (
            "\"amx\"]",
            "\"scalar\"]",
            "30: demand.unsupported[2]: found scalar, expected each class other than scalar at \
             most once",
        ),
    ]);
}

#[test]
fn stages_that_make_no_sense_are_refused() {
    check(&[
        (
            "to = \"slow\"",
            "to = \"fast\"",
            "49: rise[0].to: found level fast, expected a slower level than the rise starts from",
        ),
        (
            "kind = \"halt\"",
            "kind = \"halt\", rate = 0.5",
            "53: rise[0].stages[1].rate: found a rate, expected none for a halt",
        ),
        (
            "few_us = 2, rate = 0.25",
            "few_us = 2",
            "52: rise[0].stages[0].rate: found nothing, expected this field",
        ),
        (
            "few_us = 2, rate = 0.25",
            "few_us = 2, rate = 1",
            "52: rise[0].stages[0].rate: found 1, expected a number from 0.001 to 0.999 with at \
             most three decimals",
        ),
        (
            "kind = \"halt\"",
            "kind = \"halt\", level = \"slow\"",
            "53: rise[0].stages[1].level: found level slow, expected one between the rise's \
             `from`, which must be given, and its `to`",
        ),
        (
            "few_cores = 2\n",
            "",
            "51: rise[0].stages[0].few_us: found a duration for few active cores, expected \
             license.few_cores to say how many are few",
        ),
        (
            "[[rise]]\n",
            "[[rise]]\nto = \"slow\"\nsource = \"our choice\"\nstages = []\n[[rise]]\n",
            "52: rise[1]: found this rise again, expected each rise once",
        ),
        (
            "kind = \"halt\"",
            "kind = \"pause\"",
            "53: rise[0].stages[1].kind: found \"pause\", expected one of throttle-a, throttle-b, \
             halt",
        ),
        (
            "list = [{ signal",
            "list = [{ signal = \"license-1\", event = 1, umask = 1, scope = \"core\" }, { signal",
            "58: events.list[1]: found signal license-1 again, expected each signal once",
        ),
        (
            "domain = \"core\"",
            "domain = \"socket\"",
            "38: license.domain: found \"socket\", expected one of core, package",
        ),
    ]);
}

#[test]
fn the_more_specific_rise_wins() {
    let heavy = "[[rise]]\nfrom = \"fast\"\nto = \"slow\"\nheavy = true\nsource = \"our choice\"\n\
                 stages = []\n\n[events]";
    let table = CpuTable::parse(&SMALL.replace("[events]", heavy), "small.toml").unwrap();
    assert_eq!(table.transition_cost_ns(0, 1, true, false), Some(0));
    assert_eq!(table.transition_cost_ns(0, 1, false, false), Some(11_125));
    assert_eq!(table.transitions().len(), 2);
}
