//! A compiled sched_ext scheduler that is not ours.

use std::fmt;
use std::sync::Arc;

/// Name and code of a scheduler; made only with the feature `scx`.
#[derive(Clone)]
pub struct ScxSource {
    name: Arc<str>,
    #[cfg(feature = "scx")]
    object: Arc<scx_host::Object>,
}

impl ScxSource {
    /// A scheduler of `scx_host::compile`, by the name that tables show.
    #[cfg(feature = "scx")]
    #[must_use]
    pub fn new(name: &str, object: scx_host::Object) -> Self {
        Self { name: name.into(), object: Arc::new(object) }
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "scx")]
    pub(crate) fn object(&self) -> &scx_host::Object {
        &self.object
    }
}

impl fmt::Debug for ScxSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("ScxSource").field(&self.name).finish()
    }
}

/// Two are equal if one is a clone of the other.
impl PartialEq for ScxSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.name, &other.name)
    }
}

impl Eq for ScxSource {}
