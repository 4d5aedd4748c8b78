//! An engine without threads, for callers that control the order of its steps.

use crate::config::EngineConfig;
use crate::engine::Engine;
use crate::parts::{Parts, Sources, Step};
use crate::recovery::{RecoveryReport, StartError};
use crate::signal::Progress;
use rialto_core::Core;
use rialto_disk::Disk;
use std::sync::Arc;

/// The steps of an engine without threads. The code is the same as in production; only the order is
/// the caller's, so that a simulation chooses it from a seed.
///
/// Dropping it simulates the end of the process: nothing is finished.
pub struct Stepped {
    parts: Parts,
}

impl Stepped {
    /// Recovers the data directory and returns the engine's handle and its steps.
    ///
    /// # Errors
    /// See [`Engine::start`].
    pub fn start(
        config: EngineConfig,
        disk: Arc<dyn Disk>,
        sources: &Sources,
    ) -> Result<(Engine, Stepped, RecoveryReport), StartError> {
        let (engine, parts, report) = Engine::assemble(config, disk, sources)?;
        Ok((engine, Stepped { parts }, report))
    }

    /// Takes one step. It never blocks, except on the disk.
    pub fn step(&mut self, step: Step) -> Progress {
        self.parts.step(step)
    }

    /// Takes steps in turn until none has work.
    pub fn run_until_idle(&mut self) {
        // An idle step may have given work to an earlier one; only a second idle round proves that
        // there is none. A step that ends the engine has woken all others.
        let mut idle_rounds = 0;
        while idle_rounds < 2 {
            let phase = self.parts.phase();
            let mut worked = false;
            for step in Step::ALL {
                worked |= self.step(step) == Progress::Worked;
            }
            worked |= self.parts.phase() != phase;
            idle_rounds = if worked { 0 } else { idle_rounds + 1 };
        }
    }

    /// The core, while the sequencer has it.
    #[must_use]
    pub fn core(&self) -> Option<&Core> {
        self.parts.sequencer.core()
    }

    /// Takes the core, once the sequencer has finished.
    pub fn take_core(&mut self) -> Option<Core> {
        self.parts.sequencer.take_core()
    }
}
