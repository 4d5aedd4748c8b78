//! Rules that a test can get wrong on purpose.

use super::Reference;

/// One rule of the reference altered, to show that the comparison would notice such a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// Orders of one member trade with each other.
    SelfTradeAllowed,
    /// The last order of a level trades first.
    PriorityReversed,
    /// Fees are rounded away from zero.
    FeeRoundedUp,
    /// The fee account is not credited.
    FeePostingDropped,
    /// Trades happen at the taker's limit.
    TakerPrice,
    /// One command touches 257 makers.
    OneMakerTooMany,
    /// One command of a mass cancel visits 257 orders.
    OneVisitTooMany,
    /// A post-only order may take.
    PostOnlyIgnored,
    /// A fill-or-kill order may be filled in part.
    FillOrKillPartial,
    /// An order trades though its time is over.
    DeadOrdersTrade,
    /// An order expires a microsecond late.
    ExpiryLate,
    /// A cancelled order keeps its reserve.
    ReleaseForgotten,
    /// A price improvement stays reserved.
    ImprovementKept,
    /// An order with a larger quantity keeps its place.
    GrowthKeepsPlace,
    /// Every price is inside the collar.
    CollarIgnored,
    /// A repeated deposit counts again.
    DepositRepeats,
    /// A deposit of any age is accepted.
    OldDepositsAccepted,
    /// A deposit is known by its reference a nanosecond longer.
    ReferenceKeptLonger,
    /// Where too many withdrawals are remembered, the oldest of all is forgotten.
    WithdrawalsShared,
    /// The client order ids of all accounts together are not bounded.
    TotalIgnored,
    /// A withdrawal that was paid out counts as given back, too.
    SettledIsReleased,
    /// A repeated client order id enters another order.
    ClientIdRepeats,
    /// A refused order's client order id is free again.
    RejectForgotten,
    /// A disconnect cancels every order.
    DisconnectTakesAll,
    /// Spending in quote currency may go past whole lots.
    LotIgnored,
    /// The protection price of a market order is rounded the other way.
    ProtectionWider,
    /// Each trade is charged alone, under whatever rules.
    FeeByTrade,
    /// A rebate may exceed the fee of the incoming order.
    RebateUncapped,
    /// An amended order owes nothing of its fee so far.
    ResidueForgotten,
    /// A slid price is one tick away, whatever the tick is.
    SlidesOffTick,
    /// A slid price may be outside the collar.
    SlidesOutsideCollar,
    /// A market order trades outside the collar.
    MarketIgnoresCollar,
    /// An order for the best price trades at further prices, as a market order does.
    BestPriceWalks,
    /// An order for five levels takes six.
    SixLevels,
    /// An order is accepted of which less than its minimum quantity trades.
    MinimumQuantityIgnored,
    /// No market order may rest.
    MarketNeverRests,
    /// The price of an auction is the lowest of the best.
    AuctionTakesLowest,
    /// A trade of an auction costs no fee.
    AuctionsAreFree,
    /// An order trades outside its range.
    RangesIgnored,
    /// The price of an auction may be anywhere.
    AuctionsNeverExtended,
    /// A call that was extended to a price outside the wider range ends by itself.
    ExtendedCallsEndByThemselves,
    /// An order may be beyond the limits of the day.
    LimitsOfTheDayIgnored,
    /// Any order is accepted in any phase.
    PhasesIgnored,
    /// An order that is good for the session stands until the day ends.
    SessionsEndWithTheDay,
    /// An instrument with open orders is delisted.
    DelistedWithOrders,
    /// An order that has expired since its auction began takes no part.
    AuctionForgetsTheDead,
    /// An order that is valid until the end of a call takes no part in its auction.
    OrdersEndBeforeTheCall,
    /// A mass cancel ends orders whose auction trades.
    FrozenOrdersCancelled,
    /// The accounts of a restricted member are not restricted.
    MembersUnrestricted,
    /// A member lifts what an operator set, and the other way round.
    RestrictionsShared,
    /// A frozen account withdraws.
    FrozenWithdraws,
    /// A restricted account cannot make an order smaller.
    ReductionRestricted,
    /// An instrument that is halted follows its timetable.
    HaltsEndByTimetable,
    /// A halt remembers only where the phase that it interrupted was to lead.
    HaltsForgetThePhase,
    /// After a halt trading goes on without an auction.
    HaltsWithoutCall,
    /// An order trades outside the range of a circuit breaker.
    BreakersIgnored,
    /// However long a price stands at a limit, trading goes on.
    LimitStatesPass,
    /// Of transitions that are due at once, only the last is made.
    LateTransitionsDropped,
    /// Members cancel orders where they may not.
    NoCancelIgnored,
    /// A day order of an instrument with a timetable ends by the clock.
    DayEndsByClock,
    /// A seller pays its fees by the lot whatever it is paid.
    SellersPayOnTop,
    /// Fees by the lot change while orders are open.
    LotFeesChangeAnyTime,
    /// An order may be worth more than the terms of its contract allow.
    NotionalUnlimited,
    /// Of orders that are triggered at once, the oldest is entered first.
    TriggersByAge,
    /// An order that was triggered waits on if the price has returned.
    TriggersForget,
    /// A triggered order is entered though its account is restricted.
    TriggeredThoughRestricted,
    /// A trailing stop stays where it was when it became active.
    TrailsStandStill,
    /// Of an iceberg that is alone at its price, each tranche trades alone.
    IcebergsTradeTrancheByTranche,
    /// A new tranche of an iceberg stands where the last one was.
    IcebergsKeepTheirPlace,
    /// An iceberg whose hidden quantity grows goes to the end of its price.
    IcebergsGrowAtTheEnd,
    /// When one of two linked orders trades, the other stays.
    PairsKeepBothOrders,
    /// Two linked orders hold what both need.
    PairsHoldBoth,
    /// Exits are for the whole quantity of their entry.
    ExitsOfWholeSize,
    /// Exits are as large as when they were entered, whatever their entry trades.
    ExitsDoNotGrow,
    /// What is left of an entry stays when one of its exits trades.
    EntriesGoOn,
    /// What an entry traded without exits when its exits end gets none.
    UncoveredIsLost,
    /// What is left of an order for five levels rests at its limit, also if it has traded nothing.
    FiveLevelsRestAtTheirLimit,
    /// An order with a new trigger price stands there where it stood before.
    MovedTriggersByAge,
    /// A waiting order that becomes larger goes to the end of its trigger price.
    WaitingOrdersGrowAtTheEnd,
    /// A price that was reached before the amendment triggers an order at its new trigger price.
    EarlierPricesTrigger,
    /// An order that a price has triggered can have another trigger price.
    TriggeredOrdersMove,
    /// The protection price of a market order stays where it is when its trigger price changes.
    ProtectionStandsStill,
    /// The second order of a pair reserves what it did, whatever the first needs after an amendment.
    SecondOrdersKeepTheirReserve,
    /// Exits that are entered later are as the list was placed.
    LegsStay,
    /// An amended exit may be beyond the other one, or on the wrong side of its entry.
    ExitsPassEachOther,
    /// An exit on the book may be amended to a limit at which it would trade.
    ExitsCross,
    /// A member's second account is not seen as the same member.
    MembersConfused,
}

impl Reference {
    /// Whether this reference gets that rule wrong.
    pub(super) fn gets_wrong(&self, alteration: Alteration) -> bool {
        self.altered == Some(alteration)
    }
}
