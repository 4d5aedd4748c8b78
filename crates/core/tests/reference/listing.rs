//! Members, accounts, currencies and instruments.

use super::auction::keeps_grid;
use super::contract::check_terms;
use super::entry::{Check, Verdict, demand};
use super::{Account, Listed, Order, Reference};
use rialto_model::{
    AccountId, AuctionRules, ContractTerms, Currency, CurrencyCode, CurrencyId, Event, Instrument,
    InstrumentId, InstrumentSpec, InstrumentState, MemberId, Name, Outcome, RejectReason, Scale,
    Timestamp, TradingRules,
};

const GIVEN: &str = "name, code or symbol given";
const NEW: &str = "that it is new";
const ID: &str = "id";
const ROOM: &str = "room";

const OF_MEMBERS: [Check<(MemberId, Name)>; 3] = [
    (GIVEN, |_, (_, name)| demand(!name.is_empty(), RejectReason::NameInvalid)),
    (ID, |venue, (asked, _)| {
        check_id(asked.0, |number| venue.members.contains_key(&MemberId(number)))
    }),
    (ROOM, |venue, _| has_room(venue.members.len(), venue.bounds.members_max)),
];

const OF_ACCOUNTS: [Check<(AccountId, MemberId, Name)>; 4] = [
    (GIVEN, |_, (_, _, name)| demand(!name.is_empty(), RejectReason::NameInvalid)),
    ("what it refers to (of an account)", |venue, (_, member, _)| {
        demand(venue.members.contains_key(member), RejectReason::UnknownMember)
    }),
    (ID, |venue, (asked, ..)| {
        check_id(asked.0, |number| venue.accounts.contains_key(&AccountId(number)))
    }),
    (ROOM, |venue, _| has_room(venue.accounts.len(), venue.bounds.accounts_max)),
];

const OF_CURRENCIES: [Check<CurrencyCode>; 3] = [
    (GIVEN, |_, code| demand(!code.is_empty(), RejectReason::NameInvalid)),
    (NEW, |venue, code| {
        let is_used = venue.currencies.iter().any(|currency| currency.code == *code);
        demand(!is_used, RejectReason::AlreadyExists)
    }),
    (ROOM, |venue, _| has_room(venue.currencies.len(), venue.bounds.currencies_max)),
];

const OF_INSTRUMENTS: [Check<InstrumentSpec>; 6] = [
    (GIVEN, |_, spec| demand(!spec.symbol.is_empty(), RejectReason::NameInvalid)),
    (NEW, |venue, spec| {
        let mut symbols = venue.instruments.iter().map(|listed| listed.instrument.spec.symbol);
        demand(!symbols.any(|symbol| symbol == spec.symbol), RejectReason::AlreadyExists)
    }),
    (ROOM, |venue, _| has_room(venue.instruments.len(), venue.bounds.instruments_max)),
    ("decimal places", |_, spec| demand(places(spec) <= 18, RejectReason::InvalidRules)),
    ("what it refers to (of an instrument)", |venue, spec| {
        let sides = [spec.base, spec.quote];
        let are_known = sides.into_iter().all(|id| venue.currency(id).is_ok());
        demand(are_known || !spec.rules.risk, RejectReason::UnknownCurrency)
    }),
    ("rules", |venue, spec| demand(venue.is_sound(spec), RejectReason::InvalidRules)),
];

/// The names of the checks of all that is created, each list in its order.
pub fn create_checks() -> [Vec<&'static str>; 4] {
    fn names<T, const N: usize>(checks: [Check<T>; N]) -> Vec<&'static str> {
        checks.iter().map(|(name, _)| *name).collect()
    }
    [names(OF_MEMBERS), names(OF_ACCOUNTS), names(OF_CURRENCIES), names(OF_INSTRUMENTS)]
}

/// Decimal places of a price times a quantity.
fn places(spec: &InstrumentSpec) -> u8 {
    spec.price_scale.places() + spec.quantity_scale.places()
}

fn check_id(asked: u32, is_used: impl Fn(u32) -> bool) -> Verdict {
    demand(asked <= AccountId::MAX.0, RejectReason::IdOutOfRange)?;
    demand(asked == 0 || !is_used(asked), RejectReason::AlreadyExists)
}

fn has_room(there_are: usize, most: u32) -> Verdict {
    demand(there_are < most as usize, RejectReason::VenueFull)
}

