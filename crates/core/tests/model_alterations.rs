//! The comparison and the invariants can fail: each of these gives the core a reference that gets
//! one rule wrong, and must be noticed within a fixed set of sequences.
//!
//! The other way round, `cargo xtask break-core` gets the core wrong, one decision at a time; what it
//! alters is listed in `xtask/src/break_core.rs`.

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
mod reference;

use reference::fold::Fold;
use reference::generator::Profile;
use reference::invariants::{self, Holdings};
use reference::lockstep::{Case, Failure};
use reference::world::{self, World};
use reference::{Alteration, Reference};
use rialto_core::{Limits, RULES_VERSIONS};
use rialto_model::{
    AuctionRules, Command, EngineId, InstrumentId, NewOrder, Price, Quantity, SelfTrade, Seq, Side,
};

/// The first failure among the fixed sequences.
fn caught(alteration: Alteration) -> Failure {
    caught_under(*rialto_core::RULES_VERSIONS.end(), alteration)
}

fn caught_under(rules_version: u32, alteration: Alteration) -> Failure {
    // A few of each profile in turns: what only the long sequences notice is then noticed early.
    let some = |round: u64, profile, each: u64| {
        (round * each..(round + 1) * each).map(move |seed| Case::new(seed, profile))
    };
    (0..20)
        .flat_map(|round| {
            let shallow = some(round, Profile::General, 25);
            let tight = some(round, Profile::Tight, 25);
            shallow.chain(tight).chain(some(round, Profile::Deep, 6))
        })
        .find_map(|case| case.under(rules_version).altered(alteration).run().err())
        .unwrap_or_else(|| panic!("nothing noticed the alteration {alteration:?}"))
}

macro_rules! alterations {
    ($($name:ident: $alteration:ident;)*) => {
        $(
            #[test]
            fn $name() {
                caught(Alteration::$alteration);
            }
        )*
    };
}

