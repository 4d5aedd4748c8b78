//! An honest member who trades during attacks, with measurements.

use crate::pace::scaled;
use crate::venue::{Besieged, Member, SYMBOL};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The duration of trading before an attack.
const BEFORE: Duration = Duration::from_millis(1_500);
/// Median and mean under an attack are at most this many times those before it, or the floors. The
/// mean shows the few orders that were delayed for seconds.
const SLOWER_MAX: u32 = 8;
/// Lower values pass in a siege, in milliseconds. The machine that runs `make test` may be busy, so
/// that there orders must only be answered.
const MEDIAN_FLOOR_MS: (usize, usize) = (250, 8);
const MEAN_FLOOR_MS: (usize, usize) = (1_000, 40);

/// The results of a member's orders.
struct Trading {
    /// The times from request to answer, in ascending order.
    latencies: Vec<Duration>,
    /// Answers other than of a traded order.
    refusals: Vec<String>,
}

impl Trading {
    fn quantile(&self, quantile: f64) -> Duration {
        let at = (self.latencies.len() as f64 * quantile) as usize;
        let last = self.latencies.last().copied().unwrap_or(Duration::MAX);
        self.latencies.get(at).copied().unwrap_or(last)
    }

    fn median(&self) -> Duration {
        self.quantile(0.5)
    }

    fn mean(&self) -> Duration {
        let count = u32::try_from(self.latencies.len().max(1)).unwrap_or(u32::MAX);
        self.latencies.iter().sum::<Duration>() / count
    }
}

impl std::fmt::Display for Trading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (median, mean, late) = (self.median(), self.mean(), self.quantile(0.99));
        let (orders, refused) = (self.latencies.len(), self.refusals.len());
        write!(
            f,
            "{orders} orders, median {median:.1?}, mean {mean:.1?}, p99 {late:.1?}, {refused} refused"
        )
    }
}

/// A member who trades on a thread, one order after another.
struct Honest {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Trading>,
}

impl Honest {
    fn begin(besieged: &Besieged, member: &Member) -> Honest {
        let (client, account) = (besieged.client(member), member.account);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut trading = Trading { latencies: Vec::new(), refusals: Vec::new() };
            let mut sells = true;
            while !told.load(Ordering::Relaxed) {
                let order = json!({
                    "account": account, "instrument": SYMBOL, "quantity": "0.0001",
                    "side": if sells { "sell" } else { "buy" }, "price": "60000",
                    "self_trade": "allow",
                });
                sells = !sells;
                let began = Instant::now();
                let answer = client.send("POST", "/v1/orders", Some(&order));
                trading.latencies.push(began.elapsed());
                match answer {
                    Ok(answer) if answer.status == 201 => {}
                    Ok(answer) => trading.refusals.push(answer.body.to_string()),
                    Err(error) => trading.refusals.push(error.to_string()),
                }
                // Well below the key's rate, and without bursts.
                let pause = Duration::from_millis(2).saturating_sub(began.elapsed());
                std::thread::park_timeout(pause);
            }
            trading.latencies.sort_unstable();
            trading
        });
        Honest { stop, thread }
    }

    fn end(self) -> Trading {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the honest member does not panic")
    }
}

/// Trades for a while without an attack.
fn trade_alone(besieged: &Besieged, member: &Member) -> Trading {
    let honest = Honest::begin(besieged, member);
    std::thread::sleep(BEFORE);
    honest.end()
}

/// Runs the honest member before and during an attack, and checks that the attack neither refuses
/// nor slows down their orders. Returns the result of the attack.
#[track_caller]
pub(crate) fn unharmed<T>(
    name: &str,
    besieged: &Besieged,
    member: &Member,
    attack: impl FnOnce() -> T,
) -> T {
    let before = trade_alone(besieged, member);
    let honest = Honest::begin(besieged, member);
    let result = attack();
    besieged.assert_live();
    let during = honest.end();
    println!("{name}: before {before}; during {during}");
    assert!(during.refusals.is_empty(), "{name}: orders were refused: {:?}", during.refusals[0]);
    for (what, before, during, floor_ms) in [
        ("median", before.median(), during.median(), MEDIAN_FLOOR_MS),
        ("mean", before.mean(), during.mean(), MEAN_FLOOR_MS),
    ] {
        let floor = Duration::from_millis(scaled(floor_ms.0, floor_ms.1) as u64);
        let most = (before * SLOWER_MAX).max(floor);
        assert!(during <= most, "{name}: the {what} is {during:.1?}, beyond {most:.1?}");
    }
    result
}
