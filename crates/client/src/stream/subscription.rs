//! Subscriptions of a stream.

use rialto_api::{Str, StreamChannel, StreamOp, StreamRequest};
use rialto_model::{AccountId, Seq};

/// A subscription of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSubscription {
    pub(super) channel: StreamChannel,
    pub(super) instrument: Option<String>,
    pub(super) account: Option<AccountId>,
    pub(super) depth: Option<usize>,
    pub(super) from_seq: Option<Seq>,
}

impl StreamSubscription {
    fn of(channel: StreamChannel) -> StreamSubscription {
        let (instrument, account, depth, from_seq) = (None, None, None, None);
        StreamSubscription { channel, instrument, account, depth, from_seq }
    }

    fn market(channel: StreamChannel, instrument: &str) -> StreamSubscription {
        let instrument = Some(instrument.to_owned());
        StreamSubscription { instrument, ..StreamSubscription::of(channel) }
    }

    fn own(channel: StreamChannel, account: Option<AccountId>) -> StreamSubscription {
        StreamSubscription { account, ..StreamSubscription::of(channel) }
    }

    /// The whole book of an instrument, then its changes.
    #[must_use]
    pub fn book(instrument: &str) -> StreamSubscription {
        StreamSubscription::market(StreamChannel::Book, instrument)
    }

    /// The best levels of a book, all of them each time.
    #[must_use]
    pub fn best_levels(instrument: &str, depth: usize) -> StreamSubscription {
        StreamSubscription { depth: Some(depth), ..StreamSubscription::book(instrument) }
    }

    /// The trades of an instrument.
    #[must_use]
    pub fn trades(instrument: &str) -> StreamSubscription {
        StreamSubscription::market(StreamChannel::Trades, instrument)
    }

    /// The last 24 hours of an instrument.
    #[must_use]
    pub fn ticker(instrument: &str) -> StreamSubscription {
        StreamSubscription::market(StreamChannel::Ticker, instrument)
    }

    /// The phase of an instrument and its auction.
    #[must_use]
    pub fn auction(instrument: &str) -> StreamSubscription {
        StreamSubscription::market(StreamChannel::Auction, instrument)
    }

    /// Events of an account's orders; `None` is the key's only account.
    #[must_use]
    pub fn orders(account: Option<AccountId>) -> StreamSubscription {
        StreamSubscription::own(StreamChannel::Orders, account)
    }

    /// An account's fills; `None` is the key's only account.
    #[must_use]
    pub fn fills(account: Option<AccountId>) -> StreamSubscription {
        StreamSubscription::own(StreamChannel::Fills, account)
    }

    /// An account's balances; `None` is the key's only account.
    #[must_use]
    pub fn balances(account: Option<AccountId>) -> StreamSubscription {
        StreamSubscription::own(StreamChannel::Balances, account)
    }

    /// Orders and fills: resumes after this sequence.
    #[must_use]
    pub fn from_seq(self, seq: Seq) -> StreamSubscription {
        StreamSubscription { from_seq: Some(seq), ..self }
    }

    /// Whether it can be resumed.
    pub(super) fn is_resumable(&self) -> bool {
        matches!(self.channel, StreamChannel::Orders | StreamChannel::Fills)
    }

    /// Whether it is about all levels of a book.
    pub(super) fn is_whole_book(&self) -> bool {
        self.channel == StreamChannel::Book && self.depth.is_none()
    }

    /// Whether both have the same channel, instrument and account.
    pub(super) fn is_same(&self, other: &StreamSubscription) -> bool {
        self.channel == other.channel
            && self.instrument == other.instrument
            && self.account == other.account
            && self.depth.is_some() == other.depth.is_some()
    }

    /// The message that requests it.
    pub(super) fn request(&self, op: StreamOp, from_seq: Option<Seq>) -> StreamRequest<'_> {
        StreamRequest {
            channel: Some(self.channel),
            instrument: self.instrument.as_deref().map(Str::from),
            account: self.account,
            depth: self.depth,
            from_seq,
            ..request(op)
        }
    }
}

/// A message without any field but `op`.
pub(super) fn request(op: StreamOp) -> StreamRequest<'static> {
    StreamRequest {
        op,
        key: None,
        timestamp: None,
        nonce: None,
        signature: None,
        channel: None,
        instrument: None,
        account: None,
        depth: None,
        from_seq: None,
        cancel_on_disconnect: None,
    }
}
