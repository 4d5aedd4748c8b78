//! What can go wrong.

use crate::component::Failure;

/// The process is stopping, so nothing new begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is stopping and begins nothing new")]
pub struct Stopping;

/// Why components have no order to start in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// Two components have one name.
    #[error("there are two components named {name}")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A component needs one that nobody has registered.
    #[error("component {component} needs {needs}, which there is not; there are: {known}")]
    Unknown {
        /// Who needs it.
        component: String,
        /// What there is not.
        needs: String,
        /// The names there are.
        known: String,
    },
    /// Components need each other.
    #[error("these components need each other in a circle: {}", path.join(" → "))]
    Cycle {
        /// Each needs the next; the first stands at the end again.
        path: Vec<String>,
    },
}

/// Why a process has not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentStartError {
    /// There is no order to start in. Nothing was started.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// A component did not start. The started ones were stopped again.
    #[error("component {name} did not start")]
    Component {
        /// Which.
        name: String,
        /// Why.
        source: Failure,
    },
    /// It was started or stopped before.
    #[error("it has been started or stopped before")]
    NotNew,
}
