use crate::venue::*;
use rialto_core::{CoreConfig, RULES_VERSIONS};
use rialto_model::{
    Amount, Command, CurrencyId, InstrumentId, InstrumentSpec, InstrumentState, MemberId, Outcome,
    Price, RejectReason, Scale, Side, TradingRules,
};

fn list(venue: &mut Venue, spec: InstrumentSpec) -> Outcome {
    venue.apply(Command::CreateInstrument(spec))
}

#[test]
fn instruments_are_numbered_in_order_and_open() {
    let mut venue = Venue::new();
    assert_eq!(list(&mut venue, spec("SECOND", rules())), Outcome::Created { number: 2 });
    let instrument = venue.core.instrument(InstrumentId(2)).unwrap().instrument;
    assert_eq!(instrument.state, InstrumentState::Open);
}

#[test]
fn symbols_and_codes_are_unique_and_not_empty() {
    let mut venue = Venue::new();
    let exists = rejected(RejectReason::AlreadyExists);
    let nameless = rejected(RejectReason::NameInvalid);
    let scale = Scale::new(0).unwrap();
    assert_eq!(list(&mut venue, spec("BASE-QUOTE", rules())), exists);
    assert_eq!(list(&mut venue, spec("", rules())), nameless);
    let code = "BASE".parse().unwrap();
    assert_eq!(venue.apply(Command::CreateCurrency { code, scale }), exists);
    let code = Default::default();
    assert_eq!(venue.apply(Command::CreateCurrency { code, scale }), nameless);
}

#[test]
fn inconsistent_rules_are_refused() {
    let mut venue = Venue::new();
    let wrong = TradingRules { tick: Price(0), ..rules() };
    let refused = rejected(RejectReason::InvalidRules);
    assert_eq!(list(&mut venue, spec("SECOND", wrong)), refused);
    assert_eq!(venue.set_rules(wrong), refused);
}

#[test]
fn currencies_must_exist_where_balances_are_kept() {
    let mut venue = Venue::new();
    let elsewhere = |risk| {
        let base = CurrencyId(88);
        InstrumentSpec { base, ..spec("SECOND", TradingRules { risk, ..rules() }) }
    };
    assert_eq!(list(&mut venue, elsewhere(true)), rejected(RejectReason::UnknownCurrency));
    assert_eq!(list(&mut venue, elsewhere(false)), Outcome::Created { number: 2 });
    let switch_on = Command::SetRules { instrument: InstrumentId(2), rules: rules() };
    assert_eq!(venue.apply(switch_on), rejected(RejectReason::UnknownCurrency));
}

#[test]
fn risk_is_switched_only_while_no_order_is_open() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 100, 1));
    let off = TradingRules { risk: false, ..rules() };
    assert_eq!(venue.set_rules(off), rejected(RejectReason::HasOpenOrders));
    venue.cancel(ALICE, id);
    assert_eq!(venue.set_rules(off), Outcome::Done);
}

#[test]
fn orders_off_a_new_tick_stay_and_trade() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 101, 3));
    venue.set_rules(TradingRules { tick: Price(10), ..rules() });
    venue.enter(buy(BOB, 110, 3));
    assert_eq!(venue.trades(), [(101, 3)]);
}

#[test]
fn the_number_of_instruments_is_bounded() {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.instruments_max = 1;
    let mut venue = Venue::with(config, rules());
    assert_eq!(list(&mut venue, spec("SECOND", rules())), rejected(RejectReason::VenueFull));
}

#[test]
fn an_account_needs_an_admitted_member() {
    let mut venue = Venue::new();
    let (account, member, name) = (Default::default(), MemberId(9), "main".parse().unwrap());
    let outcome = venue.apply(Command::CreateAccount { account, member, name });
    assert_eq!(outcome, rejected(RejectReason::UnknownMember));
}

#[test]
fn members_and_accounts_have_names() {
    let mut venue = Venue::new();
    let name = rialto_model::Name::EMPTY;
    let member = Command::CreateMember { member: MemberId(9), name };
    assert_eq!(venue.apply(member), rejected(RejectReason::NameInvalid));
    let (account, member) = (Default::default(), MemberId(1));
    let account = Command::CreateAccount { account, member, name };
    assert_eq!(venue.apply(account), rejected(RejectReason::NameInvalid));
}

#[test]
fn only_versions_of_the_rules_that_are_implemented_can_be_set() {
    let mut venue = Venue::new();
    let newest = *RULES_VERSIONS.end();
    assert_eq!(venue.apply(Command::SetRulesVersion { version: newest }), Outcome::Done);
    let unknown = rejected(RejectReason::RulesVersionUnknown);
    for version in [0, newest + 1] {
        assert_eq!(venue.apply(Command::SetRulesVersion { version }), unknown);
    }
}

#[test]
fn the_rules_version_can_only_increase() {
    let config = CoreConfig { rules_version: 1, ..CoreConfig::new(ENGINE) };
    let mut venue = Venue::with(config, rules());
    assert_eq!(venue.apply(Command::SetRulesVersion { version: 2 }), Outcome::Done);
    let older = rejected(RejectReason::RulesVersionOlder);
    assert_eq!(venue.apply(Command::SetRulesVersion { version: 1 }), older);
    assert_eq!(venue.core.rules_version(), 2);
}

#[test]
fn a_halted_instrument_resumes_with_its_orders() {
    let mut venue = Venue::new();
    venue.enter(buy(ALICE, 100, 1));
    venue.set_state(InstrumentState::Halted);
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.queue(Side::Buy), [(100, 1)]);
}

#[test]
fn setting_the_state_it_has_is_no_error() {
    let mut venue = Venue::new();
    assert_eq!(venue.set_state(InstrumentState::Open), Outcome::Done);
    assert_eq!(venue.events.len(), 1);
}

#[test]
fn a_new_currency_does_not_change_balances() {
    let mut venue = Venue::new();
    for number in 0..20 {
        let code = format!("C{number}").parse().unwrap();
        venue.apply(Command::CreateCurrency { code, scale: Scale::new(0).unwrap() });
    }
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS, 0));
    let fresh = venue.core.balance(BOB, CurrencyId(22)).unwrap();
    assert_eq!(fresh.available, Amount(0));
}