/// The number asked for, or the least free one.
fn number(asked: u32, is_used: impl Fn(u32) -> bool) -> u32 {
    let free = || (1..).find(|number| !is_used(*number));
    if asked != 0 { asked } else { free().expect("there is room") }
}

/// Whether rules agree with themselves.
fn are_sound(rules: &TradingRules) -> bool {
    let (maker, taker) = (rules.maker_fee_ppm, rules.taker_fee_ppm);
    let bands = [rules.collar_ppm, rules.market_protection_ppm];
    let conditions = [
        rules.tick.0 > 0,
        rules.lot.0 > 0,
        rules.quantity_max >= rules.lot,
        rules.notional_min.0 >= 0,
        rules.reference_price.0 >= 0,
        // A tenth at most, and nobody is paid more than another pays.
        (0..=100_000).contains(&taker),
        i64::from(maker).abs() <= i64::from(taker),
        bands.into_iter().all(|ppm| ppm < 1_000_000),
        u64::from(rules.day_end_s) * Timestamp::SECOND < Timestamp::DAY,
    ];
    !conditions.contains(&false)
}

/// The largest number that divides both.
pub(super) fn common(left: i64, right: i64) -> i64 {
    (1..=left.min(right)).rev().find(|it| left % it == 0 && right % it == 0).expect("one does")
}

impl Reference {
    pub(super) fn create_member(
        &mut self,
        asked: MemberId,
        name: Name,
    ) -> Result<Outcome, RejectReason> {
        OF_MEMBERS.iter().try_for_each(|(_, check)| check(self, &(asked, name)))?;
        let number = number(asked.0, |number| self.members.contains_key(&MemberId(number)));
        let member = MemberId(number);
        self.members.insert(member, name);
        self.events.push(Event::MemberCreated { member, name });
        Ok(Outcome::Created { number })
    }

    pub(super) fn create_account(
        &mut self,
        asked: AccountId,
        member: MemberId,
        name: Name,
    ) -> Result<Outcome, RejectReason> {
        OF_ACCOUNTS.iter().try_for_each(|(_, check)| check(self, &(asked, member, name)))?;
        let number = number(asked.0, |number| self.accounts.contains_key(&AccountId(number)));
        let account = AccountId(number);
        let opened = self.accounts.len();
        let opened = Account { member, name, dead_man: None, opened, entered: Vec::new() };
        self.accounts.insert(account, opened);
        self.events.push(Event::AccountCreated { account, member, name });
        Ok(Outcome::Created { number })
    }

    pub(super) fn create_currency(
        &mut self,
        code: CurrencyCode,
        scale: Scale,
    ) -> Result<Outcome, RejectReason> {
        OF_CURRENCIES.iter().try_for_each(|(_, check)| check(self, &code))?;
        let number = self.currencies.len() as u16 + 1;
        let currency = Currency { id: CurrencyId(number), code, scale };
        self.currencies.push(currency);
        self.events.push(Event::CurrencyCreated(currency));
        Ok(Outcome::Created { number: u32::from(number) })
    }

    pub(super) fn currency(&self, id: CurrencyId) -> Result<&Currency, RejectReason> {
        let mut currencies = self.currencies.iter();
        currencies.find(|currency| currency.id == id).ok_or(RejectReason::UnknownCurrency)
    }

    pub(super) fn create_instrument(
        &mut self,
        spec: &InstrumentSpec,
    ) -> Result<Outcome, RejectReason> {
        OF_INSTRUMENTS.iter().try_for_each(|(_, check)| check(self, spec))?;
        let number = self.instruments.len() as u32 + 1;
        let instrument = InstrumentId(number);
        self.instruments.push(self.build(instrument, spec));
        self.events.push(Event::InstrumentCreated { instrument, spec: *spec });
        Ok(Outcome::Created { number })
    }

    /// The scales of an instrument's currencies. Where risk is off a currency need not exist, and is
    /// then as fine as the instrument needs it.
    fn scales(&self, spec: &InstrumentSpec) -> (Scale, Scale) {
        let scale = |id| self.currency(id).map(|currency| currency.scale).ok();
        let quote = Scale::new(places(spec)).expect("that was checked before");
        (scale(spec.base).unwrap_or(spec.quantity_scale), scale(spec.quote).unwrap_or(quote))
    }

