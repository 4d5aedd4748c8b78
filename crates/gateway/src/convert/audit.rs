//! Commands of operators.

use rialto_api::{AuditInfo, AuditOutcome};
use rialto_desk::{AuditRecord, NameTable};
use rialto_model::{
    AccountId, Amount, CurrencyId, Event, HaltScope, InstrumentId, OrderId, Reference, Rejected,
    RestrictionTarget,
};

/// A command of an operator, with the names of what it is about.
pub(crate) fn audit_info(record: &AuditRecord, names: &NameTable) -> AuditInfo {
    let attribution = &record.attributed.attribution;
    let reason = Some(attribution.reason).filter(|reason| !reason.is_empty());
    let mut info = AuditInfo {
        seq: record.seq,
        time: record.time,
        command: record.attributed.command,
        by: attribution.by.to_string(),
        reason: reason.map(|reason| reason.to_string()),
        outcome: AuditOutcome::Done,
        code: None,
        member: None,
        account: None,
        name: None,
        instrument: None,
        state: None,
        restriction: None,
        cancel: None,
        planned: None,
        moved_to: None,
        until: None,
        currency: None,
        amount: None,
        reference: None,
        version: None,
    };
    if let Some(outcome) = &record.outcome {
        describe(&mut info, outcome, names);
    }
    info
}

fn describe(info: &mut AuditInfo, outcome: &Event, names: &NameTable) {
    let symbol = |id: InstrumentId| names.instrument(id).map(|listing| listing.symbol);
    match *outcome {
        Event::Rejected(Rejected { reason, account, instrument, .. }) => {
            info.outcome = AuditOutcome::Refused;
            info.code = Some(reason.code().into());
            info.account = Some(account).filter(|account| *account != AccountId::default());
            info.instrument = symbol(instrument);
        }
        Event::Repeated { account, name, order: OrderId(0), .. } => {
            info.outcome = AuditOutcome::Repeated;
            info.account = Some(account);
            info.reference = Some(name);
        }
        Event::Deposited { account, currency, amount, reference }
        | Event::Withdrawn { account, currency, amount, reference }
        | Event::WithdrawalSettled { account, currency, amount, reference }
        | Event::WithdrawalReleased { account, currency, amount, reference } => {
            moved(info, (account, currency, amount, reference), names);
        }
        Event::MemberCreated { member, name } => {
            info.member = Some(member);
            info.name = Some(name.to_string());
        }
        Event::AccountCreated { account, member, name } => {
            info.account = Some(account);
            info.member = Some(member);
            info.name = Some(name.to_string());
        }
        Event::CurrencyCreated(currency) => info.currency = Some(currency.code),
        Event::InstrumentCreated { spec, .. } => info.instrument = Some(spec.symbol),
        Event::RulesSet { instrument, .. }
        | Event::AuctionRulesSet { instrument, .. }
        | Event::ContractTermsSet { instrument, .. } => {
            info.instrument = symbol(instrument);
        }
        Event::InstrumentStateSet { instrument, state } => {
            info.instrument = symbol(instrument);
            info.state = Some(state);
        }
        Event::Restricted(restrict) => {
            info.restriction = Some(restrict.restriction);
            info.cancel = Some(restrict.cancel);
            match restrict.target {
                RestrictionTarget::Venue => {}
                RestrictionTarget::Member(member) => info.member = Some(member),
                RestrictionTarget::Account(account) => info.account = Some(account),
                RestrictionTarget::Instrument(instrument) => info.instrument = symbol(instrument),
            }
        }
        Event::CalendarAssigned { instrument, calendar } => {
            info.instrument = symbol(instrument);
            info.name = Some(calendar.to_string()).filter(|name| !name.is_empty());
        }
        Event::TransitionMoved { calendar, at, to } => {
            info.name = Some(calendar.to_string());
            (info.planned, info.moved_to) = (Some(at), Some(to));
        }
        Event::TradingHalted(halted) => {
            info.until = Some(halted.until);
            match halted.scope {
                HaltScope::Venue => {}
                HaltScope::Calendar(calendar) => info.name = Some(calendar.to_string()),
                HaltScope::Instrument(instrument) => info.instrument = symbol(instrument),
            }
        }
        Event::CircuitBreakerSet(rule) => {
            info.instrument = symbol(rule.instrument);
            info.name = Some(rule.calendar.to_string());
        }
        Event::RulesVersionSet { version } => info.version = Some(version),
        _ => {}
    }
}

fn moved(
    info: &mut AuditInfo,
    (account, currency, amount, reference): (AccountId, CurrencyId, Amount, Reference),
    names: &NameTable,
) {
    info.account = Some(account);
    info.reference = Some(reference);
    if let Some(currency) = names.currency(currency) {
        info.currency = Some(currency.code);
        info.amount = Some(amount.decimal(currency.scale));
    }
}
