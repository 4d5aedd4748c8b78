//! Members, accounts, currencies and instruments.

use super::{Account, Listed, Reference, Work};
use rialto_model::{
    AccountId, Currency, CurrencyCode, CurrencyId, Event, Instrument, InstrumentError,
    InstrumentId, InstrumentSpec, InstrumentState, MemberId, Name, Outcome, RejectReason, Scale,
    TradingRules,
};

/// Chooses the number asked for, or the next free one.
fn choose(
    asked: u32,
    used: impl Fn(u32) -> bool,
    highest: u32,
    full: bool,
) -> Result<u32, RejectReason> {
    if asked > highest {
        return Err(RejectReason::IdOutOfRange);
    }
    if asked != 0 && used(asked) {
        return Err(RejectReason::AlreadyExists);
    }
    if full {
        return Err(RejectReason::VenueFull);
    }
    if asked != 0 {
        return Ok(asked);
    }
    (1..=highest).find(|number| !used(*number)).ok_or(RejectReason::VenueFull)
}

impl Reference {
    pub(super) fn create_member(
        &mut self,
        asked: MemberId,
        name: Name,
    ) -> Result<Outcome, RejectReason> {
        if name.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        let used = |number| self.members.contains_key(&MemberId(number));
        let full = self.members.len() >= self.bounds.members_max as usize;
        let number = choose(asked.0, used, AccountId::MAX.0, full)?;
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
        if name.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        if !self.members.contains_key(&member) {
            return Err(RejectReason::UnknownMember);
        }
        let used = |number| self.accounts.contains_key(&AccountId(number));
        let full = self.accounts.len() >= self.bounds.accounts_max as usize;
        let number = choose(asked.0, used, AccountId::MAX.0, full)?;
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
        if code.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        if self.currencies.iter().any(|currency| currency.code == code) {
            return Err(RejectReason::AlreadyExists);
        }
        if self.currencies.len() >= self.bounds.currencies_max as usize {
            return Err(RejectReason::VenueFull);
        }
        let number = self.currencies.len() as u16 + 1;
        let currency = Currency { id: CurrencyId(number), code, scale };
        self.currencies.push(currency);
        self.events.push(Event::CurrencyCreated(currency));
        Ok(Outcome::Created { number: u32::from(number) })
    }

    pub(super) fn currency(&self, id: CurrencyId) -> Result<&Currency, RejectReason> {
        self.currencies
            .iter()
            .find(|currency| currency.id == id)
            .ok_or(RejectReason::UnknownCurrency)
    }

    pub(super) fn create_instrument(
        &mut self,
        spec: &InstrumentSpec,
    ) -> Result<Outcome, RejectReason> {
        if spec.symbol.is_empty() {
            return Err(RejectReason::NameInvalid);
        }
        if self.instruments.iter().any(|listed| listed.instrument.spec.symbol == spec.symbol) {
            return Err(RejectReason::AlreadyExists);
        }
        if self.instruments.len() >= self.bounds.instruments_max as usize {
            return Err(RejectReason::VenueFull);
        }
        let number = self.instruments.len() as u32 + 1;
        let listed = self.build(InstrumentId(number), spec)?;
        self.instruments.push(listed);
        self.events
            .push(Event::InstrumentCreated { instrument: InstrumentId(number), spec: *spec });
        Ok(Outcome::Created { number })
    }

    /// Where risk is off a currency need not exist, and is then as fine as the instrument needs it.
    fn build(&self, id: InstrumentId, spec: &InstrumentSpec) -> Result<Listed, RejectReason> {
        let places = spec.price_scale.places() + spec.quantity_scale.places();
        let quote_scale = Scale::new(places).ok_or(RejectReason::InvalidRules)?;
        let listed = |id: CurrencyId, scale: Scale| match self.currency(id) {
            Err(_) if !spec.rules.risk => Ok(Currency { id, code: CurrencyCode::EMPTY, scale }),
            found => found.copied(),
        };
        let base = listed(spec.base, spec.quantity_scale)?;
        let quote = listed(spec.quote, quote_scale)?;
        let instrument = Instrument::new(id, *spec, &base, &quote)
            .map_err(|_: InstrumentError| RejectReason::InvalidRules)?;
        let (base_scale, quote_scale) = (base.scale, quote.scale);
        Ok(Listed { instrument, base_scale, quote_scale, last_price: None })
    }

    pub(super) fn set_rules(
        &mut self,
        id: InstrumentId,
        rules: &TradingRules,
    ) -> Result<Outcome, RejectReason> {
        let old = self.listed(id)?.instrument.spec.rules;
        rules.check().map_err(|_| RejectReason::InvalidRules)?;
        let open = self.orders.iter().any(|order| order.instrument == id);
        if old.risk != rules.risk && open {
            return Err(RejectReason::HasOpenOrders);
        }
        if old.risk != rules.risk {
            let old = self.listed(id)?.clone();
            let spec = InstrumentSpec { rules: *rules, ..old.instrument.spec };
            let mut new = Listed { last_price: old.last_price, ..self.build(id, &spec)? };
            new.instrument.state = old.instrument.state;
            *self.listed_mut(id)? = new;
        }
        self.listed_mut(id)?.instrument.spec.rules = *rules;
        self.events.push(Event::RulesSet { instrument: id, rules: *rules });
        Ok(Outcome::Done)
    }

    pub(super) fn set_instrument_state(
        &mut self,
        id: InstrumentId,
        state: InstrumentState,
    ) -> Result<Outcome, RejectReason> {
        self.listed(id)?;
        let closing = self.work.contains(&Work::Instrument(id));
        if closing && state != InstrumentState::Closed {
            return Err(RejectReason::HasOpenOrders);
        }
        self.listed_mut(id)?.instrument.state = state;
        self.events.push(Event::InstrumentStateSet { instrument: id, state });
        if state == InstrumentState::Closed && !closing {
            return Ok(self.begin(Work::Instrument(id), &mut 0));
        }
        Ok(Outcome::Done)
    }

    pub(super) fn set_rules_version(&mut self, version: u32) -> Result<Outcome, RejectReason> {
        if !(1..=3).contains(&version) {
            return Err(RejectReason::RulesVersionUnknown);
        }
        if version < self.rules_version {
            return Err(RejectReason::RulesVersionOlder);
        }
        if self.rules_version < 2 && version >= 2 {
            self.adopt_work();
        }
        self.rules_version = version;
        self.events.push(Event::RulesVersionSet { version });
        Ok(Outcome::Done)
    }
}
