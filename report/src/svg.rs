//! Charts: bars, distributions, spreads, heat maps, lanes, Gantt charts, time lines and flame
//! graphs, drawn with [`crate::drawing`].

mod bars;
mod ecdf;
mod flame;
mod gantt;
mod heat;
mod lane;
mod occupancy;
mod scale;
mod spread;

pub(crate) use bars::{Bar, Group, bars};
pub(crate) use ecdf::{Curve, Quantity, WAKE_LATENCY, ecdf};
pub(crate) use flame::{Flame, flame};
pub(crate) use gantt::{Look, gantt, level_name};
pub(crate) use heat::{Heat, heat};
pub(crate) use lane::lane;
pub(crate) use occupancy::{Occupancy, PALETTE, REST, occupancy};
pub(crate) use spread::{Axes, Band, spread};
