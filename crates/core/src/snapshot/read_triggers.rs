//! Conditional orders from bytes.

use super::formats::{
    WITH_AMENDED_TRIGGERS, WITH_ICEBERGS, WITH_LINKS, WITH_TRAILING, WITH_TRIGGERS,
};
use super::read::{Listed, Result, admit, is_behind, resting};
use super::reader::Reader;
use crate::Core;
use crate::book::{LimitOrder, Slot};
use crate::client_ids::Extension;
use crate::extremes::Extremes;
use crate::orders::Role;
use crate::taker::{Remaining, Taker};
use crate::trailing::{Progress, Trailing};
use crate::triggers::{Mark, QueuePlace, Stage};
use rialto_model::{
    Condition, Distance, DistanceKind, OrderId, Price, Quantity, Side, TimeInForce, TrailTerms,
    Trigger,
};

/// The waiting orders of an instrument, and the prices that have not been handled.
pub(super) fn triggers(
    core: &mut Core,
    from: &mut Reader<'_>,
    market: u16,
    listed: &mut Vec<Listed>,
) -> Result<()> {
    let mut last_place = QueuePlace::new(OrderId(0));
    for &trigger_side in Side::ALL {
        let mut before: Option<(Price, QueuePlace)> = None;
        for _ in 0..from.u32()? {
            let side = from.choice()?;
            let price = from.price()?;
            let fine =
                price.0 > 0 && is_behind(trigger_side, before.map(|(price, _)| price), price);
            from.refuse_unless(fine, "an order waits behind one that is triggered later")?;
            let (order, place) = waiting_order(core, from, (market, side), (trigger_side, price))?;
            let fine = before.is_none_or(|(other, earlier)| other != price || earlier < place);
            from.refuse_unless(fine, "an order waits behind one that came later")?;
            before = Some((price, place));
            last_place = last_place.max(place);
            listed.push(order);
        }
    }
    let (above, below, newest) = (from.price()?, from.price()?, place(core, from)?);
    from.refuse_unless(last_place <= newest, "an order waits at a place that was not taken")?;
    let triggers = &mut core.markets[usize::from(market)].triggers;
    (triggers.book_above, triggers.book_below, triggers.newest) = (above, below, newest);
    for _ in 0..from.u32()? {
        let mark = mark(core, from)?;
        from.refuse_unless(mark.upto <= newest, "a price is about a place that was not taken")?;
        core.markets[usize::from(market)].triggers.marks.push_back(mark);
    }
    if from.format >= WITH_TRAILING {
        trailing(core, from, market, listed)?;
    }
    core.markets[usize::from(market)].triggers.update_bounds();
    Ok(())
}

/// A place; that of no order before the first one.
fn place(core: &Core, from: &mut Reader<'_>) -> Result<QueuePlace> {
    let order = OrderId(from.u64()?);
    let is_own = OrderId::from_parts(core.engine, order.counter()) == order;
    let was_given = order == OrderId(0) || is_own && order.counter() <= core.order_count;
    let amended = if from.format >= WITH_AMENDED_TRIGGERS { from.u64()? } else { 0 };
    let fine = was_given && amended <= core.seq.0;
    from.refuse_unless(fine, "a place is behind no order and amendment")?;
    Ok(QueuePlace { order, amended })
}

fn mark(core: &Core, from: &mut Reader<'_>) -> Result<Mark> {
    let (side, price, upto) = (from.choice()?, from.price()?, place(core, from)?);
    let behind = Some(from.price()?).filter(|price| *price != Price::ZERO);
    let (mut stage, mut nearest, mut is_own) = (Stage::Entry, None, false);
    if from.format >= WITH_TRAILING {
        stage = match from.u8()? {
            0 => Stage::Entry,
            1 => Stage::Begin,
            2 => Stage::Activation,
            3 => Stage::Distances(DistanceKind::Price),
            4 => Stage::Distances(DistanceKind::Ppm),
            _ => return Err(from.wrong("a price is handled in no known way")),
        };
        nearest = Some(from.price()?).filter(|price| *price != Price::ZERO);
        is_own = from.bool()?;
        from.refuse_unless(price.0 > 0, "a price of a trade is not positive")?;
    }
    Ok(Mark { side, price, upto, stage, behind, nearest, is_own })
}