    /// Whether an instrument trades one currency for another, both fine enough for it, under rules
    /// that agree with themselves.
    fn is_sound(&self, spec: &InstrumentSpec) -> bool {
        let (base, quote) = self.scales(spec);
        spec.base != spec.quote
            && base.places() >= spec.quantity_scale.places()
            && quote.places() >= places(spec)
            && are_sound(&spec.rules)
    }

    /// Lists an instrument that has been checked.
    fn build(&self, id: InstrumentId, spec: &InstrumentSpec) -> Listed {
        let (base_scale, quote_scale) = self.scales(spec);
        let of = |id, scale| Currency { id, code: CurrencyCode::EMPTY, scale };
        let (base, quote) = (of(spec.base, base_scale), of(spec.quote, quote_scale));
        let instrument = Instrument::new(id, *spec, &base, &quote);
        let instrument = instrument.expect("what is sound can be listed");
        Listed {
            instrument,
            base_scale,
            quote_scale,
            last_price: None,
            auction_rules: AuctionRules::PLAIN,
            terms: ContractTerms::PLAIN,
            seed: 0,
            calls: 0,
            auction_price: None,
            call: None,
            halt: None,
            halt_next: None,
            at_limit: None,
            calendar: Name::EMPTY,
            uncrossing_since: Timestamp::ZERO,
            clearing: false,
        }
    }

    pub(super) fn set_rules(
        &mut self,
        id: InstrumentId,
        rules: &TradingRules,
    ) -> Result<Outcome, RejectReason> {
        let mut new = self.listed(id)?.clone();
        demand(are_sound(rules), RejectReason::InvalidRules)?;
        check_terms(&new.terms, rules)?;
        demand(!new.is_uncrossing(), RejectReason::InstrumentUncrossing)?;
        let is_open = self.orders.iter().any(|order| order.instrument == id);
        let keeps = keeps_grid(&new.instrument.spec.rules, rules);
        demand(self.rules_version < 4 || !is_open || keeps, RejectReason::HasOpenOrders)?;
        let is_by_lot = new.terms.lot_fees.is_some();
        let keeps_lot = new.instrument.spec.rules.lot == rules.lot;
        demand(!is_by_lot || !is_open || keeps_lot, RejectReason::HasOpenOrders)?;
        let follows = |order: &Order| order.waits.is_some_and(|waits| waits.follows.is_some());
        let mut of_it = self.orders.iter().filter(|order| order.instrument == id);
        let keeps_tick = new.instrument.spec.rules.tick == rules.tick;
        demand(keeps_tick || !of_it.any(follows), RejectReason::HasOpenOrders)?;
        if new.instrument.spec.rules.risk != rules.risk {
            demand(!is_open, RejectReason::HasOpenOrders)?;
            let spec = InstrumentSpec { rules: *rules, ..new.instrument.spec };
            OF_INSTRUMENTS[3..].iter().try_for_each(|(_, check)| check(self, &spec))?;
            let state = new.instrument.state;
            let Listed { instrument, base_scale, quote_scale, .. } = self.build(id, &spec);
            new = Listed { instrument, base_scale, quote_scale, ..new };
            new.instrument.state = state;
        }
        new.instrument.spec.rules = *rules;
        *self.listed_mut(id)? = new;
        self.arm_breakers(id);
        self.events.push(Event::RulesSet { instrument: id, rules: *rules });
        Ok(Outcome::Done)
    }

    pub(super) fn set_rules_version(&mut self, version: u32) -> Result<Outcome, RejectReason> {
        if !(1..=10).contains(&version) {
            return Err(RejectReason::RulesVersionUnknown);
        }
        if version < self.rules_version {
            return Err(RejectReason::RulesVersionOlder);
        }
        if self.rules_version < 2 && version >= 2 {
            self.adopt_work();
        }
        if self.rules_version < 6 && version >= 6 {
            let halts = self.instruments.iter_mut().filter_map(|listed| listed.halt.as_mut());
            let to_pre_open = halts.filter(|halt| halt.then.phase == InstrumentState::PreOpen);
            to_pre_open.for_each(|halt| halt.then.call = None);
        }
        self.rules_version = version;
        self.events.push(Event::RulesVersionSet { version });
        Ok(Outcome::Done)
    }
}
