//! The stream: market data and an account's own events, over a connection that is made again when
//! it is lost.

mod connection;
mod keeper;
mod subscription;

pub use subscription::StreamSubscription;

use crate::{Client, ClientError};
use keeper::{Keeper, ReaderRequest};
use rialto_api::{StreamChannel, StreamMessage};
use rialto_model::{AccountId, Symbol};
use std::time::Duration;
use tokio::sync::mpsc;

/// The options of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    /// The most events that wait for their reader: 4,096. At the limit, the stream stops reading
    /// its connection. The venue then merges market data and, past its own limits, ends the
    /// connection; the stream connects again and resumes, so that no order or fill is lost.
    pub queue_max: usize,
    /// The longest wait between two attempts to connect again: 10 s.
    pub reconnect_wait_max: Duration,
    /// How long a connection may be silent before it counts as lost: 35 s. A venue sends something
    /// every 10 s.
    pub silence_max: Duration,
    /// Whether orders with cancel on disconnect are cancelled when the connection is lost.
    pub cancel_on_disconnect: bool,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            queue_max: 4_096,
            reconnect_wait_max: Duration::from_secs(10),
            silence_max: Duration::from_secs(35),
            cancel_on_disconnect: false,
        }
    }
}

/// An event of a stream.
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// A message of the venue. A refused subscription is one, too: `StreamMessage::Error`.
    Message(Box<StreamMessage<'static>>),
    /// The connection was lost. The stream is connecting again.
    Disconnected {
        /// The reason.
        reason: String,
    },
    /// The stream is connected again, and every subscription is in force. Orders and fills continue
    /// after the last one seen. Books, tickers and balances begin again with the full state. Trades
    /// of others that happened meanwhile are in `GET /v1/trades/{symbol}`.
    Resumed,
    /// Orders or fills were missed, because the venue keeps no events from that far back. The
    /// subscription continues with new events; read the missed ones over HTTP.
    Missed {
        /// The channel.
        channel: StreamChannel,
        /// The account.
        account: Option<AccountId>,
    },
    /// A message about a book was missed. Its subscription begins again, and the next `book`
    /// message replaces the book.
    BookGap {
        /// The instrument.
        instrument: Symbol,
    },
}

/// A stream of events. It ends when it is dropped.
#[derive(Debug)]
pub struct VenueStream {
    events: mpsc::Receiver<Result<StreamEvent, ClientError>>,
    orders: mpsc::UnboundedSender<ReaderRequest>,
}

impl VenueStream {
    /// The next event. `None` comes after an error, which ends the stream: the key is no longer
    /// valid, or the venue refuses it.
    ///
    /// # Errors
    /// The stream cannot continue.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ClientError>> {
        self.events.recv().await
    }

    /// Begins another subscription.
    pub fn subscribe(&self, subscription: StreamSubscription) {
        let _ = self.orders.send(ReaderRequest::Subscribe(subscription));
    }

    /// Ends a subscription.
    pub fn unsubscribe(&self, subscription: StreamSubscription) {
        let _ = self.orders.send(ReaderRequest::Unsubscribe(subscription));
    }
}

impl Client {
    /// Connects, authenticates if there is a key, and subscribes.
    ///
    /// # Errors
    /// The venue cannot be reached or refuses the key.
    pub async fn stream(
        &self,
        subscriptions: impl IntoIterator<Item = StreamSubscription>,
    ) -> Result<VenueStream, ClientError> {
        self.stream_with(subscriptions, StreamOptions::default()).await
    }

    /// As [`Client::stream`], with other bounds.
    ///
    /// # Errors
    /// As [`Client::stream`].
    pub async fn stream_with(
        &self,
        subscriptions: impl IntoIterator<Item = StreamSubscription>,
        options: StreamOptions,
    ) -> Result<VenueStream, ClientError> {
        let (tell, events) = mpsc::channel(options.queue_max.max(1));
        let (orders, taken) = mpsc::unbounded_channel();
        let subscriptions = subscriptions.into_iter().collect();
        let keeper = Keeper::connect(self.clone(), options, subscriptions, tell, taken).await?;
        tokio::spawn(keeper.run());
        Ok(VenueStream { events, orders })
    }
}