alterations! {
    trading_with_oneself_is_noticed: SelfTradeAllowed;
    two_accounts_of_a_member_taken_for_strangers_are_noticed: MembersConfused;
    reversed_priority_is_noticed: PriorityReversed;
    trading_at_the_takers_price_is_noticed: TakerPrice;
    fees_rounded_up_are_noticed: FeeRoundedUp;
    a_dropped_fee_posting_is_noticed: FeePostingDropped;
    a_fee_by_trade_is_noticed: FeeByTrade;
    a_rebate_above_the_takers_fee_is_noticed: RebateUncapped;
    a_residue_dropped_by_an_amendment_is_noticed: ResidueForgotten;
    a_price_slid_out_of_the_collar_is_noticed: SlidesOutsideCollar;
    a_market_order_outside_the_collar_is_noticed: MarketIgnoresCollar;
    a_best_price_that_is_passed_is_noticed: BestPriceWalks;
    a_sixth_level_is_noticed: SixLevels;
    a_market_order_that_never_rests_is_noticed: MarketNeverRests;
    an_ignored_minimum_quantity_is_noticed: MinimumQuantityIgnored;
    a_reserve_that_is_not_released_is_noticed: ReleaseForgotten;
    a_price_improvement_kept_back_is_noticed: ImprovementKept;
    one_maker_too_many_is_noticed: OneMakerTooMany;
    one_visit_too_many_is_noticed: OneVisitTooMany;
    a_post_only_order_that_takes_is_noticed: PostOnlyIgnored;
    a_fill_or_kill_filled_in_part_is_noticed: FillOrKillPartial;
    a_late_expiry_is_noticed: ExpiryLate;
    dead_orders_that_trade_are_noticed: DeadOrdersTrade;
    growth_that_keeps_its_place_is_noticed: GrowthKeepsPlace;
    an_ignored_collar_is_noticed: CollarIgnored;
    a_protection_price_rounded_the_other_way_is_noticed: ProtectionWider;
    spending_in_broken_lots_is_noticed: LotIgnored;
    a_deposit_that_counts_twice_is_noticed: DepositRepeats;
    a_deposit_of_any_age_is_noticed: OldDepositsAccepted;
    a_reference_kept_too_long_is_noticed: ReferenceKeptLonger;
    withdrawals_that_displace_those_of_others_are_noticed: WithdrawalsShared;
    client_ids_without_a_bound_over_all_are_noticed: TotalIgnored;
    a_withdrawal_both_settled_and_released_is_noticed: SettledIsReleased;
    an_order_entered_twice_is_noticed: ClientIdRepeats;
    a_forgotten_reject_is_noticed: RejectForgotten;
    a_disconnect_that_takes_all_is_noticed: DisconnectTakesAll;
    an_auction_price_that_is_too_low_is_noticed: AuctionTakesLowest;
    a_free_auction_is_noticed: AuctionsAreFree;
    a_trade_outside_its_range_is_noticed: RangesIgnored;
    an_auction_outside_its_range_is_noticed: AuctionsNeverExtended;
    an_extended_call_that_ends_by_itself_is_noticed: ExtendedCallsEndByThemselves;
    an_order_beyond_the_limits_of_the_day_is_noticed: LimitsOfTheDayIgnored;
    an_order_in_a_wrong_phase_is_noticed: PhasesIgnored;
    a_session_that_ends_with_the_day_is_noticed: SessionsEndWithTheDay;
    an_instrument_delisted_with_orders_is_noticed: DelistedWithOrders;
    an_auction_without_orders_that_expire_during_it_is_noticed: AuctionForgetsTheDead;
    an_order_that_ends_before_its_auction_is_noticed: OrdersEndBeforeTheCall;
    a_mass_cancel_in_an_auction_is_noticed: FrozenOrdersCancelled;
    a_restricted_member_that_trades_is_noticed: MembersUnrestricted;
    a_restriction_lifted_by_the_other_side_is_noticed: RestrictionsShared;
    a_withdrawal_of_a_frozen_account_is_noticed: FrozenWithdraws;
    a_reduction_refused_by_a_restriction_is_noticed: ReductionRestricted;
    a_timetable_that_ends_a_halt_is_noticed: HaltsEndByTimetable;
    a_halt_without_a_call_is_noticed: HaltsWithoutCall;
    a_halt_that_forgets_the_phase_is_noticed: HaltsForgetThePhase;
    an_ignored_circuit_breaker_is_noticed: BreakersIgnored;
    a_limit_state_that_passes_is_noticed: LimitStatesPass;
    a_seller_who_pays_more_than_the_trade_is_noticed: SellersPayOnTop;
    fees_changed_beside_open_orders_are_noticed: LotFeesChangeAnyTime;
    an_order_above_the_largest_notional_is_noticed: NotionalUnlimited;
    late_transitions_that_are_dropped_are_noticed: LateTransitionsDropped;
    a_cancel_in_a_no_cancel_period_is_noticed: NoCancelIgnored;
    a_day_that_ends_by_the_clock_is_noticed: DayEndsByClock;
    triggered_orders_entered_by_age_are_noticed: TriggersByAge;
    triggers_that_forget_are_noticed: TriggersForget;
    a_triggered_order_of_a_restricted_account_is_noticed: TriggeredThoughRestricted;
    trailing_stops_that_stand_still_are_noticed: TrailsStandStill;
    icebergs_that_trade_tranche_by_tranche_are_noticed: IcebergsTradeTrancheByTranche;
    icebergs_that_keep_their_place_are_noticed: IcebergsKeepTheirPlace;
    icebergs_that_grow_at_the_end_are_noticed: IcebergsGrowAtTheEnd;
    a_pair_of_which_both_stay_is_noticed: PairsKeepBothOrders;
    a_pair_that_holds_for_both_is_noticed: PairsHoldBoth;
    exits_of_the_whole_size_are_noticed: ExitsOfWholeSize;
    exits_that_do_not_grow_are_noticed: ExitsDoNotGrow;
    an_entry_that_goes_on_is_noticed: EntriesGoOn;
    a_trade_of_an_entry_without_exits_is_noticed: UncoveredIsLost;
    five_levels_that_rest_at_their_limit_are_noticed: FiveLevelsRestAtTheirLimit;
    a_new_trigger_price_that_keeps_its_place_is_noticed: MovedTriggersByAge;
    a_waiting_order_that_grows_at_the_end_is_noticed: WaitingOrdersGrowAtTheEnd;
    a_new_trigger_price_reached_earlier_is_noticed: EarlierPricesTrigger;
    a_triggered_order_that_moves_is_noticed: TriggeredOrdersMove;
    a_protection_price_that_stands_still_is_noticed: ProtectionStandsStill;
    a_second_order_that_keeps_its_reserve_is_noticed: SecondOrdersKeepTheirReserve;
    legs_that_stay_are_noticed: LegsStay;
    exits_that_pass_each_other_are_noticed: ExitsPassEachOther;
    exits_that_cross_are_noticed: ExitsCross;
}

