//! The feed as a component.

use super::LOOK_AGAIN;
use super::made::Made;
use crate::tell_all;
use rialto_desk::{Live, LiveConfig};
use rialto_engine::{Engine, Health as EngineHealth};
use rialto_lifecycle::{Component, Failure, Health, Overview};

pub(super) struct Part {
    config: LiveConfig,
    lag: Lag,
    engine: Made<Engine>,
    process: Overview,
    made: Made<Live>,
}

impl Part {
    pub(super) fn new(
        config: LiveConfig,
        lag_max: u64,
        engine: Made<Engine>,
        process: Overview,
    ) -> Part {
        let lag = Lag { max: lag_max, is_behind: false };
        Part { config, lag, engine, process, made: Made::new("feed") }
    }

    pub(super) fn made(&self) -> Made<Live> {
        self.made.clone()
    }

    /// Waits until the feed knows everything that was released before. The door opens only then:
    /// until then queries would be answered from the past, and deny orders that were acknowledged.
    fn catch_up(&self, engine: &Engine, live: &Live) -> Result<(), Failure> {
        let released = engine.released();
        while live.seq() < released {
            if let EngineHealth::Failed(fault) = engine.health() {
                return Err(tell_all(&*fault).into());
            }
            if let Some(fault) = live.fault() {
                return Err(tell_all(&*fault).into());
            }
            if self.process.operations().is_stopping() {
                return Err("the venue is stopping".into());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let engine = self.engine.get()?;
        match self.made.get() {
            Err(_) => {
                let live = Live::start(&engine, self.config.clone())?;
                self.catch_up(&engine, &live)?;
                self.made.put(live);
            }
            // Other components hold the failed feed, so that it must be restarted in place.
            Ok(failed) => {
                let live = failed.another(&engine)?;
                self.catch_up(&engine, &live)?;
                failed.take_over(&live)?;
            }
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if let Ok(live) = self.made.get() {
            live.stop();
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        let Ok(live) = self.made.get() else {
            return Health::Failed("it was not started".to_string());
        };
        match live.fault() {
            Some(fault) => Health::Failed(tell_all(&*fault)),
            None => self.lag.judge(live.lag()),
        }
    }
}

/// Whether the feed is too far behind, with a memory: it is ready again only at half the limit, so
/// that a feed at the limit does not turn the venue on and off.
struct Lag {
    /// In commands.
    max: u64,
    is_behind: bool,
}

impl Lag {
    fn judge(&mut self, lag: u64) -> Health {
        let max = if self.is_behind { self.max / 2 } else { self.max };
        self.is_behind = lag > max;
        match self.is_behind {
            true => Health::NotReady(format!("it is {lag} commands behind the engine")),
            false => Health::Up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_that_fell_behind_is_ready_again_at_half_the_limit() {
        let mut lag = Lag { max: 100, is_behind: false };
        let ready: Vec<_> = [0, 100, 101, 100, 51, 50, 100, 101]
            .map(|behind| lag.judge(behind) == Health::Up)
            .into();
        assert_eq!(ready, [true, true, false, false, false, true, true, false]);
    }
}
