//! Messages over pipes and sockets, for recordings that show them.
//!
//! A wake-up is recorded only where the reader slept. A reader that comes later than the message
//! finds it there; in a replay the same reader may come earlier, and then has to wait. A channel
//! therefore counts what was written and not yet read, and a reader waits while that is nothing.
//! Without it a replay could lose sleeps and never gain any.
//!
//! Recorders tell channels apart by addresses, which the kernel uses again. An empty channel that a
//! task writes which it has not met is therefore taken for a new one: else the reader of one pipe
//! of a shell would take the message for the reader of the next.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Event, History};

/// The channels of which both ends are in the history.
pub(super) struct Messages {
    /// Whether the history shows messages at all.
    pub(super) known: bool,
    /// By number in the history.
    channels: BTreeMap<u32, Channel>,
    /// How many the replay has.
    count: u32,
}

#[derive(Default)]
struct Channel {
    /// Number in the replay, once there is a message.
    number: Option<u32>,
    /// Bytes written and not yet read.
    left: u64,
    /// The tasks that wrote or read.
    met: BTreeSet<u32>,
}

impl Messages {
    pub(super) fn of(history: &History) -> Self {
        let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
        for record in &history.records {
            match record.event {
                Event::Send { channel, .. } => sent.insert(channel),
                Event::Receive { channel, .. } => received.insert(channel),
                _ => false,
            };
        }
        let both = sent.intersection(&received);
        Self {
            known: !sent.is_empty() || !received.is_empty(),
            channels: both.map(|&channel| (channel, Channel::default())).collect(),
            count: 0,
        }
    }

    /// How many channels the replay has.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// A task writes; the channel's number in the replay.
    pub(super) fn sent(&mut self, task: u32, channel: u32, bytes: u64) -> Option<u32> {
        let channel = self.channels.get_mut(&channel)?;
        if channel.number.is_none() || (channel.left == 0 && !channel.met.contains(&task)) {
            *channel = Channel { number: Some(self.count), ..Channel::default() };
            self.count += 1;
        }
        channel.left = channel.left.saturating_add(bytes);
        channel.met.insert(task);
        channel.number
    }

    /// The channel's number in the replay.
    pub(super) fn number(&self, channel: u32) -> Option<u32> {
        self.channels.get(&channel)?.number
    }

    pub(super) fn unsent(&mut self, channel: u32, bytes: u64) {
        if let Some(channel) = self.channels.get_mut(&channel) {
            channel.left = channel.left.saturating_sub(bytes);
        }
    }

    /// A task reads: the channel's number in the replay, and how much of what was read was written
    /// in the history. The rest was there before it began, and no reader may wait for that.
    pub(super) fn received(&mut self, task: u32, channel: u32, bytes: u64) -> Option<(u32, u64)> {
        let channel = self.channels.get_mut(&channel)?;
        channel.met.insert(task);
        let taken = bytes.min(channel.left);
        channel.left -= taken;
        channel.number.filter(|_| taken > 0).map(|number| (number, taken))
    }
}