/// Since rules version 4 every limit in a book is on the tick.
#[test]
fn a_price_slid_off_the_tick_is_noticed() {
    caught_under(3, Alteration::SlidesOffTick);
}

/// What the invariants alone say of the books and balances of an altered reference.
fn broken_invariant(alteration: Alteration) -> String {
    let reference = caught(alteration).reference;
    invariants::check(&Holdings::of(&reference), &reference)
        .expect_err("the altered rule breaks an invariant")
}

#[test]
fn a_dropped_posting_breaks_the_zero_sum() {
    let broken = broken_invariant(Alteration::FeePostingDropped);
    assert!(broken.contains("not zero"), "{broken}");
}

#[test]
fn a_kept_improvement_breaks_the_zero_sum() {
    let broken = broken_invariant(Alteration::ImprovementKept);
    assert!(broken.contains("not zero"), "{broken}");
}

#[test]
fn a_reserve_without_an_order_is_noticed_without_a_core() {
    let broken = broken_invariant(Alteration::ReleaseForgotten);
    assert!(broken.contains("exceeds that of its orders"), "{broken}");
}

/// A reference with a bid and an ask in an instrument without risk.
fn two_sided_book() -> Reference {
    let mut reference = Reference::new(EngineId(1), 1, Limits::default());
    let world = World::plain(&[0]);
    let orders = [(Side::Buy, 99), (Side::Sell, 101)].map(|(side, price)| {
        Command::Place(NewOrder { side, price: Price(price), ..world::plain_order() })
    });
    let commands = world.setup.iter().chain(&orders);
    for (seq, command) in (1..).zip(commands) {
        let (_, outcome) = reference.apply(Seq(seq), world.start, command);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
    }
    reference
}

#[test]
fn a_crossed_book_is_noticed() {
    let reference = two_sided_book();
    let mut holdings = Holdings::of(&reference);
    invariants::check(&holdings, &reference).expect("it is not crossed yet");
    holdings.orders[0].price = Price(101);
    let broken = invariants::check(&holdings, &reference);
    assert!(broken.expect_err("the book is crossed").contains("crossed"));
}

/// The fold of a trade at 100 and of one at 101, in spite of a range of these millionths around the last price.
fn trade_at_101(dynamic_range_ppm: u32) -> Fold {
    let mut reference = Reference::new(EngineId(1), *RULES_VERSIONS.end(), Limits::default());
    reference.altered = Some(Alteration::RangesIgnored);
    let world = World::plain(&[0]);
    let rules = AuctionRules { dynamic_range_ppm, call_ms: 1_000, ..AuctionRules::PLAIN };
    let set = Command::SetAuctionRules { instrument: InstrumentId(1), rules, seed: 1 };
    let orders = [(Side::Buy, 100), (Side::Sell, 100), (Side::Sell, 101), (Side::Buy, 101)];
    let orders = orders.map(|(side, price)| {
        let (price, self_trade) = (Price(price), Some(SelfTrade::Allow));
        Command::Place(NewOrder { side, price, self_trade, ..world::plain_order() })
    });
    let mut fold = Fold::default();
    let commands = world.setup.iter().chain([&set]).chain(&orders);
    for (seq, command) in (1..).zip(commands) {
        let (events, outcome) = reference.apply(Seq(seq), world.start, command);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        fold.apply(&events);
    }
    fold
}

#[test]
fn a_trade_at_the_end_of_its_range_contradicts_no_event() {
    trade_at_101(10_000);
}

#[test]
#[should_panic(expected = "is outside")]
fn a_trade_outside_its_range_contradicts_the_events() {
    trade_at_101(9_999);
}

#[test]
fn a_change_by_a_refused_command_is_noticed() {
    let before = two_sided_book();
    let mut after = before.clone();
    assert_eq!(invariants::nothing_changed(&before, &after), Ok(()));
    after.orders[1].remaining = Quantity(2);
    assert!(invariants::nothing_changed(&before, &after).is_err());
}