/// A waiting order on a side of the triggers and at a trigger price, and its place.
fn waiting_order(
    core: &mut Core,
    from: &mut Reader<'_>,
    (market, side): (u16, Side),
    (trigger_side, trigger): (Side, Price),
) -> Result<(Listed, QueuePlace)> {
    let given = match from.format >= WITH_AMENDED_TRIGGERS {
        true => Some(place(core, from)?),
        false => None,
    };
    let taker = conditional(core, from, (market, side), [Role::Waiting, Role::WaitingMarket])?;
    let Remaining::Base(quantity) = taker.want else { unreachable!("it was read as a quantity") };
    let (id, owner) = (taker.order, taker.member);
    let order = LimitOrder { id, side: trigger_side, price: trigger, quantity, owner };
    let book = &mut core.markets[usize::from(market)].triggers.book;
    let inserted = book.insert(&mut core.orders, order);
    let slot = from.needs(inserted.ok(), "an order cannot wait")?;
    let place = given.unwrap_or(QueuePlace::new(id));
    from.refuse_unless(place >= QueuePlace::new(id), "an order waits before it was entered")?;
    core.waiting.set_place(slot, place);
    Ok((admit(core, slot.at(), &taker), place))
}

/// An order that waits, with the role of a limit order or of a market order.
fn conditional(
    core: &mut Core,
    from: &mut Reader<'_>,
    (market, side): (u16, Side),
    roles: [Role; 2],
) -> Result<Taker> {
    let (mut taker, iceberg) = resting(core, from, market, side)?;
    let time_in_force = taker.attributes.time_in_force;
    let may_wait = time_in_force != TimeInForce::Fok
        && !time_in_force.is_for_auction()
        && taker.filled == Quantity::ZERO
        && iceberg.is_none();
    from.refuse_unless(may_wait, "an order cannot be conditional")?;
    taker.attributes.role = roles[usize::from(taker.attributes.role == Role::Market)];
    Ok(taker)
}

/// The trailing stops of an instrument.
fn trailing(
    core: &mut Core,
    from: &mut Reader<'_>,
    market: u16,
    listed: &mut Vec<Listed>,
) -> Result<()> {
    let at = usize::from(market);
    let is_any = from.bool()?;
    let marks = &core.markets[at].triggers.marks;
    if is_any || marks.iter().any(|mark| mark.stage != Stage::Entry) {
        core.markets[at].triggers.trailing = Some(Box::new(Trailing::new()));
    }
    if !is_any {
        return Ok(());
    }
    for &side in Side::ALL {
        let next = from.u64()?;
        // Each order of the core begins to follow the price once.
        let fine = next <= core.order_count;
        from.refuse_unless(fine, "more orders follow the price than there were")?;
        let mut kept = Vec::new();
        for _ in 0..from.u32()? {
            kept.push((from.u64()?, from.price()?));
        }
        let extremes = Extremes::restore(side, &kept, next);
        let extremes = from.needs(extremes, "a price is not an extreme of those behind it")?;
        let nearest = Some(from.price()?).filter(|price| *price != Price::ZERO);
        if let Some(trailing) = &mut core.markets[at].triggers.trailing {
            trailing.extremes[side as usize] = extremes;
            trailing.nearest[side as usize] = nearest;
        }
    }
    let mut added = Vec::new();
    for book in 0..4 {
        for &side in Side::ALL {
            let mut before = None;
            for _ in 0..from.u32()? {
                let (listed, place) = follower(core, from, market, (book, side))?;
                let fine = is_behind(side, before.map(|(price, _)| price), place.0)
                    && before.is_none_or(|(price, point)| price != place.0 || point <= place.1);
                from.refuse_unless(fine, "a trailing stop stands behind a later one")?;
                before = Some(place);
                added.push(listed);
            }
        }
    }
    added.sort_unstable();
    for slot in added.iter().filter_map(|(_, slot, ..)| Slot::new(*slot)) {
        if let Some(trailing) = &mut core.markets[at].triggers.trailing {
            trailing.append(&mut core.waiting, slot);
        }
    }
    listed.append(&mut added);
    let market = &core.markets[at];
    let prices = (market.last_price, market.rules().tick);
    let marks = &market.triggers.marks;
    let trailing = market.triggers.trailing.as_ref();
    let is_sound = trailing.is_some_and(|trailing| {
        trailing.len() > 0 && trailing.is_sound(&core.orders, &core.waiting, marks, prices)
    });
    from.refuse_unless(is_sound, "the trailing stops of an instrument do not agree")
}

