//! Lists the demo's markets and funds its members, through commands like anybody else, and so
//! that doing it again changes nothing.

use super::markets::{CURRENCIES, MARKETS, MEMBERS, Role, VISITOR, VISITOR_NAME};
use crate::Error;
use rialto_engine::{Producer, SubmitError};
use rialto_feed::Feed;
use rialto_model::{
    Command, CurrencyId, Instrument, MemberId, Outcome, RejectReason, Seq, Transfer,
};
use std::time::{Duration, Instant};

const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Refuses a data directory that is not the demo's: it must get no simulated flow.
pub(crate) fn check_is_demo(feed: &Feed) -> Result<(), Error> {
    let visitor = feed.member(MemberId(VISITOR)).map(|member| member.name);
    let is_empty = feed.members().next().is_none() && feed.currencies().is_empty();
    if is_empty || visitor.is_some_and(|name| name.as_str() == VISITOR_NAME) {
        return Ok(());
    }
    Err(Error::Usage(
        "this data directory holds a venue that is not the demo's; simulated orders have no place \
         there. Choose another with --data, or run it with `rialto serve`"
            .to_string(),
    ))
}

/// Makes everything that the demo needs and the venue does not have yet; returns the sequence
/// after which all of it is there.
pub(crate) fn seed(producer: &mut Producer) -> Result<Seq, Error> {
    let mut seeder = Seeder { producer, last: Seq::ZERO };
    for currency in &CURRENCIES {
        let code = currency.code.parse().expect("the constants are codes");
        seeder.make(&Command::CreateCurrency { code, scale: currency.scale() })?;
    }
    // The first currencies of a venue that the demo began: numbered in order of listing.
    let numbers: Vec<CurrencyId> = (1..).take(CURRENCIES.len()).map(CurrencyId).collect();
    for market in &MARKETS {
        seeder.make(&Command::CreateInstrument(market.spec(&numbers)))?;
    }
    for member in &MEMBERS {
        let name = member.name.parse().expect("the constants are names");
        seeder.make(&Command::CreateMember { member: member.member(), name })?;
        let (account, member_id) = (member.account(), member.member());
        seeder.make(&Command::CreateAccount { account, member: member_id, name })?;
        for (currency, number) in CURRENCIES.iter().zip(&numbers) {
            let whole = match member.role {
                Role::Visitor => currency.visitor_funds,
                _ => currency.funds,
            };
            let reference = format!("demo-{}-{}", member.number, currency.code);
            seeder.make(&Command::deposit(Transfer {
                account,
                currency: *number,
                amount: currency.amount(whole),
                reference: reference.parse().expect("short and printable"),
            }))?;
        }
    }
    Ok(seeder.last)
}

/// The demo's instruments as the venue lists them.
pub(crate) fn instruments(feed: &Feed) -> Result<Vec<Instrument>, Error> {
    let find = |market: &super::markets::DemoMarket| {
        let symbol = market.symbol.parse().expect("the constants are symbols");
        feed.instrument_by_symbol(&symbol).copied()
    };
    MARKETS.iter().map(find).collect::<Option<Vec<_>>>().ok_or_else(|| {
        Error::Assemble("the demo's markets are not listed in this data directory".to_string())
    })
}

struct Seeder<'a> {
    producer: &'a mut Producer,
    last: Seq,
}

impl Seeder<'_> {
    /// Has something made unless it is there already.
    fn make(&mut self, command: &Command) -> Result<(), Error> {
        let failed = |why: String| Error::Assemble(format!("seeding the demo: {why}"));
        let began = Instant::now();
        while let Err(error) = self.producer.submit(0, command, None) {
            // One command is in flight at a time: the engine is busy only while the disk is stalled.
            if error != SubmitError::Busy || began.elapsed() >= REPLY_TIMEOUT {
                return Err(failed(error.to_string()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let reply = self.producer.reply_timeout(REPLY_TIMEOUT);
        let reply = reply.ok_or_else(|| failed("the engine does not answer".to_string()))?;
        let answer = reply.answer.map_err(|no_answer| failed(no_answer.to_string()))?;
        self.last = answer.seq;
        match answer.outcome {
            Outcome::Rejected { reason: RejectReason::AlreadyExists } => Ok(()),
            Outcome::Rejected { reason } => {
                Err(failed(format!("{:?} was refused: {reason}", command.kind())))
            }
            _ => Ok(()),
        }
    }
}
