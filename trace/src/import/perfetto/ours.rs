//! The header and the tasks of a history in an export of this project.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::import::entry::Payload;
use crate::name::clean_up_to;
use crate::perfetto::{HISTORY, HISTORY_HEADER, HISTORY_TASK, track};
use crate::protobuf::{Fields, Value};
use crate::{Event, Header, History, SCHEMA, TASKS_MAX, TaskInfo, clean, validate};

/// The header of a history that was exported.
pub struct Ours {
    header: Header,
    tasks: BTreeMap<u32, TaskInfo>,
    threads_per_core: u32,
}

impl Ours {
    /// Takes the header or tasks from a track event of our export; `begun` if events came before.
    pub fn hear(ours: &mut Option<Self>, event: &[u8], begun: bool) -> Result<(), String> {
        let ours_it_is = Fields::new(event)
            .flatten()
            .any(|field| field == (track::NAME, Value::Bytes(HISTORY.as_bytes())));
        if !ours_it_is {
            return Ok(());
        }
        for (field, value) in Fields::new(event).flatten() {
            let Some(annotation) = value.bytes().filter(|_| field == track::ANNOTATION) else {
                continue;
            };
            let find = |wanted| {
                let mut fields = Fields::new(annotation).flatten();
                fields.find_map(|(field, value)| (field == wanted).then(|| value.bytes())?)
            };
            let Some(name) = find(track::ANNOTATION_NAME) else { continue };
            let text = find(track::ANNOTATION_TEXT).unwrap_or_default();
            if name == HISTORY_HEADER.as_bytes() {
                if begun || ours.is_some() {
                    return Err("a header of a history; expected one, before all events".to_owned());
                }
                *ours = Some(Self::new(parse(text, HISTORY_HEADER)?));
            } else if let Some(ours) = ours
                && name.starts_with(HISTORY_TASK.as_bytes())
            {
                ours.task(parse(text, HISTORY_TASK)?)?;
            }
        }
        Ok(())
    }

    fn new(header: Header) -> Self {
        let threads_per_core = header.threads_per_core.unwrap_or(1).max(1);
        Self { header, tasks: BTreeMap::new(), threads_per_core }
    }

    fn task(&mut self, task: TaskInfo) -> Result<(), String> {
        if self.tasks.len() as u64 == TASKS_MAX {
            return Err(format!("more than {TASKS_MAX} tasks, the most that a history holds"));
        }
        // The writer of the file may not have cleaned names.
        let (comm, app) = (clean(task.comm.as_bytes()), clean(task.app.as_bytes()));
        self.tasks.insert(task.tid, TaskInfo { comm, app, ..task });
        Ok(())
    }

    /// The header with the tasks; of a trace that was cut, the end is where the events end.
    pub fn whole(self, truncated: bool) -> Result<Header, String> {
        let tasks = self.tasks.into_values().collect();
        let mut header = Header { schema: SCHEMA, tasks, ..self.header };
        let history = History { header: header.clone(), records: Vec::new() };
        if let Some(problem) = validate(&history).first() {
            return Err(format!("the history contradicts itself: {problem}"));
        }
        if truncated {
            header.end_ns = header.start_ns;
        }
        Ok(header)
    }

    /// The record that an event was, while `running` ran; `None` for those that only say again,
    /// for other CPUs of its core, what another event says.
    pub fn payload(&self, payload: Payload, running: Option<u32>) -> Option<Payload> {
        let event = match payload {
            Payload::Frequency { khz, cpu } => {
                if !cpu.is_multiple_of(self.threads_per_core) {
                    return None;
                }
                Event::Frequency { core: cpu / self.threads_per_core, khz }
            }
            Payload::Runtime { task, ns } => Event::Runtime { task: task.pid, ns },
            Payload::Mark { xfeatures, .. } => Event::Registers { task: running?, xfeatures },
            payload => return Some(payload),
        };
        Some(Payload::Own(event))
    }
}

fn parse<T: for<'de> Deserialize<'de>>(text: &[u8], what: &str) -> Result<T, String> {
    /// Longest message shown; the parser quotes its input.
    const MESSAGE_MAX: usize = 300;
    serde_json::from_slice(text).map_err(|error| {
        let said = clean_up_to(error.to_string().as_bytes(), MESSAGE_MAX);
        format!("the {what} of the history: {said}")
    })
}
