//! A client of a venue: typed requests over HTTP, and the stream.
//!
//! [`Client`] has a method for each endpoint. Requests and answers are the types of [`rialto_api`],
//! which are re-exported as [`api`]. [`Client::call`] is underneath them all. [`VenueStream`]
//! delivers market data and an account's own events, and connects again when it has to.
//!
//! ```no_run
//! use rialto_client::{Client, KeyFile, api::OrderRequest, model::Side};
//!
//! # async fn example() -> Result<(), rialto_client::ClientError> {
//! let file = KeyFile::read("key.toml".as_ref())?;
//! let client = Client::new("http://127.0.0.1:8080", file.credentials()?)?;
//! let mut order = OrderRequest::limit("BTC-USD", Side::Buy, "0.01", "64000");
//! order.client_order_id = Some("first".into());
//! let answer = client.place(&order).await?;
//! let order = client.order("client:first", &Default::default()).await?.order;
//! println!("{} of {} filled, decided by command {}", order.filled, order.instrument, answer.seq);
//! # Ok(())
//! # }
//! ```
//!
//! # What a failure means
//!
//! [`ClientError`] is grouped by what the caller must do. A refusal had no effect. A venue that
//! cannot be reached did nothing. Where the connection broke after a command was sent, the outcome
//! is not known: give orders a client order id, and send the same request again.
//!
//! # Reading what was written
//!
//! A client remembers the last of its commands that the venue answered, and has queries wait until
//! they show it. [`ClientOptions::read_own_writes`] switches that off.
//!
//! # Files
//!
//! [`Client::put_file_from`] and [`Client::open_file`] pass a content on in pieces, and never hold it
//! whole. [`Client::put_file`] and [`Client::get_file`] are for small ones.
//!
//! # Limits
//!
//! An answer may take 60 s and have 64 MiB. A refusal that asks for another attempt with
//! `Retry-After` is followed for at most 5 s. A stream holds at most 4,096 events for its reader.

mod credentials;
mod endpoints;
mod error;
mod http;
mod stream;
mod transfer;

pub use credentials::{Credentials, KeyFile, secret};
pub use error::{ClientError, Refusal};
pub use http::{Client, ClientOptions, HttpAnswer, HttpRequest};
pub use rialto_api as api;
pub use rialto_model as model;
pub use stream::{StreamEvent, StreamOptions, StreamSubscription, VenueStream};
pub use transfer::{FileDownload, FileUpload, OutgoingContent, PieceSender};
