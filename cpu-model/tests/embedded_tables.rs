//! The embedded CPU tables: their values, and the values that they report as missing.

use cpu_model::{Class, CpuTable, CpuTableError, LicenseDomain, TurboMode, embedded};

/// Every embedded table with its missing values, joined by commas.
const MISSING: [(&str, &str); 17] = [
    ("cascade-lake", "turbo_off"),
    ("cascade-lake-sst-tf", "turbo_off"),
    ("core-i9-7940x", "turbo for 5 to 14 active cores, turbo_off"),
    ("granite-rapids", "turbo_off"),
    (
        "xeon-e5-2699-v3",
        "turbo for 1 to 17 active cores, turbo_off, demand.rules for avx2-light, \
         license.fall_halt_us, license.hold_us.avx, widen, rise non-avx -> avx",
    ),
    ("xeon-gold-5120", "turbo for 3 to 12 active cores"),
    (
        "xeon-gold-5512u",
        "turbo for 1 to 27 active cores, turbo.sse, turbo.avx2, turbo.avx-512, turbo.amx, \
         turbo_off, demand, license, widen, rise sse -> avx2, \
         rise sse -> avx-512, rise avx2 -> avx-512, rise sse -> avx-512-heavy, \
         rise avx2 -> avx-512-heavy, rise avx-512 -> avx-512-heavy, rise sse -> amx, \
         rise avx2 -> amx, rise avx-512 -> amx, rise avx-512-heavy -> amx",
    ),
    ("xeon-gold-6130", ""),
    ("xeon-gold-6140", "turbo for 1 to 16 active cores"),
    ("xeon-gold-6154", "turbo for 2 to 17 active cores"),
    ("xeon-gold-6248", "turbo"),
    ("xeon-gold-6326", "turbo, turbo_off, license.hold_us.avx-512, widen, rise non-avx -> avx-512"),
    (
        "xeon-platinum-8457c",
        "machine.ref_mhz, turbo for 2 to 48 active cores, turbo_off, demand, license, widen, \
         rise non-avx -> avx2, rise non-avx -> avx-512, rise avx2 -> avx-512",
    ),
    (
        "xeon-platinum-8480-plus",
        "turbo.avx2, turbo.avx-512, turbo.avx-512-heavy, turbo.amx, turbo_off, demand, license, \
         widen, rise sse -> avx2, rise sse -> avx-512, rise avx2 -> avx-512, \
         rise sse -> avx-512-heavy, rise avx2 -> avx-512-heavy, rise avx-512 -> avx-512-heavy, \
         rise sse -> amx, rise avx2 -> amx, rise avx-512 -> amx, rise avx-512-heavy -> amx",
    ),
    ("xeon-silver-4108", ""),
    ("xeon-silver-4116", "turbo for 1 to 11 active cores, turbo.non-avx, turbo.avx2"),
    ("xeon-w-2104", ""),
];

#[test]
fn every_embedded_table_reads_and_lacks_exactly_the_listed_values() {
    assert_eq!(embedded().len(), MISSING.len());
    for (&(name, text), (expected_name, expected)) in embedded().iter().zip(MISSING) {
        let table = CpuTable::parse(text, name).unwrap();
        assert_eq!((name, table.name.as_str()), (expected_name, expected_name));
        assert_eq!(table.missing().join(", "), expected, "{name}");
        assert_eq!(CpuTable::by_name(name), Ok(table));
    }
}

#[test]
fn a_run_on_an_incomplete_table_stops_and_names_the_missing_values() {
    for &(name, text) in embedded() {
        let table = CpuTable::parse(text, name).unwrap();
        for turbo in [TurboMode::On, TurboMode::Off] {
            let values: Vec<String> = table
                .missing()
                .into_iter()
                .filter(|value| turbo == TurboMode::Off || value != "turbo_off")
                .collect();
            match table.model(turbo) {
                Ok(model) => {
                    assert_eq!(values, [""; 0], "{name}");
                    assert_eq!(model.name, name);
                }
                Err(error) => {
                    assert_eq!(error, CpuTableError::Missing { cpu: name.to_owned(), values });
                }
            }
        }
    }
    let error = CpuTable::by_name("xeon-gold-6154").unwrap().model(TurboMode::On).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CPU xeon-gold-6154: a run needs turbo for 2 to 17 active cores, which the table does not \
         give"
    );
}

