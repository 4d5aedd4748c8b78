//! A process that attacks the gateway while this value lives.

use crate::attack::{AttackPlan, AttackReport};
use crate::error::{BenchError, broken};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The process. Dropping it kills it.
pub(super) struct Attacker {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Attacker {
    /// Starts it and waits until all its connections are open.
    pub(super) fn start(
        case: &str,
        mut command: Command,
        plan: &AttackPlan,
    ) -> Result<Attacker, BenchError> {
        let mut start = || -> io::Result<Attacker> {
            let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut process = piped.spawn()?;
            let output = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
            let mut attacker = Attacker { process, output: BufReader::new(output) };
            let mut line = serde_json::to_string(plan)?;
            line.push('\n');
            let input = attacker.process.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            input.write_all(line.as_bytes())?;
            let mut said = String::new();
            attacker.output.read_line(&mut said)?;
            if said.trim() != "ready" {
                return Err(io::Error::other(format!("it said {said:?} instead of ready")));
            }
            Ok(attacker)
        };
        start().map_err(broken(case, "start the attacker"))
    }

    /// Ends it and returns its report.
    pub(super) fn end(mut self, case: &str) -> Result<AttackReport, BenchError> {
        let mut end = || -> io::Result<AttackReport> {
            drop(self.process.stdin.take());
            let mut said = String::new();
            self.output.read_to_string(&mut said)?;
            self.process.wait()?;
            Ok(serde_json::from_str(&said)?)
        };
        end().map_err(broken(case, "end the attacker"))
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
