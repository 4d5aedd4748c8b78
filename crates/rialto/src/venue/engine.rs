//! The engine as a component.

use super::closing::Deadline;
use super::made::Made;
use crate::tell_all;
use rialto_disk::Disk;
use rialto_engine::{Engine, EngineConfig, Health as EngineHealth, RecoveryReport, ShutdownReport};
use rialto_lifecycle::{Component, Failure, Health};
use std::sync::Arc;

/// How the engine has ended.
pub(super) type Ended = Made<ShutdownReport>;

pub(super) struct Part {
    config: EngineConfig,
    disk: Arc<dyn Disk>,
    deadline: Deadline,
    made: Made<Engine>,
    recovery: Made<RecoveryReport>,
    ended: Ended,
}

impl Part {
    pub(super) fn new(config: EngineConfig, disk: Arc<dyn Disk>, deadline: Deadline) -> Part {
        let (made, recovery, ended) =
            (Made::new("engine"), Made::new("recovery"), Made::new("engine's end"));
        Part { config, disk, deadline, made, recovery, ended }
    }

    pub(super) fn made(&self) -> Made<Engine> {
        self.made.clone()
    }

    pub(super) fn recovery(&self) -> Made<RecoveryReport> {
        self.recovery.clone()
    }

    pub(super) fn ended(&self) -> Ended {
        self.ended.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let (engine, recovery) = Engine::start(self.config.clone(), Arc::clone(&self.disk))?;
        self.made.put(engine);
        self.recovery.put(recovery);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let report = self.made.get()?.shutdown(self.deadline.left());
        let told = report.to_string();
        let is_whole = report.finished && !matches!(report.health, EngineHealth::Failed(_));
        self.ended.put(report);
        if is_whole { Ok(()) } else { Err(told.into()) }
    }

    fn health(&mut self) -> Health {
        match self.made.get().map(|engine| engine.health()) {
            Ok(EngineHealth::Running) => Health::Up,
            Ok(EngineHealth::Stalled(stall)) => Health::NotReady(stall.to_string()),
            Ok(EngineHealth::Draining) => Health::NotReady("it takes no more commands".to_string()),
            Ok(EngineHealth::Stopped) => Health::Failed("it was stopped".to_string()),
            Ok(EngineHealth::Failed(fault)) => Health::Failed(tell_all(&*fault)),
            Err(failure) => Health::Failed(failure.to_string()),
        }
    }
}
