//! Breaks single decisions of the core, and checks that a test detects each.
//!
//! It works on a copy under `target`, so that no defect can be left in the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A wrong decision of the core.
struct Alteration {
    /// The decision.
    decision: &'static str,
    /// The file below `crates/core/src`.
    file: &'static str,
    /// The text to replace, which occurs once.
    from: &'static str,
    to: &'static str,
    /// The test that must detect it.
    test: Test,
}

/// The file and the name of a test of the core.
type Test = (&'static str, &'static str);

const SHALLOW: Test = ("model_random", "shallow_books_agree");
const TIGHT: Test = ("model_random", "small_limits_agree");
const DEEP: Test = ("model_random", "deep_books_agree");
// Cases too rare for random sequences.
const OFF_TICK: Test = ("model_boundaries", "an_order_slides_to_a_tick_from_a_price_off_the_tick");
const OWED: Test = ("model_boundaries", "an_amount_also_pays_what_is_owed_of_earlier_fees");

const ALTERATIONS: [Alteration; 67] = [
    Alteration {
        decision: "an order may expire no earlier than after the command",
        file: "place.rs",
        from: "TimeInForce::Gtd if given > self.time => Ok(given),",
        to: "TimeInForce::Gtd if given >= self.time => Ok(given),",
        test: SHALLOW,
    },
    Alteration {
        decision: "an expiry is refused before a price outside the collar",
        file: "place.rs",
        from: "        let expire_at = if SIMPLE { Timestamp::MAX } else { self.expiry(market, terms)? };\n        if priced {\n",
        to: "        if priced {\n            market.check_collar(terms.price)?;\n        }\n        let expire_at = if SIMPLE { Timestamp::MAX } else { self.expiry(market, terms)? };\n        if priced {\n",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order that is post-only is not checked as a simple one",
        file: "place.rs",
        from: "        & (terms.post_only == PostOnly::Off)\n        & (terms.minimum_quantity",
        to: "        & (terms.minimum_quantity",
        test: SHALLOW,
    },
    Alteration {
        decision: "an account has no more open orders than the limit",
        file: "place.rs",
        from: "self.open_orders(account, at) >= market.rules().open_orders_max",
        to: "self.open_orders(account, at) > market.rules().open_orders_max",
        test: SHALLOW,
    },
    Alteration {
        decision: "a post-only order slides to a tick",
        file: "place.rs",
        from: "let off = if checked { best % tick } else { 0 };",
        to: "let off = 0;",
        test: OFF_TICK,
    },
    Alteration {
        decision: "a seller pays its fee",
        file: "ledger.rs",
        from: "received.available.0 += notional.0 - posting.seller_fee.0;",
        to: "received.available.0 += notional.0;",
        test: SHALLOW,
    },
    Alteration {
        decision: "both orders end where a member asked for it",
        file: "self_trade.rs",
        from: "mode == SelfTrade::CancelBoth\n",
        to: "false\n",
        test: SHALLOW,
    },
    Alteration {
        decision: "what a rebate is cut by is not owed later",
        file: "fees.rs",
        from: "self.set_residue(0);\n            return Amount(-taker_fee.0);",
        to: "self.set_residue(residue);\n            return Amount(-taker_fee.0);",
        test: SHALLOW,
    },
    Alteration {
        decision: "a fill-or-kill order passes older orders of its own that it cancels",
        file: "fok.rs",
        from: "if mode == SelfTrade::CancelOldest {",
        to: "if mode == SelfTrade::CancelOldest && looked_at > 0 {",
        test: SHALLOW,
    },
    Alteration {
        decision: "an amount pays what the order owes already",
        file: "fok.rs",
        from: "(left.0 * ppm - owed) /",
        to: "(left.0 * ppm - owed * 0) /",
        test: OWED,
    },
    Alteration {
        decision: "the protection of a sell is rounded inwards",
        file: "instruments.rs",
        from: "Side::Sell => ((best - width + tick - 1) / tick * tick).max(tick),",
        to: "Side::Sell => ((best - width) / tick * tick).max(tick),",
        test: SHALLOW,
    },
    Alteration {
        decision: "a price at the edge of the collar is inside",
        file: "instruments.rs",
        from: "if distance * PPM > i128::from(reference.0)",
        to: "if distance * PPM >= i128::from(reference.0)",
        test: SHALLOW,
    },
    Alteration {
        decision: "an amended order goes on owing what it owed",
        file: "amend.rs",
        from: "market.fees(detail.fees.residue())",
        to: "market.fees(0)",
        test: SHALLOW,
    },
    Alteration {
        decision: "a dead order has expired whatever ends it",
        file: "cancel.rs",
        from: "let reason = if dead { DoneReason::Expired } else { reason };",
        to: "let reason = if dead { reason } else { reason };",
        test: DEEP,
    },
    Alteration {
        decision: "a deposit is known to the end of its 30 days",
        file: "references.rs",
        from: "time.saturating_add(DEPOSIT_KNOWN_NS) < now",
        to: "time.saturating_add(DEPOSIT_KNOWN_NS) <= now",
        test: TIGHT,
    },
    Alteration {
        decision: "client order ids over all accounts have a bound",
        file: "client_ids.rs",
        from: "self.holders.total() > u64::from(self.total_max)",
        to: "self.holders.total() >= u64::from(self.total_max)",
        test: TIGHT,
    },
    Alteration {
        decision: "what is settled is not released",
        file: "withdrawals.rs",
        from: "Some(ended) if ended == how =>",
        to: "Some(Ended::Settled | Ended::Released) =>",
        test: SHALLOW,
    },
    Alteration {
        decision: "a mass cancel that comes on the way lasts until the end of the next lap",
        file: "background.rs",
        from: "laps: if sweep.under_way { 2 } else { 1 }",
        to: "laps: 1",
        test: DEEP,
    },
    Alteration {
        decision: "between equal surpluses of buys and of sells, the reference price decides",
        file: "book/uncross.rs",
        from: "if bought < sold => (price, bought),",
        to: "if bought <= sold => (price, bought),",
        test: SHALLOW,
    },
    Alteration {
        decision: "a call and a transition are due at their times",
        file: "tick.rs",
        from: "self.phase_changes.first().filter(|(due, _)| *due <= self.time)",
        to: "self.phase_changes.first().filter(|(due, _)| *due < self.time)",
        test: SHALLOW,
    },
    Alteration {
        decision: "a dead-man timer comes before a transition of the same time",
        file: "tick.rs",
        from: "change.is_none_or(|change| due <= change.0)",
        to: "change.is_none_or(|change| due < change.0)",
        test: (
            "behaviour",
            "timetables::transitions::a_timer_comes_before_a_transition_of_the_same_time",
        ),
    },
    Alteration {
        decision: "a call that waits for a command does not follow its timetable",
        file: "timetable.rs",
        from: "if market.waits_for_command() {",
        to: "if market.waits_for_command() && false {",
        test: SHALLOW,
    },
    Alteration {
        decision: "a transition during an uncrossing becomes what follows it",
        file: "timetable.rs",
        from: "self.background.redirect_uncrossing(at, next);",
        to: "let _ = (at, next);",
        test: SHALLOW,
    },
    Alteration {
        decision: "the no-cancel period begins at its time",
        file: "timetable.rs",
        from: "call.no_cancel_from <= time",
        to: "call.no_cancel_from < time",
        test: (
            "behaviour",
            "timetables::no_cancel::members_cannot_cancel_or_amend_in_the_no_cancel_period",
        ),
    },
    Alteration {
        decision: "an incoming order trades only at prices in its range, also below it",
        file: "matching.rs",
        from: "if !taker.range.contains(price) {",
        to: "if taker.range.high < price {",
        test: SHALLOW,
    },
    Alteration {
        decision: "a member's restriction and an operator's are separate",
        file: "restrictions.rs",
        from: "let (kept, shift) = if by_member { (15, 4) } else { (15 << 4, 0) };",
        to: "let (kept, shift) = if by_member { (0, 4) } else { (0, 0) };",
        test: SHALLOW,
    },
    Alteration {
        decision: "a restricted account makes orders smaller",
        file: "amend.rs",
        from: "self.check_barred(market, account, reduces)?;",
        to: "self.check_barred(market, account, false)?;",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order for five levels takes no sixth",
        file: "place.rs",
        from: "const LEVELS_TAKEN: usize = 5;",
        to: "const LEVELS_TAKEN: usize = 6;",
        test: SHALLOW,
    },
    Alteration {
        decision: "a minimum quantity trades at once",
        file: "place.rs",
        from: "} else if terms.minimum_quantity != Quantity::ZERO {",
        to: "} else if false {",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order for the best price rests on the tick",
        file: "place.rs",
        from: "                if rests {\n                    // A best price",
        to: "                if false {\n                    // A best price",
        test: ("rules_pages", "market_orders::an_order_does_not_rest_off_the_tick"),
    },
    Alteration {
        decision: "a command touches 256 orders",
        file: "limits.rs",
        from: "pub const ORDERS_PER_COMMAND: u32 = 256;",
        to: "pub const ORDERS_PER_COMMAND: u32 = 255;",
        test: DEEP,
    },
    Alteration {
        decision: "a trigger is reached at its price",
        file: "triggers.rs",
        from: "        Side::Sell => last >= trigger,\n",
        to: "        Side::Sell => last > trigger,\n",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order that came after the price is not triggered by it",
        file: "triggers.rs",
        from: "Some((first, _)) if waiting.place(first) <= mark.upto => return Some(first),",
        to: "Some((first, _)) => return Some(first),",
        test: DEEP,
    },
    Alteration {
        decision: "a higher price hides lower ones before it from trailing stops",
        file: "extremes.rs",
        from: "            last.first = before.first;\n",
        to: "",
        test: DEEP,
    },
    Alteration {
        decision: "while orders are triggered, each price is queued",
        file: "triggers.rs",
        from: "                (Some(before), _) => before != last && reaches(side, last, before),",
        to: "                (Some(_), _) => false,",
        test: DEEP,
    },
    Alteration {
        decision: "the nearest trigger price of a trailing stop is looked for at its own extreme",
        file: "trailing.rs",
        from: "let extreme = extremes.since(point);",
        to: "let extreme = farthest;",
        test: DEEP,
    },
    Alteration {
        decision: "a trailing stop that is triggered has a limit of the trigger price then",
        file: "triggering.rs",
        from: "Side::Buy => limit.min(protection),",
        to: "Side::Buy => limit,",
        test: SHALLOW,
    },
    Alteration {
        decision: "an iceberg beside others offers what it displays",
        file: "icebergs.rs",
        from: "            false => self.displayed(slot, remaining),\n",
        to: "            false => remaining,\n",
        test: SHALLOW,
    },
    Alteration {
        decision: "a new tranche of an iceberg goes to the end of its price",
        file: "icebergs.rs",
        from: "        market.book.requeue(&mut self.orders, slot);\n",
        to: "",
        test: SHALLOW,
    },
    Alteration {
        decision: "an iceberg that traded in an auction displays as much as it may",
        file: "icebergs.rs",
        from: "*iceberg = Iceberg::new(iceberg.display_quantity, remaining);",
        to: "iceberg.limit_to(remaining);",
        test: ("rules_pages", "icebergs::icebergs_trade_in_auctions_as_the_page_says"),
    },
    Alteration {
        decision: "a fill-or-kill order counts what icebergs hide",
        file: "fok.rs",
        from: "hidden.0 > 0 && self",
        to: "hidden.0 > i64::MAX - 1 && self",
        test: SHALLOW,
    },
    Alteration {
        decision: "an iceberg that becomes larger keeps its place",
        file: "amend.rs",
        from: "let stays = is_iceberg && limit == detail.price && remaining > old_remaining;",
        to: "let stays = false;",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order that trades ends the other of its pair",
        file: "links.rs",
        from: "            if Some(slot) != except {",
        to: "            if Some(slot) != except && slot.at() % 2 == 0 {",
        test: SHALLOW,
    },
    Alteration {
        decision: "what an entry traded without exits gets exits of its own",
        file: "links.rs",
        from: "(list.filled.0, list.exits_quantity) =\n            (list.filled.0 - list.exits_quantity.0, Quantity::ZERO);",
        to: "(list.filled, list.exits_quantity) = (Quantity::ZERO, Quantity::ZERO);",
        test: SHALLOW,
    },
    Alteration {
        decision: "an exit that becomes larger goes to the end of its price",
        file: "exits.rs",
        from: "                market.book.requeue(&mut self.orders, slot);\n",
        to: "",
        test: SHALLOW,
    },
    Alteration {
        decision: "of two exits that would trade at once, one is entered",
        file: "exits.rs",
        from: "                && trigger.is_reached(list.side, last)",
        to: "                && trigger.is_reached(list.side.opposite(), last)",
        test: SHALLOW,
    },
    Alteration {
        decision: "a pair reserves the larger of what its orders need",
        file: "order_lists.rs",
        from: "(second.reserved.0 - first.reserved().0).max(0)",
        to: "second.reserved.0",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order takes a new place with a new trigger price",
        file: "triggers.rs",
        from: "        self.newest.amended += 1;\n",
        to: "",
        test: DEEP,
    },
    Alteration {
        decision: "the reserve of the second of a pair follows the first",
        file: "amend_linked.rs",
        from: "let other = (old != new).then_some(OtherReserve { slot, old, new });",
        to: "let other = (old > new).then_some(OtherReserve { slot, old, new });",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order of a pair does not trade when it is amended",
        file: "amend_linked.rs",
        from: "if !market.state().collects() && market.book.reaches(side, limit) {",
        to: "if market.book.reaches(side, limit) {",
        test: SHALLOW,
    },
    Alteration {
        decision: "what is left of five levels rests at the last price that it traded at",
        file: "five_levels.rs",
        from: "if !taker.rests || price == taker.limit {",
        to: "if !taker.rests || price <= taker.limit {",
        test: SHALLOW,
    },
    Alteration {
        decision: "the limits of a day hold beside those of continuous trading",
        file: "ranges.rs",
        from: "daily.unwrap_or(PriceRange::ALL).intersect(trading.unwrap_or(PriceRange::ALL))",
        to: "trading.unwrap_or(PriceRange::ALL)",
        test: SHALLOW,
    },
    Alteration {
        decision: "the protection of a sell ends at the first tick inside the limits",
        file: "ranges.rs",
        from: "i128::from(limits.low.0) + i128::from(tick) - 1;",
        to: "i128::from(limits.low.0);",
        test: SHALLOW,
    },
    Alteration {
        decision: "the last tick inside the limits is at the limit",
        file: "limit_state.rs",
        from: "price.0 - tick < limits.low.0",
        to: "price.0 < limits.low.0",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order that joins others at a limit does not begin the time anew",
        file: "limit_state.rs",
        from: "level.orders == 1",
        to: "level.orders >= 1",
        test: SHALLOW,
    },
    Alteration {
        decision: "a shorter halt does not end a longer one",
        file: "halts.rs",
        from: "halt.until.max(known.until)",
        to: "halt.until",
        test: SHALLOW,
    },
    Alteration {
        decision: "a circuit breaker halts trading once",
        file: "halts.rs",
        from: "market.breaker_ppm = 0;",
        to: "",
        test: SHALLOW,
    },
    Alteration {
        decision: "after a halt, a call goes on to its planned end if that is later",
        file: "halts.rs",
        from: "|planned| planned.ends > ends",
        to: "|planned| planned.ends < ends",
        test: SHALLOW,
    },
    Alteration {
        decision: "the price of an auction after an extension may be in the extended range",
        file: "auction.rs",
        from: "true => PriceCheck::Extended,",
        to: "true => PriceCheck::First,",
        test: SHALLOW,
    },
    Alteration {
        decision: "a command ends a call that waits for one at any price",
        file: "auction.rs",
        from: "_ if market.waits_for_command() => PriceCheck::Off,",
        to: "_ if false => PriceCheck::Off,",
        test: SHALLOW,
    },
    Alteration {
        decision: "a closing call accepts no order for the open",
        file: "phases.rs",
        from: "InstrumentState::ClosingCall => TimeInForce::AtOpen,",
        to: "InstrumentState::ClosingCall => TimeInForce::AtClose,",
        test: SHALLOW,
    },
    Alteration {
        decision: "a change of phase ends the limit state",
        file: "phases.rs",
        from: "(market.limit_state, market.halt) = (None, None);",
        to: "market.halt = None;",
        test: SHALLOW,
    },
    Alteration {
        decision: "a rebate by the lot is at most the fee of the incoming order",
        file: "contract.rs",
        from: "(taker, maker.max(Amount(-taker.0)))",
        to: "(taker, maker)",
        test: SHALLOW,
    },
    Alteration {
        decision: "a seller pays no more by the lot than it is paid",
        file: "contract.rs",
        from: "Side::Sell => fee.min(notional),",
        to: "Side::Sell => fee,",
        test: SHALLOW,
    },
    Alteration {
        decision: "an order that is valid until the end of a call takes part in its auction",
        file: "expiry.rs",
        from: "uncrosses && detail.expire_at > market.uncrossing_since",
        to: "uncrosses && detail.expire_at < market.uncrossing_since",
        test: SHALLOW,
    },
    Alteration {
        decision: "a conditional order that would be triggered at once is refused unless it may be",
        file: "conditional.rs",
        from: "&& !immediate",
        to: "&& immediate",
        test: SHALLOW,
    },
    Alteration {
        decision: "conditional orders count among the open orders of an account",
        file: "conditional.rs",
        from: "self.open_orders(account, at) >= market.rules().open_orders_max",
        to: "self.open_orders(account, at) > market.rules().open_orders_max",
        test: SHALLOW,
    },
];

