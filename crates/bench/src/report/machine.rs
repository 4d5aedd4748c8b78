//! The machine and build of a run.

use rialto_workload::Host;
use serde::Serialize;
use std::path::Path;

/// The machine and the build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Machine {
    /// The machine.
    #[serde(flatten)]
    pub(crate) host: Host,
    /// The commit that this program was built from.
    pub(crate) commit: String,
    /// The compiler.
    pub(crate) rustc: String,
    /// The build profile.
    pub(crate) profile: String,
}

impl Machine {
    /// Looks at the machine and at the file system under `data_dir`.
    pub(crate) fn of(data_dir: &Path) -> Machine {
        Machine {
            host: Host::of(data_dir),
            commit: env!("RIALTO_BENCH_COMMIT").to_string(),
            rustc: env!("RIALTO_BENCH_RUSTC").to_string(),
            profile: env!("RIALTO_BENCH_PROFILE").to_string(),
        }
    }

    /// Every fact with its name, for a person.
    pub(crate) fn named(&self) -> [(&'static str, String); 8] {
        let Host { cpu, cores, memory_mib, kernel, file_system } = &self.host;
        [
            ("processor", cpu.clone()),
            ("cores", cores.to_string()),
            ("memory", format!("{:.1} GiB", *memory_mib as f64 / 1024.0)),
            ("kernel", kernel.clone()),
            ("file system of the data", file_system.clone()),
            ("commit", self.commit.clone()),
            ("compiler", self.rustc.clone()),
            ("profile", self.profile.clone()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_known() {
        let machine = Machine::of(Path::new("."));
        assert!(machine.rustc.starts_with("rustc "), "{}", machine.rustc);
        assert!(machine.host.cores > 0);
    }
}
