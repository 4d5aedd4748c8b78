//! How the venue decides, beyond the documentation of the types in `rialto-model`.
//!
//! # Versions
//! This page describes the newest version. [`SetRulesVersion`] goes on to a later version and never
//! back ([`RulesVersionOlder`]); the version in force may be set again, which changes nothing. A
//! core under an older version decides as the build that introduced it did, except that it can go
//! on to a later version. Recorded journals of every version prove it
//! (`crates/core/tests/rules_versions`).
//!
//! | What | Version 1 | Version 2 |
//! |---|---|---|
//! | Form of the state (snapshot, state hash) | format 2 | format 3 |
//! | Mass cancels that take several commands | at most `pending_cancels_max`, one more is [`VenueFull`]; each visits the orders on its own, first come, first served | one sweep for each account, in turns; always has room |
//! | What a dead-man timer does | cancels what is left of the 256 at once | counts as one of the 256 and begins a sweep |
//! | Closings of instruments | first come, first served | in turns |
//! | Orders whose time is over | are ended by ticks that come before any other command | are dead, and end when they are met or when their turn comes |
//! | Cancel or amend of such an order | does not happen | [`OrderExpired`] |
//! | Events of a command | 1,024 of the longest, where a tick ends ([`EVENTS_BYTES_MAX`]) | at most [`EVENTS_PER_COMMAND`] |
//! | Fee of a trade | of the trade alone, rounded towards zero | what brings the order's fees to its rate times all that it traded, rounded down |
//! | Rebate of a trade | by the resting order's rate | at most the fee of the incoming order |
//! | Price of a post-only order that slides | one tick from the best opposite price, not checked | the next tick behind it; tick, collar and notional are checked |
//! | Market order without a protection price | may trade outside the collar | its limit is clipped to the collar |
//! | References of deposits | among the last `transfers_max` transfers of all | for 30 days from the deposit's time; older deposits are refused |
//! | References of withdrawals | the same | the last `account_transfers_max` of the account |
//! | Client order ids over all accounts | not bounded | `client_ids_total_max` |
//! | How an order ended | not remembered | remembered with its client order id |
//!
//! Version 3 decides as version 2 does and knows more attributes of an order's [`Handling`].
//! Versions before it refuse an order with one of them as [`AttributeUnknown`]: its capacity.
//!
//! Version 4 knows auctions and timetables: see [Phases](#phases) and what follows it. It knows
//! restrictions, and attributions: the first event of an operator's command says who sent it, and why.
//! Its state has format 4.
//!
//! It decides as version 3 does in an instrument that is open, halted or withdrawn, whose rules for
//! auctions were never set and which follows no calendar, with one exception: while orders are open,
//! a new tick or lot must divide the old one, so that every open order could have been entered under
//! it ([`HasOpenOrders`]).
//!
//! Versions before it refuse orders for an auction or for a session as [`AttributeUnknown`], the
//! phases of auctions as [`StateUnknown`], and rules for auctions, restrictions and the commands of
//! timetables as [`CommandUnknown`]. They have no event of who sent a command.
//!
//! Version 5 decides as version 4 does in an instrument whose contract has no terms of its own: see
//! [Contracts](#contracts). Versions before it refuse terms as [`CommandUnknown`]. Its state has format 5.
//! In any instrument it decides otherwise than version 4 in these cases:
//!
//! | What | Version 4 | Version 5 |
//! |---|---|---|
//! | Quantity of an amended order whose price alone changes | not compared with the rules | compared |
//! | Order valid until the end of a call that ends by itself | expires before the auction | takes part in it |
//! | What is due in a tick that finishes a suspended taker | waits for the next tick, behind background work | is done in the same tick |
//! | Halt of a call that lasts until a command | the call after it ends by itself | the call after it lasts until a command |
//! | Halt of a `pre_open` that was extended | followed by `pre_open` | followed by a call, and by what the extension was on its way to |
//! | Order that rests at a limit, behind the best of its side | begins the time at the limit anew | begins it only if it had not begun |
//! | Market order with a time in force that rests | [`InvalidCombination`] | what is left rests at its limit |
//! | Best price, five levels | [`AttributeUnknown`] | limits from the other side of the book |
//! | Minimum quantity that must trade at once | [`AttributeUnknown`], and not remembered with a client order id | [`Unfillable`] if less would trade |
//! | Both best prices at a limit, where no tick is inside | two limit states, of which the second counts | that of the buys |
//!
//! Version 6 decides as version 5 does except in these cases. Its state has format 6.
//!
//! | What | Version 5 | Version 6 |
//! |---|---|---|
//! | What follows a halt of a call or of a `pre_open` | the kind of call that leads to the same phase | the phase that the halt interrupted, and what was to follow it |
//! | Halt of a call without an end of its own | the call after it ends by itself | the call after it has none either |
//! | Transition to a call during a halt | sets the usual phase after the call | what follows the halt is as the transition plans it |
//! | Halt of a call that was extended | the call after it can be extended again | it cannot |
//! | `PlaceConditional` | [`CommandUnknown`] | accepted |
//! | Circuit breaker on an instrument without a reference price | accepted | [`CircuitBreakerInvalid`] |
//! | Assignment of the calendar that an instrument with a circuit breaker has | [`CircuitBreakerInvalid`] | accepted |
//!
//! Version 7 decides as version 6 does except in these cases. Its state has format 7.
//!
//! | What | Version 6 | Version 7 |
//! |---|---|---|
//! | `PlaceTrailing` | [`CommandUnknown`] | accepted |
//! | Triggered order whose price times quantity is too small or too large then | entered | ends as `refused` |
//! | Trades of triggered orders that trigger others, which are entered in the same turn | the instrument has another turn | it has none |
//!
//! Version 8 decides as version 7 does except in these cases. Its state has format 8.
//!
//! | What | Version 7 | Version 8 |
//! |---|---|---|
//! | `PlaceIceberg` | [`CommandUnknown`] | accepted |
//! | Order or amendment that the balance does not cover, and that is too much for its price or cannot fill | [`QuantityTooLarge`], [`Unfillable`]: the balance is checked last | [`InsufficientBalance`] |
//!
//! Version 9 decides as version 8 does except in these cases. Its state has format 9.
//!
//! | What | Version 8 | Version 9 |
//! |---|---|---|
//! | `PlaceList` | [`CommandUnknown`] | accepted |
//! | Prices that conditional orders are compared with, once the last of these has ended | may give the instrument a turn without work | are forgotten |
//!
//! Version 10 decides as version 9 does except in these cases. Its state has format 10.
//!
//! | What | Version 9 | Version 10 |
//! |---|---|---|
//! | `AmendTrigger` | [`CommandUnknown`] | accepted |
//! | Amendment of a conditional order | [`OrderWaiting`] | accepted |
//! | Amendment of an order of a pair | [`OrderLinked`] | accepted, unless the quantity changes |
//! | Five levels with a time in force that rests | [`InvalidCombination`] | what is left rests at the last price that it traded at, or ends if it has not traded |
//!
//! [`CircuitBreakerInvalid`]: rialto_model::RejectReason::CircuitBreakerInvalid
//!
//! [`Handling`]: rialto_model::Handling
//! [`InvalidCombination`]: rialto_model::RejectReason::InvalidCombination
//! [`QuantityTooLarge`]: rialto_model::RejectReason::QuantityTooLarge
//! [`InsufficientBalance`]: rialto_model::RejectReason::InsufficientBalance
//! [`Unfillable`]: rialto_model::RejectReason::Unfillable
//! [`AttributeUnknown`]: rialto_model::RejectReason::AttributeUnknown
//! [`SetRulesVersion`]: rialto_model::Command::SetRulesVersion
//! [`RulesVersionOlder`]: rialto_model::RejectReason::RulesVersionOlder
//! [`VenueFull`]: rialto_model::RejectReason::VenueFull
//! [`OrderExpired`]: rialto_model::RejectReason::OrderExpired
//! [`HasOpenOrders`]: rialto_model::RejectReason::HasOpenOrders
//! [`StateUnknown`]: rialto_model::RejectReason::StateUnknown
//! [`CommandUnknown`]: rialto_model::RejectReason::CommandUnknown
//! [`OrderWaiting`]: rialto_model::RejectReason::OrderWaiting
//! [`OrderLinked`]: rialto_model::RejectReason::OrderLinked
//! [`EVENTS_BYTES_MAX`]: crate::EVENTS_BYTES_MAX
//! [`EVENTS_PER_COMMAND`]: crate::EVENTS_PER_COMMAND
//! [`SEARCH_STEPS_PER_ORDER`]: crate::SEARCH_STEPS_PER_ORDER
//! [`ACCOUNTS_PER_ORDER`]: crate::ACCOUNTS_PER_ORDER
//!
//! # Refusals
//! Checks are made in a fixed order, and the first that fails gives the reason. A refused command
//! changes nothing but the memory of a client order id.
//! - *Place*: account; client order id (repeat, conflict); instrument; its state; restriction of the
//!   account; restriction of the instrument; attributes that the version knows; combination of attributes; phase of the instrument; quantity or amount;
//!   price and tick; expiry; collar; limits of the day and of continuous trading; open orders of the
//!   account; room in the venue; reference price in a call, or liquidity at an allowed price (market
//!   orders); smallest and largest notional; post-only, and collar, limits and notional of the price
//!   slid to; balance; room at the price; fill-or-kill or minimum quantity.
//! - *PlaceConditional*: command that the version knows; account; client order id (repeat,
//!   conflict); instrument; its state; restriction of the account; restriction of the instrument;
//!   combination of attributes; quantity; trigger price, or distance, activation price and first
//!   trigger price; price and tick; expiry; whether the last price has reached the trigger price; open orders of the account; room in the venue; smallest and
//!   largest notional; balance; room at the trigger price.
//! - *PlaceTrailing*: as *PlaceConditional*.
//! - *PlaceIceberg*: command that the version knows; account; client order id (repeat, conflict);
//!   instrument; combination of attributes; quantity; display quantity; and then as *Place*.
//! - *PlaceList*: command that the version knows; account; client order id (repeat, conflict); combination of
//!   attributes; the first order as *Place* or *PlaceConditional*; whether the first order of a pair trades at
//!   once; the second order of a pair as *PlaceConditional*; trigger price, or distance and activation price,
//!   price, tick and expiry of each exit; whether the better of two linked orders is beyond the worse one;
//!   whether the exits of an order that may rest are beyond its limit; open orders of the account for a pair;
//!   room in the venue for a pair.
//! - *Amend*: account; order; whether the version amends linked and waiting orders; combination of
//!   attributes; whether the quantity of a linked order changes; state of the instrument; restrictions,
//!   unless it only becomes smaller; whether its call forbids amendments; whether anything changes; the
//!   new quantity; the new trigger price, and whether a price has triggered the order; the new price, tick
//!   and, unless it waits, collar; limits of the day and of continuous trading, unless it waits; whether the
//!   last price has reached the new trigger price; prices of its exits, or of the exit itself; notional of
//!   the new total; what has traded already; the display quantity of an iceberg; whether an exit on the book
//!   would trade; post-only, and collar, limits and notional of the price slid to; balance; room at the
//!   price, or where it waits.
//! - *AmendTrigger*: command that the version knows; and then as *Amend*.
//! - *Deposit*: account; currency; amount; reference given; repeat or conflict; age; what may be
//!   held; room for the reference.
//! - *Withdraw*: account; currency; amount; reference given; repeat or conflict; whether the
//!   account is frozen; balance.
//! - *HoldWithdrawal*: the same up to repeat or conflict; whether the account is frozen; withdrawals
//!   of the account; room in the venue; balance.
//! - *Restrict*: command that the version knows; target; whether it can have the restriction; orders
//!   that are being cancelled.
//! - *SettleWithdrawal, ReleaseWithdrawal*: account; reference given; whether it is held.
//! - *Cancel*: account; order; whether the instrument uncrosses, or its call forbids cancels.
//! - *PlanTransition*: name given; calendar, of a number above zero; that the number is the next;
//!   that the transition is consistent and later than the one before; room.
//! - *AdoptPlan*: calendar; that all transitions were planned; that they begin after the others;
//!   room.
//! - *AssignCalendar*: instrument; whether it uncrosses; calendar; whether it has another one and a
//!   circuit breaker.
//! - *MoveTransition*: calendar; transition; its new time.
//! - *HaltTrading*: command that the version knows; instrument or calendar; length; state of the
//!   instrument.
//! - *SetCircuitBreaker*: command that the version knows; calendar; instrument; whether it follows the
//!   calendar and has a reference price, range and length.
//! - *SetInstrumentState*: instrument; state that the version knows; whether it uncrosses; whether
//!   orders are being cancelled; whether the state can follow; open orders.
//! - *SetRules*: instrument; that the rules are consistent, with each other and with the terms of the
//!   contract; whether it uncrosses; open orders, if they would be off the tick or the lot, if the
//!   lot changes under fees by the lot, or if `risk` changes.
//! - *SetAuctionRules*: command that the version knows; instrument; whether it uncrosses; that the
//!   rules are consistent.
//! - *SetContractTerms*: command that the version knows; instrument; whether it uncrosses; that the terms
//!   are consistent; open orders, if fees by the lot change.
//! - *Create…*: name, code or symbol given; that it is new; what it refers to (of an account); id;
//!   room; decimal places; what it refers to (of an instrument); rules. An id of zero asks for the
//!   least one that is free.
//!
//! # Icebergs
//! An iceberg rests with its whole quantity, and displays at most its display quantity. In continuous
//! trading a taker trades with what it displays. Once that is filled, the iceberg displays a new tranche and goes to
//! the end of its price; if no other order is there, the taker trades with all of it in one trade. A
//! fill-or-kill order, a minimum quantity, self-trade prevention and auctions count the whole quantity. An
//! iceberg that traded in an auction keeps its place, and displays as much as it may.
//!
//! An iceberg that becomes smaller loses hidden quantity first. One that becomes larger at its price
//! keeps its place, and what it displays.
//!
//! # Conditional orders
//! A conditional order is accepted with a reserve for its limit, and waits outside the book. It
//! counts as an open order, and ends as a resting order does: by a cancel, its expiry, a mass cancel, a
//! dead-man timer, a disconnect, a restriction, or the withdrawal of its instrument. It can be amended: its
//! limit, unless it is a market order that trails; its quantity, unless it is linked; and its trigger price,
//! unless it trails or a price has triggered it (see [Amended triggers](#amended-triggers)).
//!
//! The price of each trade, of auctions too, is compared with the triggers of all waiting orders of
//! the instrument. One that it reaches is triggered, even if the price returns. One that the last price
//! has reached when it is entered is refused ([`WouldTrigger`]), unless it says that it may be triggered
//! at once. The limit of a market order without a price is measured from its trigger price, by
//! `market_protection_ppm`.
//!
//! Triggered orders are entered while the instrument is `open`: in the order of the prices that
//! triggered them; of the orders that one price triggered, first the ones triggered at or above their
//! trigger price, then the ones triggered at or below it; the nearest trigger price first, and then by entry. A triggered order is
//! entered as if it came in at that moment, under its id and with the fee rates of its entry. The limit of
//! a market order is clipped to the collar and to the limits then, and what it needs less is released. One
//! whose account or instrument is restricted ends as `restricted`, and one whose limit would be
//! refused ends as `refused`.
//!
//! A trailing stop is active from the price that reaches its activation price on. Its trigger price is its
//! distance from the highest last price since then, that price included (of a buy, from the lowest), rounded
//! to the tick away from it. That it is active is said when it is entered, if its activation price has been
//! reached and nothing of the instrument is left to be entered; otherwise in background work, as a triggered order
//! is entered. What one price makes active comes before what it triggers. The tick of an instrument cannot change while
//! trailing stops wait in it.
//!
//! [`WouldTrigger`]: rialto_model::RejectReason::WouldTrigger
//!
//! # Fees
//! An order owes its rate, of the maker or of the taker as it is in each trade, times the notional.
//! All its fees together are that sum rounded down; the residue below the smallest unit stays with
//! the order, also when it is amended and gets other rates. A rebate that exceeds the fee of the
//! incoming order is cut to it, and what was cut off is not owed later: no trade pays out more than
//! it brings in. The reserve of a buy covers its residue.
//!
//! # Contracts
//! The terms of a contract are the largest notional of an order, and fees by the lot. The notional of an
//! order and the amount of one sized in quote currency are compared with it, also when an order is amended;
//! it stays as it was for orders that are open.
//!
//! Fees by the lot replace the rates: a trade costs each side its fee times the lots. The seller pays at most
//! what it is paid, and a rebate is at most the fee of the incoming order. A buy reserves the taker fee of all
//! its lots. An auction charges both sides its own fee. Such fees are set, changed and removed only while no order
//! is open ([`HasOpenOrders`]), and so is the lot while they are in force.
//!
//! # Post-only orders that slide
//! The price is the highest tick below the best opposite price (of a buy; of a sell the lowest
//! above it). If that is outside the collar or below the least notional the order is refused,
//! because any other price is either further outside or would trade. Venues that offer this
//! re-price by one increment against the best opposite price as well; none rests an order where it
//! could not have been entered.
//!
//! # Deposits
//! A deposit is known by its account and reference until 30 days after its time, and refused as
//! `ReferenceTooOld` after that: sent again with the same time it takes effect once, whenever that
//! is. One that names no time is of the time of its command, and is known for 30 days from then;
//! sent again later it is another deposit. The time is not compared: the same deposit with another
//! time is a repeat as long as it is known. Where `deposits_max` are known, another is refused as
//! `VenueFull`.
//!
//! # Withdrawals that are held
//! Holding one moves its amount from available to reserved. Settling posts it from reserved to the
//! transit account, that is, out; releasing moves it back. Until then the venue still owes it.
//! References are shared with deposits and withdrawals at once: one that is in use for anything
//! else is refused as `ReferenceConflict`. Holding the same again while it is held is answered as
//! `Repeated`; so is settling what is settled and releasing what is released. Settling what is
//! released, or holding it again, is refused as `WithdrawalReleased`; releasing what is settled, or
//! holding it again, as `WithdrawalSettled`: no event says that something is held that is not.
//! A held withdrawal is never forgotten. Of the ended ones, withdrawals at once included, the last
//! `account_transfers_max` of each account are remembered; where they are more
//! than `transfers_max` in all, the account that has most loses its oldest. What was remembered
//! under version 1 stays remembered.
//!
//! # Client order ids
//! The last `client_ids_max` orders of an account that were entered with a client order id are
//! remembered with their first answer and, once they have ended, with how they did; older ones as
//! long as they are open. Where they are more than `client_ids_total_max` in all, the account that
//! has most loses its oldest; among equals the one opened first.
//!
//! # Room at a price
//! The quantities resting at one price must add up to something that can be expressed. An order
//! whose quantity exceeds 2^62 divided by `orders_max` (rounded up to a power of two) is refused as
//! `QuantityTooLarge` if the sum at its price would exceed 2^62; smaller ones need no look.
//!
//! # Market orders and orders sized in quote currency
//! A market order without a protection price has a limit in force from the best price and
//! `market_protection_ppm`, and never outside the collar. The limit of a best price is that price,
//! and of five levels the fifth price of the book from it, clipped in the same way. The book of a
//! time has the levels of dead orders, too. What is left of an order that may rest stands at its
//! limit in force, which must be on the tick; of five levels, at the last price that it traded at. An order that finds nothing within its
//! limit in force is refused as `NoLiquidity` before its notional is looked at. A quote-sized order
//! ends with `Done` always: `QuoteSpent`, and then its status is `Filled`, if liquidity within its
//! limit remained that it could not afford a lot of; with another reason its status is `Cancelled`.
//! Where risk is off, its fee is still counted when it is sized, though nothing is charged; and a
//! sell is not limited by what the account holds. A quote-sized fill-or-kill sell is checked for
//! liquidity first, whatever the account holds, and then refused as `InsufficientBalance` if it
//! does not hold what would trade.
//!
//! # Long commands
//! A taker touches at most 256 makers in one command. While the next tick must continue with it,
//! `next_due` is zero. It is suspended only if more is within its limit. Until it has traded, its
//! status is `Open`.
//!
//! A tick continues with a suspended taker, which expires if its time is over. Then it does what is
//! due, the earliest first: it fires dead-man timers, ends calls, halts and limit states, makes
//! transitions, and goes on with a halt. At one time it does them in this order, dead-man timers by
//! account id, calls, halts and limit states by instrument, and transitions in the order in which
//! their calendars became known. Each counts as an order, and so does each instrument of a transition
//! or of a halt.
//!
//! After that comes background work, each turn of which counts as an order too. Together these are
//! at most 256 orders. A command therefore has at most [`EVENTS_PER_COMMAND`] events, whatever the
//! limits are.
//!
//! # Background work
//! The kinds take turns: mass cancels, cancelling of instruments, expiry, uncrossings, walks,
//! exits and triggered orders.
//! Accounts take turns within mass cancels, instruments within their cancelling and uncrossings,
//! members within walks. A turn
//! lasts for the rest of the 256; an uncrossing that has one of them left for a trade, which needs
//! two, uses it up.
//!
//! | Kind | There are at most | What it does in its turn | Why it is exact though other commands come between |
//! |---|---|---|---|
//! | Sweep: the mass cancels, disconnects, dead-man timers and restrictions of an account | one for each account | visits the account's orders by ascending id | ids ascend in order of entry and an amended order keeps its place, so that the visited are those before the cursor; where the order at the cursor leaves, the cursor goes on to the next. Each claim names the newest order it is about: later ones are left alone |
//! | Cancelling of all orders of a withdrawn or of a restricted instrument | one for each instrument | ends the best buy, then the best sell, until none is left | the instrument takes no order, and an amendment only makes an order smaller where it is; a withdrawn one cannot be opened meanwhile, and the restriction of the other cannot be lifted. That of a restricted instrument leaves the queue while the instrument uncrosses, and joins it again afterwards |
//! | Expiry | one | ends the earliest of the orders whose time is over, then by id | such an order is dead: it trades with nobody and cannot be amended, whenever it leaves |
//! | Uncrossing | one for each instrument | ends the orders that take no part because they had expired; searches for the price, where [`SEARCH_STEPS_PER_ORDER`] steps count as an order and each matches a level with a level; trades, two orders for each trade; ends the orders that were for the auction | nothing enters, changes or leaves the book of an instrument that uncrosses: commands on its orders are refused as `InstrumentUncrossing`, sweeps leave them, and an order that expires meanwhile stays |
//! | Walk: the cancels of a restricted member, or of the venue | one for each member, and one | looks at accounts in order of opening, of which [`ACCOUNTS_PER_ORDER`] count as an order; gives each that has orders a claim of its sweep, which counts as one more and does its next part at once | accounts keep their order and none is closed; the claim names the newest order at the time of the restriction, and accounts opened later have only newer ones |
//! | Trailing stops | with the triggered orders of their instrument | of the queued prices, the first one first: moves the highest and the lowest last price, makes the orders active whose activation price it reaches, each of which counts as one, and finds those whose trigger price it reaches, which are then entered | as long as prices are queued, each later price is queued too, and each is handled to its end before the next: an order follows the prices since its entry in the order in which they came |
//! | Exits and triggered orders | one for each instrument that is open | looks at the queued lists, each of which counts as four orders, and enters exits or enlarges them; then enters the next triggered order, which counts as one more and touches makers like any order; one that interrupts trading ends the work of its command | what a price has triggered is marked in the command of its trade, with the newest order that waited then: later prices and later orders change neither what was triggered nor its order. Exits are for what their entry has traded at the command that looks at it, and a list is queued at most once, whatever trades meanwhile |
//!
//! A mass cancel is a claim of the sweep of its account: on buys and on sells, of all instruments
//! or of one; a disconnect, a dead-man timer and a restriction are one claim each. A claim replaces an earlier one
//! of the same scope, which it covers. One that comes while the sweep is on its way, behind orders
//! that it may be about, lasts until the end of the next lap, any other to the end of this one. An
//! order that several claims are about ends for the first of: mass cancel, dead-man timer,
//! disconnect, restriction. The command that makes a claim visits 256 orders at once. `pending` tells whether an
//! order is left to be visited. A sweep that a command has finished is forgotten in its turn.
//!
//! A sweep leaves the orders of an instrument that uncrosses, and comes back to them: all its
//! claims last until the end of one more lap. If orders are still uncrossing at the end of a lap
//! that left some, the sweep has no turns until an uncrossing has ended or another claim is made.
//!
//! # Linked orders
//! When a linked order is about to trade, is triggered, is reduced by self-trade prevention or has
//! ended, the other order of its pair ends, and then the entry whose exits they are: in the same
//! command, and before its own trade, trigger or reduction. In matching, and when an order is
//! triggered, each that ends so counts as one of the 256 orders; where orders are cancelled, expire
//! or trade in an auction it does not. If exits end before they were enlarged, new ones are entered for
//! what the entry traded since. A queued list counts as one open order of its account more.
//!
//! Of two linked orders the first reserves what it needs and the second what it needs beyond that.
//! An order that is triggered reserves what it needs once the other has released its part.
//!
//! An amendment changes limit and trigger price of one of them. If it changes what the first needs, the
//! reserve of the second follows. What is released is released first. Exits that are entered later have
//! the new prices.
//!
//! # Amended triggers
//! With a new trigger price an order goes to the end of the queue there. Prices that were queued before
//! do not trigger it there. An order that was triggered keeps its trigger price; it is entered with the
//! limit and the quantity that it has then. The limit of a market order that is what market protection
//! gives for the old trigger price becomes what it gives for the new one.
//!
//! # Expiry
//! An order is dead from its `expire_at` on. The protection price, post-only and fill-or-kill
//! checks skip dead orders. They look at 4,096 orders at most; an order that would need more is
//! refused as `TooDeep`. A taker that reaches dead orders ends them as it goes, each as one of the
//! 256; so does a post-only order that trades with nobody. A dead order ends as expired, for any
//! cause. Until it has left the book, it counts among the open orders and keeps its reserve.
//!
//! # Phases
//! The state of an instrument says what it accepts:
//!
//! | State | New orders | Amend | Cancel | A crossed book |
//! |---|---|---|---|---|
//! | `listed` | none | no | yes | no |
//! | `pre_open`, `call` | limit orders that last (`gtc`, `day`, `gfs`, `gtd`), not post-only; limit and market orders `at_open` and `gfa` | yes | yes | may be |
//! | `uncrossing` | none | no | no | may be |
//! | `open` | all but those for an auction | yes | yes | no |
//! | `halted` | none | no | yes | may be, after a call |
//! | `closing_call` | as in a call, with `at_close` instead of `at_open` | yes | yes | may be |
//! | `closed` | none | no | yes | no |
//! | `withdrawn` | none; all orders end | no | yes | while they end, after a call |
//! | `delisted` | none; there are no orders | no | no | no |
//!
//! An instrument is open when it is listed by `CreateInstrument`. An operator may put it in any
//! other state, except: none while it uncrosses, `uncrossing` itself, `listed` and `delisted` while
//! orders are open, and none after `delisted`. A member's mass cancel, dead-man timer and
//! disconnect end orders in every state; of an instrument that uncrosses, they end the orders that
//! are left afterwards. In a no-cancel period a mass cancel leaves orders: see
//! [Timetables](#timetables).
//!
//! On the way from any other state to `open` or `closed` an instrument uncrosses first if its book
//! is crossed or if it has orders for an auction.
//!
//! # Restrictions
//! A restriction is on the venue, a member, an account or an instrument. `cancel_only` refuses new
//! orders, and every amendment but one to a smaller quantity at the same price; `frozen` refuses
//! withdrawals too. Neither affects orders that are open, auctions or expiry. A member and an
//! account have two restrictions each: an operator's and the member's own. The strictest of those
//! of an account, its member and the venue is in force, and the instrument's beside it.
//!
//! A restriction may cancel the open orders of its target, which end as `restricted`. If a walk of
//! the same member is under way, it begins anew.
//!
//! # Orders in a call
//! An order that is entered or amended in a call takes its place in the book and trades with
//! nobody. A post-only order that rested before the call takes part like any other order. An order
//! for an auction (`at_open`, `at_close`, `gfa`) ends as `auction_ended` when the uncrossing that
//! follows has traded, with what is left of it.
//!
//! A market order in a call names a quantity, neither an amount nor a price. Its limit in force is
//! its protection price: the last price, before the first trade the reference price, moved by
//! `market_protection_ppm` and clipped to the collar and to the limits of the day. Without any of
//! these prices it is refused as `NoReferencePrice`. Amended to another price, it is a limit order.
//!
//! # Uncrossing
//! The price is that of [`book::uncross_call`](crate::book::uncross_call), over all ticks, with the
//! last price (or before the first trade the reference price) as its reference. Where orders are
//! open that were entered off the tick before version 4, prices are multiples of the largest number
//! that divides the tick and all limits. Orders whose time was over before the call
//! ended by itself, or when a command ended it, take no part; an order that expires at that end or
//! during the uncrossing does. The best buy trades with the best
//! sell, by price and then by time, until one of them does not reach the price; all trades are made
//! at the price. In the event of a trade the order that was entered later counts as the incoming
//! one.
//!
//! Both sides pay the auction's rate, or their own rate as takers if that is lower. Where two
//! orders of one member would trade with each other, the auction's self-trade mode decides, which
//! may be to let them. Its cancels can leave the book crossed; the orders then uncross again, at a
//! price of their own, which is compared with the ranges too. The volume of the event `Uncrossed`
//! counts orders that self-trade prevention then cancels.
//!
//! # Price ranges
//! A range of *n* millionths around a price contains every price whose distance from it, times a
//! million, is at most *n* times the price. Each of these ranges is off if it is zero, or if
//! there is no price for it to be around:
//! - *limits of the day*, around the reference price of the trading rules: orders outside are
//!   refused as `PriceOutsideLimits`, and orders at the limits trade;
//! - *static and dynamic range*, around the price of the last trade in an auction (before the
//!   first: the reference price) and around the last price: an order that arrives while the
//!   instrument is open trades up to the end of both ranges as they are when it arrives. If it
//!   would trade next at a price outside, trading is interrupted by a call. What is left of it
//!   rests if it may, and ends otherwise. A fill-or-kill order that would need such a price is
//!   refused as unfillable, and interrupts nothing;
//! - *range of auctions*, around the last price: if the price of an auction is outside, nothing
//!   trades and its call is extended. A call that was halted meanwhile goes on as `call`, or as
//!   `closing_call` before `closed`;
//! - *extended range*: if the price is outside of this, in the first or in an extended call, the
//!   call lasts until a command ends it, and its price is not compared again.
//!
//! An interruption and an extension last `call_ms`, and up to `random_end_ms` longer. The
//! difference is drawn by BLAKE3, from the seed of the instrument's rules for auctions, the
//! instrument and the number of such calls since the rules were set. The instrument then uncrosses,
//! and goes on to the state that it was on its way to.
//!
//! # Halts for a time
//! An instrument in `pre_open`, `call`, `open` or `closing_call` can be halted for a time: by a
//! command, by a circuit breaker, or because the best price stood at a limit for too long. When the
//! time is over, the phase that was interrupted goes on, and its auction leads where it was to lead.
//! Continuous trading is followed by a `call` that leads to `open`.
//!
//! How long the phase goes on:
//! - The call after continuous trading, and a phase that was to end by itself, last as long as an
//!   interruption. If the timetable has begun the same phase and its call ends later, that call takes their
//!   place: its end, its no-cancel period and its next phase.
//! - A phase that a command or the next transition was to end has no end after the halt either.
//! - A call that only a command ends lasts until a command.
//! - The price of a call that was extended before is compared with the extended range.
//!
//! Of two halts, the later end counts. A command that sets the state ends the halt, and so does a transition
//! to `pre_open` or `closed`. Another transition changes what follows the halt: one to `open` makes it a
//! `call` that leads to `open`; one to `call` or `closing_call` makes it that phase, with the next phase of
//! the transition if the planned call ends by itself, and otherwise without an end. No transition changes
//! the halt of a call that only a command ends.
//!
//! A halt of a calendar or of the venue is made for its instruments by ascending id. It is due at the
//! time of its command, so that no other command comes between. Instruments in other states, and
//! those that are halted for longer, are left as they are. One that uncrosses is halted when its
//! auction has ended, if it is then in a state that can be halted and the time is not over.
//!
//! # Circuit breakers
//! A calendar may have a circuit breaker: a range around the reference price of the trading rules of
//! one of its instruments. The range is one of those that interrupt trading. If an order would trade
//! next at a price outside of it, all instruments of the calendar are halted for a time, that one in
//! the same command. The circuit breaker is then off until it is set again, or the trading rules of
//! the instrument are. Auctions are not compared with it.
//!
//! # Limit state
//! The limits of continuous trading are a range around the price that the static range is around.
//! While the instrument is open, limits outside are refused as `PriceOutsideLimits`, market orders
//! are clipped, and the range is one of those that interrupt trading. A price is at the limit if the
//! next tick is outside. When an order comes to rest alone at a price there, or an instrument becomes
//! open with its best price there, the time at the limit begins, anew if it had begun and the order is the
//! best of its side. When it is
//! over and the best price of the side is at the limit still, the instrument is halted for `halt_ms`.
//! Orders whose time is over count as long as they are on the book.
//!
//! # Timetables
//! A calendar has transitions at ascending times, and instruments that follow them. A transition is
//! due at its time: it is made for the instruments by ascending id, and until it has been made for
//! all, `next_due` stays at its time. No other command comes between, so that none sees a part of it.
//!
//! A transition sets the state as `SetInstrumentState` does, with these exceptions:
//! - an instrument that is listed, halted without an end, withdrawn or delisted is left as it is, and
//!   so is a call that lasts until a command ends it; one that is halted for a time is described above;
//! - while an instrument uncrosses, the state of the transition becomes what follows;
//! - a transition to the present state has no event for the instrument.
//!
//! A call that a transition begins, takes over, or leads to after an uncrossing has the end of the
//! transition: its earliest end and a random part, drawn by BLAKE3 from the seed of the calendar,
//! the instrument and the time of the transition. If it has none, the call lasts until the next
//! transition.
//!
//! From `no_cancel_from` until the call ends, cancels and amendments are refused as
//! `NoCancelPeriod`. A mass cancel visits the orders of the instrument and leaves them; claims of a
//! dead-man timer and a disconnect on the same order still end it. A call that is extended has no
//! such period.
//!
//! A plan is adopted as a whole. Its first transition must be later than the one that began last,
//! and later than all others if it is appended: so none is made twice. A transition moves between
//! its neighbours, and not before the time of the command.
//!
//! A day order expires at the next transition that ends a trading day, a `gfs` order at the next
//! that ends a session, as the timetable is when the order is entered. Without such a transition a
//! day order expires at `day_end_s`, and a `gfs` order is refused as `ExpiryInvalid`.
//!
//! # Withdrawing an instrument
//! Withdrawing an instrument answers with `Cancelling` and a `CancelProgress` event, also where no
//! order was open. While it continues, withdrawing once more does nothing, and no other state can
//! be set (`HasOpenOrders`).
//!
//! # Instruments without risk
//! Their currencies need not exist; one that does not is taken to have just the scale that the
//! instrument needs, until risk is switched on. Base and quote currency must differ all the same.

use std::ops::RangeInclusive;

/// The versions of the rules that this build implements.
pub const RULES_VERSIONS: RangeInclusive<u32> = 1..=10;