#[test]
fn turbo_rows_are_those_of_the_dissertation() {
    let turbo = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap().turbo;
    // D Table 3.1, in 100 MHz.
    let published = [
        (1..=2, [37, 36, 35]),
        (3..=4, [35, 34, 31]),
        (5..=8, [34, 31, 24]),
        (9..=12, [31, 26, 21]),
        (13..=16, [28, 24, 19]),
    ];
    for (cores, mhz) in published {
        for active in cores {
            for (level, expected) in (0u8..).zip(mhz) {
                assert_eq!(turbo.khz(turbo.row(active), level), expected * 100_000);
            }
        }
    }
    assert_eq!(turbo.ref_khz, 2_100_000);
}

#[test]
fn turbo_off_fixes_level_0_and_leaves_the_others_their_rows() {
    let turbo = CpuTable::by_name("xeon-silver-4108").unwrap().model(TurboMode::Off).unwrap().turbo;
    // With all cores busy 1.8, 1.8 and 1.2 GHz (M 3.1.2, Figure 3.3); never faster than level 0.
    let rows: Vec<[u32; 3]> =
        [1, 3, 5, 8].map(|n| [0, 1, 2].map(|level| turbo.khz(turbo.row(n), level) / 1000)).into();
    assert_eq!(
        rows,
        [[1800, 1800, 1800], [1800, 1800, 1500], [1800, 1800, 1200], [1800, 1800, 1200]]
    );
}

#[test]
fn granite_rapids_has_five_levels_and_a_hold_of_microseconds() {
    let cpu = CpuTable::by_name("granite-rapids").unwrap().model(TurboMode::On).unwrap();
    let levels: Vec<u8> = Class::ALL.iter().map(|&class| cpu.level_demanded(class, 1)).collect();
    assert_eq!(levels, [0, 0, 1, 2, 3, 4]);
    // Measured: return after 3 to 11 us; entry 1.6 to 1.9 us heavy, about 2.6 us AMX.
    assert!(cpu.license.hold_ns[1..5].iter().all(|hold_ns| (3_000..=11_000).contains(hold_ns)));
    assert!((1_600..=1_900).contains(&cpu.transition_cost_ns(0, 3, true, false)));
    assert_eq!(cpu.transition_cost_ns(2, 4, true, false), 2_600);
    assert!(cpu.supports(Class::Amx));
}

#[test]
fn haswell_shares_one_license_a_package() {
    let table = CpuTable::by_name("xeon-e5-2699-v3").unwrap();
    assert_eq!(table.license.unwrap().domain, Some(LicenseDomain::Package));
}

#[test]
fn every_section_of_every_table_names_its_source() {
    for &(name, _) in embedded() {
        let table = CpuTable::by_name(name).unwrap();
        let sources = table.sources();
        assert!(sources.len() >= 2 + table.rises.len(), "{name}");
        assert!(sources.iter().all(|(_, source)| source.len() > 5), "{name}: {sources:?}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_closest_and_all_others() {
    let error = CpuTable::by_name("xeon-gold-6131").unwrap_err().to_string();
    assert!(error.starts_with("found CPU name `xeon-gold-6131`, expected one of cascade-lake, "));
    assert!(error.ends_with("xeon-w-2104 (did you mean xeon-gold-6130?)"), "{error}");
    let short = CpuTable::by_name("4108").unwrap_err().to_string();
    assert!(short.ends_with("(did you mean xeon-silver-4108?)"), "{short}");
    let stranger = CpuTable::by_name("\u{1b}[31mpdp-11").unwrap_err().to_string();
    assert!(stranger.starts_with("found CPU name `\\u{1b}[31mpdp-11`"), "{stranger}");
    assert!(stranger.ends_with("xeon-w-2104"), "{stranger}");
}

#[test]
fn cores_of_low_priority_are_never_faster_than_the_others() {
    let table = CpuTable::by_name("cascade-lake-sst-tf").unwrap();
    let model = table.model(TurboMode::On).unwrap();
    let low = model.low_priority.as_ref().unwrap();
    assert_eq!(low.cores_per_package, 10);
    assert_eq!([0, 1, 2].map(|level| low.turbo.khz(0, level)), [2_600_000, 2_400_000, 2_100_000]);
    let mut text = CpuTable::by_name("xeon-gold-6130").unwrap();
    text.low_priority = table.low_priority;
    let low = text.model(TurboMode::On).unwrap().low_priority.unwrap().turbo;
    // Frequencies of many active cores are below the cap.
    let last = low.rows as usize - 1;
    assert_eq!([0, 1, 2].map(|level| low.khz(last, level)), [2_600_000, 2_400_000, 1_900_000]);
}
