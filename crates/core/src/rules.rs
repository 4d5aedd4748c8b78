//! How the venue decides, where the types of `rialto-model` do not say it.
//!
//! # Versions
//! What follows is said of the newest version. [`SetRulesVersion`] goes on to a later version and
//! never back ([`RulesVersionOlder`]); the version in force may be set again, which changes nothing.
//! A core under an older version decides as the build that introduced it did, except that it can go
//! on to a later version. Recorded journals of every version prove it
//! (`crates/core/tests/rules_versions`).
//!
//! | What | Version 1 | Version 2 |
//! |---|---|---|
//! | Form of the state (snapshot, state hash) | format 2 | format 3 |
//!
//! [`SetRulesVersion`]: rialto_model::Command::SetRulesVersion
//! [`RulesVersionOlder`]: rialto_model::RejectReason::RulesVersionOlder
//!
//! # Refusals
//! Checks are made in a fixed order, and the first that fails gives the reason. A refused command
//! changes nothing but the memory of a client order id.
//! - *Place*: account; client order id (repeat, conflict); instrument; its state; combination of
//!   attributes; quantity or amount; price and tick; expiry; collar; open orders of the account;
//!   room in the venue; liquidity at an allowed price (market orders); smallest and largest
//!   notional; post-only; room at the price; fill-or-kill; balance.
//! - *Amend*: account; order; state of the instrument; whether anything changes; the new quantity;
//!   the new price, tick and collar; notional of the new total; what has traded already;
//!   post-only; room at the price; balance.
//! - *Deposit, Withdraw*: account; currency; amount; reference given; repeat or conflict; what may
//!   be held, or balance.
//! - *HoldWithdrawal*: the same up to repeat or conflict; withdrawals of the account; room in the
//!   venue; balance.
//! - *SettleWithdrawal, ReleaseWithdrawal*: account; reference given; whether it is held.
//! - *Create…*: name, code or symbol given; that it is new; what it refers to (of an account); id;
//!   room; what it refers to (of an instrument); rules. An id of zero asks for the least one that
//!   is free.
//!
//! # Withdrawals that are held
//! Holding one moves its amount from available to reserved. Settling posts it from reserved to the
//! transit account, that is, out; releasing moves it back. Until then the venue still owes it.
//! References are shared with deposits and withdrawals at once: one that is in use for anything
//! else is refused as `ReferenceConflict`. Holding the same again while it is held is answered as
//! `Repeated`; so is settling what is settled and releasing what is released. Settling what is
//! released, or holding it again, is refused as `WithdrawalReleased`; releasing what is settled, or
//! holding it again, as `WithdrawalSettled`: nobody is told that something is held that is not.
//! One that is held is never forgotten; of those that have ended, and of other transfers, the last
//! `transfers_max` are remembered.
//!
//! # Room at a price
//! The quantities resting at one price must add up to something that can be expressed. An order
//! whose quantity exceeds 2^62 divided by `orders_max` (rounded up to a power of two) is refused as
//! `QuantityTooLarge` if the sum at its price would exceed 2^62; smaller ones need no look.
//!
//! # Market orders and orders sized in quote currency
//! An order that finds nothing within its limit in force is refused as `NoLiquidity` before its
//! notional is looked at. A quote-sized order ends with `Done` always: `QuoteSpent`, and then its
//! status is `Filled`, if liquidity within its limit remained that it could not afford a lot of;
//! with another reason its status is `Cancelled`. Where risk is off, its fee is still counted when
//! it is sized, though nothing is charged; and a sell is not limited by what the account holds.
//! A quote-sized fill-or-kill sell is checked for liquidity first, whatever the account holds, and
//! then refused as `InsufficientBalance` if it does not hold what would trade.
//!
//! # Long commands
//! A taker touches at most 256 makers in one command. While the next tick must go on with it,
//! `next_due` is zero. It is suspended only if more is within its limit. Until it has traded, its
//! status is `Open`.
//!
//! A mass cancel visits the account's open orders by ascending id, those that it leaves alone
//! included; 256 visits end its part of a command. `pending` tells whether an order is left to be
//! visited. Where `pending_cancels_max` mass cancels go on, another that more than 256 orders
//! stand before is refused as `VenueFull`.
//!
//! A tick goes on with a suspended taker; else it expires orders and then fires dead-man timers (by
//! due time, then account id, at most 256). After that it goes on with background work, first come,
//! first served. All that is 256 orders together. A timer that fires begins a mass cancel at once
//! with what is left of the 256; if none is left, it waits for the next tick.
//!
//! Closing an instrument answers with `Cancelling` and a `CancelProgress` event, also where no
//! order was open. While it goes on, closing once more does nothing, and no other state can be set
//! (`HasOpenOrders`).
//!
//! # Instruments without risk
//! Their currencies need not exist; one that does not is taken to have just the scale that the
//! instrument needs, until risk is switched on. Base and quote currency must differ all the same.
