//! The work at load time.

use evenkeel_runtime::internal::register_membarrier;

use crate::environment::{Bind, Show, display};
use crate::icv::{self, Icvs};
use crate::processors;
use crate::settings::{machine, placement, settings, watch};
use crate::unsupported::say;

/// Reads the environment when the library is loaded, as libgomp does: a program may change
/// variables later, and a mistake shows even if no region is parallel.
extern "C" fn begin() {
    register_membarrier();
    if settings().proc_bind.first().is_some_and(|&bind| bind != Bind::False) {
        processors::unbind();
    }
    watch();
    // The placement names CPUs: no thread must be bound yet.
    placement();
    let show = settings().show;
    if show != Show::Nothing {
        say(display::text(&icv::effective(), show == Show::Verbose).as_bytes());
    }
    if Icvs::initial().bind != Bind::False {
        // The machine is read before any thread is bound.
        machine();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
