//! Errors of a lifecycle.

use crate::component::Failure;

/// The process is stopping, so nothing new begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the process is stopping and accepts no new operations")]
pub struct Stopping;

/// The error of ordering components.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// Two components have one name.
    #[error("there are two components named {name}")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A component needs one that is not registered.
    #[error(
        "component {component} needs {needs}, which is not registered; registered are: {known}"
    )]
    Unknown {
        /// The component.
        component: String,
        /// The name that is not registered.
        needs: String,
        /// The registered names.
        known: String,
    },
    /// Components need each other.
    #[error("these components need each other in a circle: {}", path.join(" → "))]
    Cycle {
        /// Each needs the next; the first stands at the end again.
        path: Vec<String>,
    },
}

/// The error of starting a process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentStartError {
    /// There is no order to start in. Nothing was started.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// A component did not start. The started ones were stopped again.
    #[error("component {name} did not start")]
    Component {
        /// The component.
        name: String,
        /// The error.
        source: Failure,
    },
    /// It was started or stopped before.
    #[error("the process has been started or stopped before")]
    NotNew,
}
