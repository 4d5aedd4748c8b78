//! One command through the five behaviours that read no clock.

use super::work::{Brittle, Charge, Pool, sum_of};
use crate::calls::{Arm, measure};
use crate::error::{BenchError, broken, verify};
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::behaviour::{
    Authorisation, ConcurrencyLimit, Counters, IsolatePanics, Policy, Validate, Validation,
};
use rialto_bus::{Behaviours, Bus, Context, Dispatch, Error, ErrorKind, Result, behaviours, bus};
use std::hint::black_box;
use std::sync::Arc;

/// The sender: the member that owns the accounts below a number.
struct Member {
    accounts: u64,
}

/// Members charge their own accounts.
struct OwnAccounts;

impl Policy<Charge> for OwnAccounts {
    #[inline]
    fn permit(&self, charge: &Charge, cx: &Context<'_>) -> Result<()> {
        match cx.principal::<Member>() {
            Some(member) if charge.account < member.accounts => Ok(()),
            Some(_) => Err(refusal(ErrorKind::Forbidden, "foreign_account")),
            None => Err(refusal(ErrorKind::Unauthenticated, "unknown_member")),
        }
    }
}

impl Validate for Charge {
    #[inline]
    fn validate(&self) -> Result<()> {
        if self.price == 0 || self.quantity == 0 {
            return Err(refusal(ErrorKind::Invalid, "nothing_to_charge"));
        }
        Ok(())
    }
}

#[cold]
fn refusal(kind: ErrorKind, code: &'static str) -> Error {
    Error::new(kind, code, "The charge is refused.")
}

type Five =
    Behaviours!(Counters, IsolatePanics, Validation, Authorisation<OwnAccounts>, ConcurrencyLimit);

fn five() -> Five {
    behaviours![
        Counters::default(),
        IsolatePanics,
        Validation,
        Authorisation(OwnAccounts),
        ConcurrencyLimit::new(64),
    ]
}

bus! {
    struct GuardedBus {
        all through [
            Counters, IsolatePanics, Validation, Authorisation<OwnAccounts>, ConcurrencyLimit
        ] {
            brittle: Brittle => now Charge;
        }
    }
}

const STATIC: &str = "static send through five behaviours";
const FIVE: &str = "Counters, panic isolation, validation, authorisation and a concurrency limit, in \
    this order; that each refuses what it must is verified before anything is timed. Counting and \
    limiting take three locked instructions a call. The handler might panic, for all that the \
    compiler knows: from one that cannot, it would take the isolation away.";

pub(super) fn pipelines(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(1_000_000, 1_000);
    let pool = &Pool::new();
    let member = Member { accounts: black_box(u64::MAX) };
    let cx = &black_box(Context::new().with_principal(&member));
    let guarded = &GuardedBus { all: five(), brittle: Brittle::new(u64::MAX) };
    let brittle = Brittle::new(u64::MAX);
    let till = Arc::clone(&brittle.desk.till);
    let dynamic = &Bus::builder()
        .handle_now::<Charge, _, _>(five(), brittle)
        .build()
        .map_err(broken("dynamic send", "build the bus"))?;
    refuse(guarded)?;
    refuse(dynamic)?;
    let expected = |calls: u64| pool.charged_in_all(calls);
    let send = |calls: u64| {
        sum_of(calls, &guarded.brittle.desk.till, |call| guarded.send_now(pool.charge(call), cx))
    };
    let send_dynamic =
        |calls: u64| sum_of(calls, &till, |call| dynamic.send_now(pool.charge(call), cx));
    let arms = vec![
        Arm::new(STATIC, calls, send, expected)
            .beside(Work::Bus(BusWork::SendStaticThroughFive))
            .within(25.0)
            .without_allocation()
            .note(FIVE),
        Arm::new("dynamic send through five behaviours", calls, send_dynamic, expected)
            .beside(Work::Bus(BusWork::SendDynamicThroughFive))
            .within(100.0)
            .without_allocation()
            .note(FIVE),
    ];
    let outcome = measure(context, "sends through five behaviours", arms)?;
    let counts = guarded.all.0.of::<Charge>();
    verify(STATIC, "commands refused", counts.failed(), 3)?;
    verify(STATIC, "commands counted", counts.total() > calls, true)?;
    Ok(outcome)
}

/// Verifies that behaviours run before the handler: three commands that must be refused.
fn refuse(
    bus: &(impl Dispatch + rialto_bus::ServesNow<Charge>),
) -> std::result::Result<(), BenchError> {
    let charge = Charge { account: 7, price: 1, quantity: 1 };
    let (owner, stranger) = (Member { accounts: 8 }, Member { accounts: 7 });
    let nobody = Context::new();
    for (charge, cx, code) in [
        (Charge { quantity: 0, ..charge }, nobody.with_principal(&owner), "nothing_to_charge"),
        (charge, nobody.with_principal(&stranger), "foreign_account"),
        (charge, nobody, "unknown_member"),
    ] {
        let said = bus.send_now(charge, &cx).err().map(|error| error.code());
        verify(
            "five behaviours",
            "what is said to a command that must be refused",
            said,
            Some(code),
        )?;
    }
    Ok(())
}
