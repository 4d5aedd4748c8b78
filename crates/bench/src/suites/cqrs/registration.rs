//! Building a bus, and finding handlers in it.

use crate::calls::{Arm, Sums, measure};
use crate::error::BenchError;
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{
    BuildError, Bus, Context, Dispatch, HandlerNow, Query, Request, Result, behaviours,
};

/// Requests of distinct types.
struct Numbered<const N: u64>;

impl<const N: u64> Request for Numbered<N> {
    type Response = u64;
    const NAME: &'static str = "numbered";
}

impl<const N: u64> Query for Numbered<N> {}

/// The handler of all of them.
struct Numbers;

impl<const N: u64> HandlerNow<Numbered<N>> for Numbers {
    fn handle_now(&self, _: Numbered<N>, _: &Context<'_>) -> Result<u64> {
        Ok(N)
    }
}

/// Handlers that are discovered.
mod found {
    use super::{Numbered, Result};
    use rialto_bus::handler;

    #[handler]
    fn zero(_: Numbered<0>) -> Result<u64> {
        Ok(0)
    }

    #[handler]
    fn one(_: Numbered<1>) -> Result<u64> {
        Ok(1)
    }

    #[handler]
    fn two(_: Numbered<2>) -> Result<u64> {
        Ok(2)
    }

    #[handler]
    fn three(_: Numbered<3>) -> Result<u64> {
        Ok(3)
    }

    #[handler]
    fn four(_: Numbered<4>) -> Result<u64> {
        Ok(4)
    }

    #[handler]
    fn five(_: Numbered<5>) -> Result<u64> {
        Ok(5)
    }

    #[handler]
    fn six(_: Numbered<6>) -> Result<u64> {
        Ok(6)
    }

    #[handler]
    fn seven(_: Numbered<7>) -> Result<u64> {
        Ok(7)
    }

    /// Their module.
    pub(super) const MODULE: &str = module_path!();
}

const HANDLERS: u64 = 8;
const SHARE: &str = "An eighth of the making of a bus of 8 handlers, which is built, asked \
    something and dropped.";

macro_rules! bus_of {
    ($($number:literal)*) => {
        Bus::builder()$(.handle_now::<Numbered<$number>, _, _>(behaviours![], Numbers))*.build()
    };
}

pub(super) fn registration(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = HANDLERS * context.sized(10_000, 10);
    let cx = &Context::new();
    let expected = |calls| Sums::of_answers(7 * (calls / HANDLERS));
    let asked = |bus: Bus| bus.query_now(Numbered::<7>, cx).unwrap_or(0);
    let made = |make: fn() -> std::result::Result<Bus, BuildError>| {
        move |calls: u64| {
            let buses = (0..calls / HANDLERS).map(|_| make().map_or(0, asked));
            Sums::of_answers(buses.sum())
        }
    };
    let by_hand = made(|| bus_of!(0 1 2 3 4 5 6 7));
    let discovered = made(|| Bus::builder().discover_in(found::MODULE).build());
    let arms = vec![
        Arm::new("registering a handler by hand", calls, by_hand, expected)
            .beside(Work::Bus(BusWork::RegisterByHand))
            .note(SHARE),
        Arm::new("registering a handler that is found", calls, discovered, expected)
            .beside(Work::Bus(BusWork::RegisterFound))
            .note(SHARE),
    ];
    measure(context, "registration", arms)
}
