//! What requests and answers are made of.

mod market;
mod order;
mod queue;
mod transaction;
mod venue;
mod withdrawal;

pub(crate) use market::{write_book, write_depth, write_instrument, write_ticker, write_trade};
pub(crate) use order::{
    AmendRequest, CancelRequest, OrderRequest, Placed, done_name, order_of, order_ref, side_name,
    time_in_force_name, write_fill, write_order_answer, write_order_view,
};
pub use queue::topic_json;
pub(crate) use queue::{
    FetchRequest, GroupRequest, LeaseRequest, MessageRequest, NackRequest, SettleRequest,
    TopicRequest, write_delivered, write_message, write_topic,
};
pub(crate) use transaction::TransactionRequest;
pub(crate) use venue::{
    AccountRequest, CurrencyRequest, InstrumentRequest, MemberRequest, RulesRequest, StateRequest,
    TransferRequest, write_balance,
};
pub(crate) use withdrawal::{ApproveRequest, RejectRequest, WithdrawalRequest, write_withdrawal};
