//! Folds of released events: depth, best prices, trades, own orders, balances and withdrawals.
//!
//! All queries about an engine are answered by a [`Feed`]. It folds the engine's released events in
//! order, keeps the state for queries, and passes [`Update`]s to a caller that streams them. A feed
//! can be rebuilt from the event log, or from a snapshot ([`Baseline`]) and the events after it.
//!
//! ```
//! use rialto_feed::{Feed, FeedConfig, Update};
//! use rialto_model::{Currency, CurrencyId, Event, Scale, Seq, Timestamp};
//!
//! let mut feed = Feed::new(FeedConfig::default());
//! let mut tell = |update: Update<'_>| println!("{update:?}");
//! let scale = Scale::new(2).expect("2 is a scale");
//! let dollar = Currency { id: CurrencyId(1), code: "USD".parse()?, scale };
//! feed.fold(Seq(1), Timestamp(10), &Event::CurrencyCreated(dollar), &mut tell)?;
//! feed.end_of(Seq(1), Timestamp(10), &mut tell)?;
//! assert_eq!((feed.seq(), feed.currency_by_code(&dollar.code)), (Seq(1), Some(dollar)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: queries are methods of [`Feed`] and answer with the plain structs of this
//! crate, in integers at the scales of the instrument. [`BookDelta`] says how a reader notices a
//! gap, [`DeltaMerger`] makes one delta of several, [`Feed::changes_since`] lets a private stream
//! resume. Public views carry no account ids.

mod accounts;
mod auction;
mod baseline;
mod book;
mod calendars;
mod call_depth;
mod config;
mod ended;
mod error;
mod feed;
mod fills;
mod halts;
mod invariants;
mod list;
mod market;
mod merge;
mod orders;
mod query;
mod restrictions;
mod ticker;
mod trading;
mod update;
mod view;
mod withdrawals;

pub use baseline::{
    Baseline, BaselineAccount, BaselineBalance, BaselineEnded, BaselineInstrument, BaselineOrder,
};
pub use config::FeedConfig;
pub use error::FoldError;
pub use feed::Feed;
pub use invariants::FeedViolation;
pub use merge::{DeltaMerger, MergeError};
pub use restrictions::RestrictionKey;
pub use rialto_model::Role;
pub use trading::fills_of;
pub use update::{BookDelta, Update};
pub use view::{
    AccountChanges, AccountRestriction, AccountView, AuctionResult, AuctionView, BalanceView,
    BegunTransition, BestPrices, BookOrder, BreakerView, Depth, Fill, LimitStateView, LinksView,
    MemberView, Moment, NotRemembered, OpenOrderCounts, OrderBook, OrderView, PriceLevel,
    PublicTrade, Ticker, TimetableView, WithdrawalView,
};
