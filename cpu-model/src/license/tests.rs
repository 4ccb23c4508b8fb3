//! The machine on structs that hold anything: total, bounded, without a stuck clock.

use proptest::array::{uniform3, uniform6};
use proptest::prelude::*;

use super::*;

const TABLE_WORDS: usize = size_of::<LicenseTable>() / 8;

/// A table of arbitrary bytes; `small` keeps half of the words near zero, where branches are.
fn any_table() -> impl Strategy<Value = Box<LicenseTable>> {
    let word = prop_oneof![any::<u64>(), 0..10_000u64, Just(0), Just(u64::MAX)];
    proptest::collection::vec(word, TABLE_WORDS).prop_map(|words| {
        let words: Box<[u64; TABLE_WORDS]> = words.try_into().unwrap();
        // SAFETY: the table has the size and alignment of the array (asserted below) and
        // consists of integers alone, for which all bytes are valid.
        Box::new(unsafe { std::mem::transmute::<[u64; TABLE_WORDS], LicenseTable>(*words) })
    })
}

const _: () = assert!(size_of::<LicenseTable>() == 8 * TABLE_WORDS);

fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..10_000u64, Just(u64::MAX)]
}

fn any_byte() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), 0..8u8]
}

prop_compose! {
    fn any_demand()(level in any_byte(), width in any_byte(), heavy in any_byte()) -> Demand {
        Demand { level, width, heavy, pad: 0 }
    }
}

prop_compose! {
    fn any_license()(
        stage_ends_ns in any_time(),
        level_expires_ns in uniform6(any_time()),
        width_expires_ns in uniform3(any_time()),
        demand in any_demand(),
        [granted, target, width, stage, phase, rise_from] in uniform6(any_byte()),
        rise_heavy in any_byte(),
        few in any_byte(),
    ) -> License {
        License(Raw {
            stage_ends_ns, level_expires_ns, width_expires_ns, demand, granted, target, width,
            stage, phase, rise_from, rise_heavy, few,
        })
    }
}

fn levels_in_use(table: &LicenseTable) -> u8 {
    if (1..=LEVELS_MAX as u32).contains(&table.levels) { table.levels as u8 } else { 1 }
}

proptest! {
    #[test]
    fn any_state_and_table_have_a_bounded_effect(license in any_license(), table in any_table()) {
        let effect = license.effect(&table);
        prop_assert!(effect.rate_permille <= FULL_RATE_PERMILLE);
        prop_assert!(effect.level < levels_in_use(&table));
    }

    #[test]
    fn any_state_finds_back_to_an_orderly_one(
        mut license in any_license(),
        table in any_table(),
        demand in any_demand(),
        active_cores in any::<u32>(),
        start_ns in 0..1_000_000u64,
    ) {
        let mut now_ns = start_ns;
        license.demand(&table, demand, active_cores, now_ns);
        // A stage of the old transition, the fall or rise after it, and a fall a level.
        for _ in 0..40 {
            let Some(next_ns) = license.next_ns() else { break };
            now_ns = now_ns.max(next_ns);
            license.advance(&table, active_cores, now_ns);
            prop_assert!(license.next_ns().is_none_or(|next_ns| next_ns > now_ns));
        }
        prop_assert_eq!(license.next_ns(), None);
        prop_assert!(license.demanded() < levels_in_use(&table));
    }
}
