//! The requests and handlers of the measurements: small work with results that are known
//! independently of the bus.
//!
//! A command charges an order its fee. The handler computes the fee and adds it to a till; the
//! caller gets the fee. An event says that a fee was charged; its handlers add it to their ledgers.
//! A query computes the fee and changes nothing.

use crate::calls::Sums;
use rialto_bus::{Command, Context, Error, ErrorKind, Event, EventHandlerNow, Handler, HandlerNow};
use rialto_bus::{Query, Request, Result};
use rialto_workload::XorShift;
use std::hint::black_box;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The fee in parts per million.
pub(super) const RATE_PPM: u64 = 200;
const MILLION: u64 = 1_000_000;

/// Charge an order its fee.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    pub(super) account: u64,
    pub(super) price: u64,
    pub(super) quantity: u64,
}

impl Request for Charge {
    type Response = u64;
    const NAME: &'static str = "charge";
}

impl Command for Charge {}

/// Computes the fee.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote(pub(super) Charge);

impl Request for Quote {
    type Response = u64;
    const NAME: &'static str = "quote";
}

impl Query for Quote {}

/// A fee was charged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charged {
    pub(super) fee: u64,
}

impl Event for Charged {
    const NAME: &'static str = "charged";
}

#[cold]
fn too_large() -> Error {
    Error::new(ErrorKind::Invalid, "notional_too_large", "Price times quantity is too large.")
}

#[inline]
pub(super) fn fee(charge: &Charge, rate_ppm: u64) -> Result<u64> {
    let notional = charge.price.checked_mul(charge.quantity).ok_or_else(too_large)?;
    let parts = notional.checked_mul(rate_ppm).ok_or_else(too_large)?;
    Ok(parts.div_ceil(MILLION))
}

/// A sum that one thread at a time adds to. An addition is a load and a store: an atomic addition
/// would cost more than the bus, and no arm that uses this sends from two threads.
#[derive(Debug, Default)]
pub(super) struct Till(AtomicU64);

impl Till {
    #[inline]
    fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Charges fees.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) rate_ppm: u64,
    pub(super) till: Arc<Till>,
}

impl Desk {
    pub(super) fn new() -> Desk {
        // The rate is known only at run time, as in a venue.
        Desk { rate_ppm: black_box(RATE_PPM), till: Arc::default() }
    }
}

impl HandlerNow<Charge> for Desk {
    #[inline]
    fn handle_now(&self, charge: Charge, _: &Context<'_>) -> Result<u64> {
        let fee = fee(&charge, self.rate_ppm)?;
        self.till.add(fee);
        Ok(fee)
    }
}

impl Handler<Charge> for Desk {
    #[inline]
    async fn handle(&self, charge: Charge, cx: &Context<'_>) -> Result<u64> {
        self.handle_now(charge, cx)
    }
}

impl HandlerNow<Quote> for Desk {
    #[inline]
    fn handle_now(&self, Quote(charge): Quote, _: &Context<'_>) -> Result<u64> {
        fee(&charge, self.rate_ppm)
    }
}

/// The panic payload of [`Brittle`], so that only its panics are suppressed.
pub(super) struct Expected;

/// A desk that panics at fees above a limit. The possibility is needed: for a handler that cannot
/// panic, the compiler removes the isolation.
pub(super) struct Brittle {
    pub(super) desk: Desk,
    fee_max: u64,
}

impl Brittle {
    /// A desk that panics at fees above this one, which the compiler does not know.
    pub(super) fn new(fee_max: u64) -> Brittle {
        Brittle { desk: Desk::new(), fee_max: black_box(fee_max) }
    }
}

impl HandlerNow<Charge> for Brittle {
    #[inline]
    fn handle_now(&self, charge: Charge, cx: &Context<'_>) -> Result<u64> {
        let fee = self.desk.handle_now(charge, cx)?;
        if fee > self.fee_max {
            panic_any(Expected);
        }
        Ok(fee)
    }
}

/// Sums the fees of events.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(pub(super) Arc<Till>);

impl EventHandlerNow<Charged> for Ledger {
    #[inline]
    fn on_now(&self, charged: &Charged, _: &Context<'_>) -> Result<()> {
        self.0.add(charged.fee);
        Ok(())
    }
}

/// The number of requests in a cycle.
const POOL: u64 = 1_024;

/// The same requests in every arm, made before the measurement.
pub(super) struct Pool {
    charges: Vec<Charge>,
}

impl Pool {
    pub(super) fn new() -> Pool {
        let mut random = XorShift::seeded(1);
        let charges = (0..POOL)
            .map(|account| Charge {
                account,
                price: 1 + random.below(1 << 20),
                quantity: 1 + random.below(1 << 10),
            })
            .collect();
        Pool { charges }
    }

    /// The command of a call. The black box prevents the compiler from combining several calls in
    /// wide registers.
    #[inline]
    pub(super) fn charge(&self, call: u64) -> Charge {
        black_box(self.charges[(call % POOL) as usize])
    }

    /// The event of a call, through the same black box.
    #[inline]
    pub(super) fn charged(&self, call: u64) -> Charged {
        Charged { fee: self.charge(call).price }
    }

    /// The first commands, for a batch.
    pub(super) fn first(&self, count: usize) -> &[Charge] {
        &self.charges[..count]
    }

    /// The fees of this many commands, in plain arithmetic.
    pub(super) fn fees(&self, calls: u64) -> u64 {
        let fee = |charge: &Charge| {
            let parts = u128::from(charge.price) * u128::from(charge.quantity) * 200;
            parts.div_ceil(1_000_000) as u64
        };
        let round: u64 = self.charges.iter().map(fee).sum();
        let rest: u64 = self.first((calls % POOL) as usize).iter().map(fee).sum();
        round * (calls / POOL) + rest
    }

    /// The sum of this many events.
    pub(super) fn told(&self, calls: u64) -> u64 {
        let of = |charges: &[Charge]| charges.iter().map(|charge| charge.price).sum::<u64>();
        of(&self.charges) * (calls / POOL) + of(self.first((calls % POOL) as usize))
    }

    /// The sums of this many commands: fees for the callers, and in the till.
    pub(super) fn charged_in_all(&self, calls: u64) -> Sums {
        let fees = self.fees(calls);
        Sums { answers: fees, effects: fees }
    }
}

/// What an error counts as: a number that spoils the sum.
pub(super) const SPOILED: u64 = u64::MAX / 3;

/// Makes calls and adds up their answers; an error spoils the sum.
#[inline]
pub(super) fn sum_of(calls: u64, till: &Till, mut call: impl FnMut(u64) -> Result<u64>) -> Sums {
    let made = || {
        let mut answers = 0_u64;
        for number in 0..calls {
            answers = answers.wrapping_add(call(number).unwrap_or(SPOILED));
        }
        answers
    };
    left_in(|| till.total(), made)
}

/// Adds up answers; an error spoils the sum.
pub(super) fn sum(answers: impl IntoIterator<Item = Result<u64>>) -> u64 {
    answers.into_iter().fold(0, |sum, answer| sum.wrapping_add(answer.unwrap_or(SPOILED)))
}

/// The answers of some calls, and by how much a total grew with them.
#[inline]
pub(super) fn left_in(total: impl Fn() -> u64, made: impl FnOnce() -> u64) -> Sums {
    let before = total();
    let answers = made();
    Sums { answers, effects: total().wrapping_sub(before) }
}
