//! Descriptors: every socket and every open file is one, and a process has a limited number.
//!
//! A venue that runs out of them cannot open the next file of its journal and ends. So their limit
//! is raised as far as the system allows, a configuration that does not fit below it is refused,
//! and connections leave those alone that the engine may need.

use crate::config::{Config, ConfigError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fmt::Write;

/// Files of journal, event log, snapshots, withdrawals and the recorder, files that a backup or a
/// query of the past opens meanwhile, and what the threads wait on.
const ENGINE: u64 = 256;
/// Files that the depot keeps open besides those of its work queues and of transfers, and files that
/// claims open to see whether their content is there.
const DEPOT: u64 = 64;
/// A file of orders, and its answer.
const EACH_ORDER_FILE: u64 = 2;
/// Files of the history of files of orders.
const ORDER_FILES: u64 = 8;
/// Files that are open while statements are made, besides the statements in writing: two segments of
/// events, positions, and the log of its flows.
const STATEMENTS: u64 = 16;
/// Segments that the resumption of one private stream has open.
const EACH_REPLAY: u64 = 2;

/// What a configuration needs, by what for.
struct Need {
    /// For connections.
    connections: u64,
    /// For everything else: what for, and how many.
    others: Vec<(&'static str, u64)>,
}

impl Need {
    fn of(config: &Config, open_already: u64) -> Need {
        let gateway = &config.gateway;
        let mut others = vec![
            ("open at the start", open_already),
            ("engine, withdrawals and recorder", ENGINE),
            ("stream.replays_max, 2 each", EACH_REPLAY * gateway.stream.replays_max as u64),
        ];
        if config.queue_enabled {
            others.push(("queue.descriptors_max", config.queue_descriptors_max as u64));
        }
        if config.depot.enabled {
            let transfers = gateway.depot.uploads_max + gateway.depot.downloads_max;
            others.push(("depot.descriptors_max", config.depot.descriptors_max as u64));
            others.push(("depot.uploads_max and depot.downloads_max", transfers as u64));
            others.push(("history and volumes of the depot", DEPOT));
            others.push(("index of kept files", rialto_depot::INDEX_DESCRIPTORS as u64));
        }
        if config.order_files.enabled {
            let files = EACH_ORDER_FILE * config.order_files.limits.files_max as u64;
            others.push(("order_files.files_max, 2 each, and their history", files + ORDER_FILES));
        }
        if config.statements.enabled {
            let written = rialto_statements::StatementSettings::default().members_per_pass;
            others.push(("statements", written as u64 + STATEMENTS));
        }
        #[cfg(feature = "s3")]
        if config.s3.enabled {
            // One more is accepted and closed.
            others.push(("s3.connections_max", 1 + config.s3.options.connections_max as u64));
        }
        Need { connections: gateway.descriptors_max() as u64, others }
    }

    fn reserved(&self) -> u64 {
        self.others.iter().map(|(_, count)| count).sum()
    }

    fn all(&self) -> u64 {
        self.connections + self.reserved()
    }

    /// The sum, written out.
    fn told(&self, config: &Config) -> String {
        let gateway = &config.gateway;
        let mut told = format!("{} for connections (", self.connections);
        let _ = write!(told, "gateway.connections_max = {}", gateway.connections_max);
        if gateway.operations_listen.is_some() {
            let max = gateway.operations_connections_max;
            let _ = write!(told, ", gateway.operations_connections_max = {max}");
        }
        told.push_str(", and the refused ones while they are closed)");
        for (what, count) in &self.others {
            let _ = write!(told, " + {count} ({what})");
        }
        told
    }
}

/// Raises the limit of descriptors as far as the system allows, and has the gateway leave those
/// alone that the rest of the venue may need.
///
/// # Errors
/// The configuration needs more than there may be.
pub(super) fn reserve(config: &mut Config) -> Result<(), ConfigError> {
    let need = Need::of(config, open_already());
    let Some(limit) = raised_limit(need.all()) else { return Ok(()) };
    config.gateway.descriptors_end = Some(fit(config, &need, limit)?);
    Ok(())
}

/// The first descriptor that connections must leave alone.
fn fit(config: &Config, need: &Need, limit: u64) -> Result<u32, ConfigError> {
    if need.all() > limit {
        let message = format!(
            "the configuration needs {} descriptors and the system allows {limit}: {}. Raise the \
             hard limit (ulimit -Hn, LimitNOFILE= of systemd) or lower gateway.connections_max",
            need.all(),
            need.told(config),
        );
        return Err(ConfigError::Together { file: None, message });
    }
    Ok(u32::try_from(limit - need.reserved()).unwrap_or(u32::MAX))
}

/// The limit of descriptors, after it was raised; none if there is none.
fn raised_limit(needed: u64) -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let soft = current?;
    let wanted = maximum.unwrap_or(needed.max(soft));
    if wanted > soft
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok()
    {
        return Some(wanted);
    }
    Some(soft)
}

/// Descriptors that are open now: the terminal's and inherited ones.
fn open_already() -> u64 {
    // The directory is one of them while it is read, and closed after it.
    std::fs::read_dir("/proc/self/fd").map_or(3, |open| open.count().saturating_sub(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_needs_more_than_there_are_is_refused_with_the_sum() {
        let mut config = Config::default();
        config.gateway.connections_max = 500;
        (config.queue_enabled, config.queue_descriptors_max) = (true, 1_024);
        let need = Need::of(&config, 5);
        // 500 and 64 that are being refused; 5 open, the engine's, 4 replays, the queue's.
        assert_eq!((need.connections, need.reserved()), (564, 5 + 256 + 8 + 1_024));
        assert_eq!(fit(&config, &need, need.all()).ok(), Some(564));
        let refused = fit(&config, &need, need.all() - 1).expect_err("one is missing").to_string();
        for part in ["1857 descriptors", "allows 1856", "564 for connections", "+ 1024 (queue."] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
    }
    #[test]
    fn every_part_that_opens_files_is_in_the_sum() {
        let mut config = Config::default();
        let mut reserved = Need::of(&config, 0).reserved();
        let mut check = |config: &Config, more: usize| {
            let before = std::mem::replace(&mut reserved, Need::of(config, 0).reserved());
            assert_eq!(reserved - before, more as u64);
        };
        config.depot.enabled = true;
        let of_gateway = &config.gateway.depot;
        let transfers = of_gateway.uploads_max + of_gateway.downloads_max;
        check(&config, config.depot.descriptors_max + transfers + 64 + 64);
        config.order_files.enabled = true;
        check(&config, 2 * 4 + 8);
        config.order_files.limits.files_max = 64;
        check(&config, 2 * 60);
        config.statements.enabled = true;
        check(&config, 16 + 16);
    }
}
