//! Conversion between the API's types and the venue's.

mod amendment;
mod audit;
mod calendar;
mod depot;
mod depot_upkeep;
mod linked;
mod market;
mod order;
mod queue;
mod statement;
mod venue;
mod withdrawal;

pub(crate) use amendment::Amendment;
pub(crate) use audit::audit_info;
pub(crate) use calendar::{calendar_info, transition_info};
pub(crate) use depot::{claim_info, directory_kind, settled_info};
pub use depot::{claimed_file, dead_letter_info, file_info, record_info, tenant_info, volume_info};
pub(crate) use depot_upkeep::scrub_info;
pub use depot_upkeep::{adopted_info, damage_info, scan_info, watch_info};
pub(crate) use market::{
    auction_info, auction_rules_info, best, book_levels, book_orders, instrument_info, range_info,
    ticker_info, trade_info,
};
pub(crate) use order::{
    Placed, entered_result, entering, fill_info, order_answer, order_event, order_info, order_ref,
    order_result,
};
pub use queue::topic_json;
pub(crate) use queue::{
    delivered_info, group_options, lease_numbers, message_info, new_messages, topic_info,
    topic_options, transaction,
};
pub(crate) use statement::statement_run_info;
pub(crate) use venue::{
    auction_rules_over, balance_info, contract_terms_over, instrument_spec, rules_over,
};
pub(crate) use withdrawal::withdrawal_info;