/// A trailing stop on a side of one of the books of [`Trailing::books`], by its index; the price that it stands
/// at there, and the point from which an active one follows the price.
fn follower(
    core: &mut Core,
    from: &mut Reader<'_>,
    market: u16,
    (book, book_side): (usize, Side),
) -> Result<(Listed, (Price, u64))> {
    let side = from.choice()?;
    let trail = trail(from)?;
    let is_trail = trail.distance.value() > 0
        && trail.activation_price.0 > 0
        && !matches!(trail.distance, Distance::Ppm(Distance::PPM_END..));
    from.refuse_unless(is_trail, "a trailing stop has no distance or activation price")?;
    let progress = match book {
        0 => Progress::Inactive,
        3 => Progress::Reached { trigger: from.price()?, point: from.u64()? },
        _ => Progress::Active(from.u64()?),
    };
    let roles = [Role::Trailing, Role::TrailingMarket];
    let taker = conditional(core, from, (market, side), roles)?;
    let Remaining::Base(quantity) = taker.want else { unreachable!("it was read as a quantity") };
    let (id, price, owner) = (taker.order, taker.limit, taker.member);
    let order = LimitOrder { id, side, price, quantity, owner };
    let trailing = &mut core.markets[usize::from(market)].triggers.trailing;
    let trailing = trailing.as_mut().expect("it was made before");
    let (orders, waiting) = (&mut core.orders, &mut core.waiting);
    let added = trailing.restore(orders, waiting, order, (trail, progress));
    let slot = from.needs(added, "a trailing stop cannot wait")?;
    let (side, price) = trailing.books()[book].locate(&core.orders, slot);
    from.refuse_unless(side == book_side, "a trailing stop stands on the other side")?;
    let point = if let Progress::Active(point) = progress { point } else { 0 };
    Ok((admit(core, slot.at(), &taker), (price, point)))
}

fn trail(from: &mut Reader<'_>) -> Result<TrailTerms> {
    let activation_price = from.price()?;
    let kind = from.choice()?;
    let distance = Distance::new(kind, from.u64()? as i64);
    let distance = from.needs(distance, "a distance is out of range")?;
    Ok(TrailTerms { distance, activation_price })
}

/// What a remembered order was entered with besides its terms.
pub(super) fn extension(from: &mut Reader<'_>) -> Result<Option<Extension>> {
    if from.format < WITH_TRIGGERS {
        return Ok(None);
    }
    Ok(match from.u8()? {
        3 if from.format >= WITH_ICEBERGS => Some(Extension::Display(from.quantity()?)),
        4 if from.format >= WITH_LINKS => Some(Extension::List(from.u64()?)),
        kind => condition(from, kind)?.map(Extension::Condition),
    })
}

/// What an order waits for, by its kind; zero is nothing.
pub(super) fn condition(from: &mut Reader<'_>, kind: u8) -> Result<Option<Condition>> {
    Ok(match kind {
        0 => None,
        1 => {
            let trigger = Trigger { kind: from.choice()?, price: from.price()? };
            Some(Condition::Trigger(trigger))
        }
        2 if from.format >= WITH_TRAILING => Some(Condition::Trail(trail(from)?)),
        _ => return Err(from.wrong("an order was entered in no known way")),
    })
}
