//! Numbers of Perfetto's fields, those of its protos of version 0.59: `trace_packet.proto`,
//! `ftrace_event_bundle.proto`, `ftrace_event.proto`, `generic.proto`, `process_tree.proto`,
//! `system_info.proto`, `track_event.proto`, `debug_annotation.proto`.

/// `Trace.packet`.
pub const PACKET: u64 = 1;

/// Fields of a `TracePacket`.
pub mod packet {
    pub const BUNDLE: u64 = 1;
    pub const PROCESS_TREE: u64 = 2;
    pub const TIME: u64 = 8;
    pub const SEQUENCE: u64 = 10;
    pub const TRACK_EVENT: u64 = 11;
    pub const SEQUENCE_FLAGS: u64 = 13;
    pub const SYSTEM_INFO: u64 = 45;
    pub const COMPRESSED: u64 = 50;
    pub const TRACK_DESCRIPTOR: u64 = 60;
}

/// Fields of an `FtraceEventBundle`.
pub mod bundle {
    pub const CPU: u64 = 1;
    pub const EVENT: u64 = 2;
    pub const LOST: u64 = 3;
    pub const COMPACT: u64 = 4;
}

/// Fields of an `FtraceEvent`, of which one is the event itself.
pub mod event {
    pub const TIME: u64 = 1;
    pub const PID: u64 = 2;
    pub const FLAGS: u64 = 5;

    pub const SWITCH: u64 = 4;
    pub const FREQUENCY: u64 = 11;
    pub const WAKEUP: u64 = 17;
    pub const WAKING: u64 = 20;
    pub const IPI_ENTRY: u64 = 21;
    pub const IPI_EXIT: u64 = 22;
    pub const SOFTIRQ_ENTRY: u64 = 24;
    pub const SOFTIRQ_EXIT: u64 = 25;
    pub const IRQ_ENTRY: u64 = 36;
    pub const IRQ_EXIT: u64 = 37;
    pub const WAKEUP_NEW: u64 = 114;
    pub const EXEC: u64 = 237;
    pub const EXIT: u64 = 238;
    pub const FORK: u64 = 239;
    pub const GENERIC: u64 = 327;
    pub const MIGRATE: u64 = 491;
    pub const HRTIMER_ENTRY: u64 = 553;
    pub const HRTIMER_EXIT: u64 = 554;
    pub const LOCAL_TIMER_ENTRY: u64 = 559;
    pub const LOCAL_TIMER_EXIT: u64 = 560;
}

/// Fields of a `CompactSched`: columns of switches and of wake-ups.
pub mod compact {
    pub const SWITCH_TIME: u64 = 1;
    pub const SWITCH_STATE: u64 = 2;
    pub const SWITCH_NEXT: u64 = 3;
    pub const SWITCH_PRIO: u64 = 4;
    pub const NAMES: u64 = 5;
    pub const SWITCH_NAME: u64 = 6;
    pub const WAKING_TIME: u64 = 7;
    pub const WAKING_PID: u64 = 8;
    pub const WAKING_CPU: u64 = 9;
    pub const WAKING_PRIO: u64 = 10;
    pub const WAKING_NAME: u64 = 11;
    pub const WAKING_FLAGS: u64 = 12;
}

/// Fields of a `GenericFtraceEvent` and of its fields.
pub mod generic {
    pub const NAME: u64 = 1;
    pub const FIELD: u64 = 2;
    pub const FIELD_NAME: u64 = 1;
    pub const FIELD_TEXT: u64 = 3;
    pub const FIELD_SIGNED: u64 = 4;
    pub const FIELD_NUMBER: u64 = 5;
}

/// Fields of a `ProcessTree` and its threads.
pub mod tree {
    pub const PROCESS: u64 = 1;
    pub const THREAD: u64 = 2;
    pub const THREAD_TID: u64 = 1;
    pub const THREAD_NAME: u64 = 2;
    pub const THREAD_PROCESS: u64 = 3;
}

/// Fields of a `SystemInfo` and of its `Utsname`.
pub mod system {
    pub const UTSNAME: u64 = 1;
    pub const RELEASE: u64 = 3;
}

/// Fields of a `TrackEvent` and of its `DebugAnnotation`s.
pub mod track {
    pub const ANNOTATION: u64 = 4;
    pub const KIND: u64 = 9;
    pub const TRACK: u64 = 11;
    pub const NAME: u64 = 23;
    pub const COUNTER: u64 = 30;
    pub const ANNOTATION_NAME: u64 = 10;
    pub const ANNOTATION_NUMBER: u64 = 3;
    pub const ANNOTATION_TEXT: u64 = 6;
}

/// Name of the track event in which our export says what is said once about a history: its header,
/// and its tasks. Both are the JSON of `.ektrace`.
pub const HISTORY: &str = "history";
/// Names: of the annotation with the header, and the prefix of those with tasks.
pub const HISTORY_HEADER: &str = "header";
pub const HISTORY_TASK: &str = "task";
/// Track of that event.
pub const HISTORY_TRACK: &str = "Evenkeel";