/// The alterations of a file.
fn of(file: &str) -> impl Iterator<Item = &'static Alteration> {
    ALTERATIONS.iter().filter(move |one| one.file == file)
}

/// Reports for each alteration, or for those of some files in their order, whether its test detects it.
pub(crate) fn run(root: &Path, files: &[&str]) -> ExitCode {
    let asked: Vec<&Alteration> = match files {
        [] => ALTERATIONS.iter().collect(),
        files => files.iter().flat_map(|file| of(file)).collect(),
    };
    if let Some(unknown) = files.iter().find(|file| of(file).next().is_none()) {
        eprintln!("nothing is altered in a file {unknown} of the core");
        return ExitCode::FAILURE;
    }
    match break_all(root, &asked) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("the tests missed {missed} of {} wrong decisions", asked.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn break_all(root: &Path, asked: &[&Alteration]) -> Result<usize, String> {
    let copy = root.join("target/broken-core");
    fs::create_dir_all(&copy).map_err(|error| format!("cannot create the copy: {error}"))?;
    for part in ["Cargo.toml", "Cargo.lock", "crates", "docs", "examples", "xtask"] {
        copy_all(&root.join(part), &copy.join(part))
            .map_err(|error| format!("cannot copy {part}: {error}"))?;
    }
    let mut missed = 0;
    for test in asked.iter().map(|alteration| alteration.test).collect::<BTreeSet<_>>() {
        if let Some(found) = difference(&copy, test)? {
            return Err(format!("a test fails on the unaltered core: {found}"));
        }
    }
    for alteration in asked {
        let file = copy.join("crates/core/src").join(alteration.file);
        let sound = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let broken = sound.replacen(alteration.from, alteration.to, 1);
        let write = |text: &str| fs::write(&file, text).map_err(|error| error.to_string());
        write(&broken)?;
        let found = difference(&copy, alteration.test);
        write(&sound)?;
        let found = found?;
        missed += usize::from(found.is_none());
        let found = found.unwrap_or_else(|| "NOT NOTICED".to_owned());
        println!("{} ({}): {found}", alteration.decision, alteration.file);
    }
    Ok(missed)
}

/// The first difference between core and reference in a test, if there is one.
fn difference(copy: &Path, (file, name): Test) -> Result<Option<String>, String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(copy)
        .args(["test", "--package", "rialto-core", "--test", file, "--target-dir"])
        .arg(copy.join("target"))
        .args(["--", "--exact", name])
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let told = |line: &&str| line.contains(" differs:") || line.contains("says of itself");
    match (text.lines().find(told), text.contains("test result: FAILED")) {
        (Some(line), _) => Ok(Some(line.to_owned())),
        (None, true) => Ok(Some("the test fails".to_owned())),
        (None, false) => Err(format!("the test could not be run:\n{text}")),
    }
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_alteration_occurs_once_in_its_file() {
        for Alteration { file, from, to, .. } in ALTERATIONS {
            let path = crate::root().join("crates/core/src").join(file);
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            assert_ne!(from, to);
        }
    }
}
