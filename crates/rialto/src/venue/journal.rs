//! The journal and the event log as a component: the engine's own, watched here apart, because a
//! disk that hangs is no fault of the engine's and yet no state to send requests to.

use super::made::Made;
use crate::tell_all;
use rialto_engine::{Engine, Fault, Health as EngineHealth};
use rialto_lifecycle::{Component, Failure, Health};

pub(super) struct Part {
    engine: Made<Engine>,
}

impl Part {
    pub(super) fn new(engine: Made<Engine>) -> Part {
        Part { engine }
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        self.engine.get().map(drop)
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // The engine closes them when it has finished its commands.
        Ok(())
    }

    fn health(&mut self) -> Health {
        let Ok(engine) = self.engine.get() else {
            return Health::Failed("there is no engine".to_string());
        };
        match engine.health() {
            EngineHealth::Stalled(stall) => Health::NotReady(stall.to_string()),
            EngineHealth::Failed(fault) => match &*fault {
                Fault::Journal(_) | Fault::EventLog(_) | Fault::Hung(_) => {
                    Health::Failed(tell_all(&*fault))
                }
                _ => Health::Up,
            },
            _ => Health::Up,
        }
    }
}
