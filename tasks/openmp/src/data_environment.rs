//! The internal control variables of the running task, for the calls that read and set them.

use crate::icv::Icvs;
use crate::registration::member;

/// The variables of the running task.
pub(crate) fn icvs() -> &'static Icvs {
    member().task().icvs.get()
}

/// Changes the variables of the running task; its child tasks inherit the new values.
pub(crate) fn change_icvs(change: impl FnOnce(&mut Icvs)) {
    let icvs = &member().task().icvs;
    let mut changed = *icvs.get();
    change(&mut changed);
    if changed != *icvs.get() {
        icvs.set(changed.kept());
    }
}
