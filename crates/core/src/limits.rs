//! The bounds that a core is built with.

use rialto_model::{EVENT_BYTES_MAX, EngineId, MemberId};

/// The most makers that one command touches, and the most orders that a mass cancel visits in one
/// command.
pub const ORDERS_PER_COMMAND: u32 = 256;
/// How many steps of the search for the price of an auction count as one order. A step matches a level
/// of one side with a level of the other.
pub const SEARCH_STEPS_PER_ORDER: u32 = 8;
/// The largest number of events of a command:
/// - two for each order that it touches, or three where it ends linked orders;
/// - at the beginning of an incoming order one, of an iceberg or an order with exits two;
/// - at its end six if its next trade halts trading, which touches one order less, and one more if it is of kind
///   five levels;
/// - in background work one for each order, and one for each turn, which counts as an order.
pub const EVENTS_PER_COMMAND: usize = 3 * ORDERS_PER_COMMAND as usize + 11;
/// How many accounts are looked at, when the orders of a member or of the venue are cancelled, for
/// what one order costs.
pub const ACCOUNTS_PER_ORDER: u32 = 16;
/// The most bytes of the events of one command, without the header of their record. It is more than
/// what [`EVENTS_PER_COMMAND`] events take, because rules version 1 has other bounds.
pub const EVENTS_BYTES_MAX: usize = 4 * ORDERS_PER_COMMAND as usize * EVENT_BYTES_MAX;
const _: () = assert!(EVENTS_PER_COMMAND * EVENT_BYTES_MAX <= EVENTS_BYTES_MAX);
/// The most calendars.
pub const CALENDARS_MAX: usize = 64;
/// The most transitions of a calendar that have not begun, and the most of a plan.
pub const TRANSITIONS_MAX: usize = 1_024;
/// The most orders, or levels where totals suffice, that a fill-or-kill check looks at.
pub const FOK_DEPTH_MAX: u32 = 4_096;
/// The largest sum that may be held in one currency: 2^120 smallest units.
pub const HELD_MAX: i128 = 1 << 120;
/// The highest id that a member may have.
pub const MEMBER_ID_MAX: MemberId = MemberId((1 << 20) - 1);
/// The longest dead-man timer: one day.
pub const DEAD_MAN_MAX_NS: u64 = rialto_model::Timestamp::DAY;
/// The largest quantity at one price if a single large order would exceed it: 2^62. Such an order
/// is refused as [`QuantityTooLarge`](rialto_model::RejectReason::QuantityTooLarge).
pub const LEVEL_QUANTITY_MAX: i64 = 1 << 62;

/// The capacities of a core. A command that would exceed one is refused as
/// [`VenueFull`](rialto_model::RejectReason::VenueFull), unless said otherwise.
///
/// Limits are part of the state: a restored core keeps those of its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members.
    pub members_max: u32,
    /// Accounts; their ids may be anything up to [`AccountId::MAX`](rialto_model::AccountId::MAX).
    pub accounts_max: u32,
    /// Currencies.
    pub currencies_max: u32,
    /// Instruments; at most 65,535.
    pub instruments_max: u32,
    /// Open orders, over all instruments; at most 2^30.
    pub orders_max: u32,
    /// Ended withdrawals that are remembered by their references, over all accounts; the account
    /// that has most loses its oldest. Before rules version 2: deposits and withdrawals, and the
    /// oldest of all is forgotten.
    pub transfers_max: u32,
    /// Ended withdrawals of one account that are remembered by their references; the oldest is
    /// forgotten. Since rules version 2.
    pub account_transfers_max: u32,
    /// Deposits of the last 30 days that are remembered by their references. Since rules version 2.
    pub deposits_max: u32,
    /// Orders of one account that are remembered by their client order ids, beside the
    /// open ones; the oldest is forgotten.
    pub client_ids_max: u32,
    /// The same over all accounts; the account that has most loses its oldest. Since rules version 2.
    pub client_ids_total_max: u32,
    /// Mass cancels in progress at once under rules version 1. Since version 2 each account has
    /// room for all of its own.
    pub pending_cancels_max: u32,
    /// Withdrawals that are held, over all accounts.
    pub withdrawals_max: u32,
    /// Withdrawals of one account that are held; another is refused as
    /// [`WithdrawalsLimit`](rialto_model::RejectReason::WithdrawalsLimit).
    pub account_withdrawals_max: u32,
}

impl Limits {
    /// Limits that a version of the rules does not know, and that its state therefore does not hold,
    /// have their default until a later version is set.
    #[must_use]
    pub(crate) fn under(self, rules_version: u32) -> Limits {
        if rules_version >= 2 {
            return self;
        }
        let Limits { account_transfers_max, deposits_max, client_ids_total_max, .. } =
            Limits::default();
        Limits { account_transfers_max, deposits_max, client_ids_total_max, ..self }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            members_max: (1 << 20) - 1,
            accounts_max: (1 << 20) - 1,
            currencies_max: 255,
            instruments_max: 4_095,
            orders_max: 1 << 22,
            transfers_max: 1 << 20,
            account_transfers_max: 1_024,
            deposits_max: 1 << 20,
            client_ids_max: 1_024,
            client_ids_total_max: 1 << 20,
            pending_cancels_max: 1_024,
            withdrawals_max: 1 << 16,
            account_withdrawals_max: 64,
        }
    }
}

/// The configuration of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreConfig {
    /// The id of this engine: the high bits of its order and trade ids.
    pub engine: EngineId,
    /// The version of the rules that decides until a command sets another.
    pub rules_version: u32,
    /// The bounds.
    pub limits: Limits,
    /// Keys the hashes of lookup tables, against members who choose colliding texts. It never
    /// affects a result and is not part of the state.
    pub hash_key: u64,
}

impl CoreConfig {
    /// The newest rules and the default limits.
    #[must_use]
    pub fn new(engine: EngineId) -> CoreConfig {
        let rules_version = *crate::RULES_VERSIONS.end();
        CoreConfig { engine, rules_version, limits: Limits::default(), hash_key: 0 }
    }
}
