//! Written by `cargo xtask gen` from data/perfmon_events.csv and data/questions.toml.

use super::events::{Event, Microarchitecture, Model, Question, Scope};

/// What events miss.
const MISSES: [&str; 18] = [
    "all but additions, multiplications and VNNI; no event counts 512-bit integer instructions",
    "all but half precision; a fused multiply-add counts 2",
    "any promise of Intel: the unit mask is undocumented",
    "integer arithmetic (video, ChaCha20-Poly1305), logic, shuffles, moves; a fused multiply-add \
    counts 2",
    "integer arithmetic, logic, shuffles, moves",
    "nothing while the thread runs",
    "nothing while the thread runs; the watchdog of hanging CPUs (kernel.nmi_watchdog) takes \
    this counter",
    "nothing, but it counts too much: a full store buffer while loads wait, too",
    "single precision, integer arithmetic, logic, shuffles, moves",
    "stalls of the front end",
    "stalls of the front end, and memory that is neither local nor of another module",
    "stores that delay only loads",
    "the difference between heavy and light: moves, loads and stores count too",
    "the halt while the frequency changes, and which thread of the core caused the change",
    "waiting that the core hides by other work; hits in L2 count as work",
    "waiting that the core hides by other work; on Haswell the errata HSM63 and HSM80 apply",
    "which thread of the core demands the level, and whether running code still needs it",
    "which thread of the core uses the unit",
];

/// Every microarchitecture whose events are known.
pub(super) const TABLE: &[Microarchitecture] = &[
    Microarchitecture {
        abbreviation: "HSX",
        name: "Haswell-EP Xeon E5 v3",
        family: 6,
        models: &[
            Model { number: 0x3f, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 HSX/events (V29)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[15],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0x0f], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_PENDING"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[7],
                event: 0xa2, umask: 0x08, cmask: 0, counters: [0x0f, 0xff], names: &[
                "RESOURCE_STALLS.SB"] },
            Event { question: Question::Avx256, scope: Scope::Thread, misses: MISSES[12],
                event: 0xc6, umask: 0x07, cmask: 0, counters: [0x0f, 0xff], names: &[
                "AVX_INSTS.ALL"] },
        ],
    },
    Microarchitecture {
        abbreviation: "BDX",
        name: "Broadwell-EP Xeon E5 v4",
        family: 6,
        models: &[
            Model { number: 0x4f, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 BDX/events (V23)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0xff], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[7],
                event: 0xa2, umask: 0x08, cmask: 0, counters: [0x0f, 0xff], names: &[
                "RESOURCE_STALLS.SB"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0x0f, 0x0f], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
        ],
    },
    Microarchitecture {
        abbreviation: "SKX",
        name: "Skylake-SP",
        family: 6,
        models: &[
            Model { number: 0x55, steppings: (0, 4) },
        ],
        source: "intel/perfmon 6dadedf3aa48 SKX/events (V1.37)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::License0, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x07, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL0_TURBO_LICENSE"] },
            Event { question: Question::License1, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x18, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL1_TURBO_LICENSE"] },
            Event { question: Question::License2, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x20, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL2_TURBO_LICENSE"] },
            Event { question: Question::Throttle, scope: Scope::Core, misses: MISSES[13],
                event: 0x28, umask: 0x40, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.THROTTLE"] },
            Event { question: Question::License0Narrow, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x02, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_02"] },
            Event { question: Question::License0Avx2Light, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x04, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_04"] },
            Event { question: Question::License1Avx2Heavy, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x08, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_08"] },
            Event { question: Question::License1Avx512Light, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x10, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_10"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0xff], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 0, counters: [0x0f, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0x0f, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0x0f, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
        ],
    },
    Microarchitecture {
        abbreviation: "CLX",
        name: "Cascade Lake-SP",
        family: 6,
        models: &[
            Model { number: 0x55, steppings: (5, 11) },
        ],
        source: "intel/perfmon 6dadedf3aa48 CLX/events (V1.25)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::License0, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x07, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL0_TURBO_LICENSE"] },
            Event { question: Question::License1, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x18, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL1_TURBO_LICENSE"] },
            Event { question: Question::License2, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x20, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.LVL2_TURBO_LICENSE"] },
            Event { question: Question::Throttle, scope: Scope::Core, misses: MISSES[13],
                event: 0x28, umask: 0x40, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.THROTTLE"] },
            Event { question: Question::License0Narrow, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x02, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_02"] },
            Event { question: Question::License0Avx2Light, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x04, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_04"] },
            Event { question: Question::License1Avx2Heavy, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x08, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_08"] },
            Event { question: Question::License1Avx512Light, scope: Scope::Core, misses: MISSES[2],
                event: 0x28, umask: 0x10, cmask: 0, counters: [0x0f, 0xff], names: &[
                "CORE_POWER.UMASK_10"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0xff], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 0, counters: [0x0f, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0x0f, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0x0f, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
        ],
    },
    Microarchitecture {
        abbreviation: "ICX",
        name: "Ice Lake-SP",
        family: 6,
        models: &[
            Model { number: 0x6a, steppings: (0, 15) },
            Model { number: 0x6c, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 ICX/events (V1.30)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::License0, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x07, cmask: 0, counters: [0x0f, 0x0f], names: &[
                "CORE_POWER.LVL0_TURBO_LICENSE"] },
            Event { question: Question::License1, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x18, cmask: 0, counters: [0x0f, 0x0f], names: &[
                "CORE_POWER.LVL1_TURBO_LICENSE"] },
            Event { question: Question::License2, scope: Scope::Core, misses: MISSES[16],
                event: 0x28, umask: 0x20, cmask: 0, counters: [0x0f, 0x0f], names: &[
                "CORE_POWER.LVL2_TURBO_LICENSE"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0x0f], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 2, counters: [0xff, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
        ],
    },
    Microarchitecture {
        abbreviation: "SPR",
        name: "Sapphire Rapids",
        family: 6,
        models: &[
            Model { number: 0x8f, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 SPR/events (V1.39)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0x0f], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 2, counters: [0xff, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
            Event { question: Question::Fp16x256, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x08, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.256B_PACKED_HALF"] },
            Event { question: Question::Fp16x512, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x10, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.512B_PACKED_HALF"] },
            Event { question: Question::Int256, scope: Scope::Thread, misses: MISSES[0],
                event: 0xe7, umask: 0xac, cmask: 0, counters: [0xff, 0xff], names: &[
                "INT_VEC_RETIRED.256BIT"] },
            Event { question: Question::AmxBusy, scope: Scope::Core, misses: MISSES[17],
                event: 0xb7, umask: 0x02, cmask: 0, counters: [0xff, 0xff], names: &[
                "EXE.AMX_BUSY"] },
        ],
    },
    Microarchitecture {
        abbreviation: "EMR",
        name: "Emerald Rapids",
        family: 6,
        models: &[
            Model { number: 0xcf, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 EMR/events (V1.24)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0x0f], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 2, counters: [0xff, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
            Event { question: Question::Fp16x256, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x08, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.256B_PACKED_HALF"] },
            Event { question: Question::Fp16x512, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x10, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.512B_PACKED_HALF"] },
            Event { question: Question::Int256, scope: Scope::Thread, misses: MISSES[0],
                event: 0xe7, umask: 0xac, cmask: 0, counters: [0xff, 0xff], names: &[
                "INT_VEC_RETIRED.256BIT"] },
            Event { question: Question::AmxBusy, scope: Scope::Core, misses: MISSES[17],
                event: 0xb7, umask: 0x02, cmask: 0, counters: [0xff, 0xff], names: &[
                "EXE.AMX_BUSY"] },
        ],
    },
    Microarchitecture {
        abbreviation: "GNR",
        name: "Granite Rapids (P-core Xeon 6)",
        family: 6,
        models: &[
            Model { number: 0xad, steppings: (0, 15) },
            Model { number: 0xae, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 GNR/events (V1.20)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[14],
                event: 0xa3, umask: 0x05, cmask: 5, counters: [0x0f, 0x0f], names: &[
                "CYCLE_ACTIVITY.STALLS_L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0xa6, umask: 0x40, cmask: 2, counters: [0xff, 0xff], names: &[
                "EXE_ACTIVITY.BOUND_ON_STORES"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE"] },
            Event { question: Question::Fp512, scope: Scope::Thread, misses: MISSES[3],
                event: 0xc7, umask: 0xc0, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE",
                "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE"] },
            Event { question: Question::Fp16x256, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x08, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.256B_PACKED_HALF"] },
            Event { question: Question::Fp16x512, scope: Scope::Thread, misses: MISSES[1],
                event: 0xcf, umask: 0x10, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_ARITH_INST_RETIRED2.512B_PACKED_HALF"] },
            Event { question: Question::Int256, scope: Scope::Thread, misses: MISSES[0],
                event: 0xe7, umask: 0xac, cmask: 0, counters: [0xff, 0xff], names: &[
                "INT_VEC_RETIRED.256BIT"] },
            Event { question: Question::AmxBusy, scope: Scope::Core, misses: MISSES[17],
                event: 0xb7, umask: 0x02, cmask: 0, counters: [0xff, 0xff], names: &[
                "EXE.AMX_BUSY"] },
        ],
    },
    Microarchitecture {
        abbreviation: "SRF",
        name: "Sierra Forest (E-core Xeon 6)",
        family: 6,
        models: &[
            Model { number: 0xaf, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 SRF/events (V1.18)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[9],
                event: 0x34, umask: 0x7e, cmask: 0, counters: [0xff, 0xff], names: &[
                "MEM_BOUND_STALLS_LOAD.L2_MISS"] },
            Event { question: Question::BoundOnStores, scope: Scope::Thread, misses: MISSES[11],
                event: 0x34, umask: 0x80, cmask: 0, counters: [0xff, 0xff], names: &[
                "MEM_BOUND_STALLS_LOAD.SBFULL"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[8],
                event: 0xc7, umask: 0x20, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_INST_RETIRED.256B_DP"] },
        ],
    },
    Microarchitecture {
        abbreviation: "CWF",
        name: "Clearwater Forest (E-core Xeon 6+)",
        family: 6,
        models: &[
            Model { number: 0xdd, steppings: (0, 15) },
        ],
        source: "intel/perfmon 6dadedf3aa48 CWF/events (V1.04)",
        events: &[
            Event { question: Question::Cycles, scope: Scope::Thread, misses: MISSES[6],
                event: 0x00, umask: 0x02, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.THREAD"] },
            Event { question: Question::RefCycles, scope: Scope::Thread, misses: MISSES[5],
                event: 0x00, umask: 0x03, cmask: 0, counters: [0x00, 0x00], names: &[
                "CPU_CLK_UNHALTED.REF_TSC"] },
            Event { question: Question::StallsL2Miss, scope: Scope::Thread, misses: MISSES[10],
                event: 0x34, umask: 0x1e, cmask: 0, counters: [0xff, 0xff], names: &[
                "MEM_BOUND_STALLS_LOAD.LLC_HIT",
                "MEM_BOUND_STALLS_LOAD.LLC_MISS_LOCALMEM",
                "MEM_BOUND_STALLS_LOAD.LLC_MISS_OTHERMOD"] },
            Event { question: Question::Fp256, scope: Scope::Thread, misses: MISSES[4],
                event: 0xc7, umask: 0x30, cmask: 0, counters: [0xff, 0xff], names: &[
                "FP_INST_RETIRED.256B_DP",
                "FP_INST_RETIRED.256B_SP"] },
        ],
    },
];
