//! Conditional orders as bytes.

use super::formats::{WITH_AMENDED_TRIGGERS, WITH_TRAILING};
use super::write::Writer;
use crate::Core;
use crate::book::Book;
use crate::client_ids::Extension;
use crate::trailing::{Follower, Progress, Trailing};
use crate::triggers::{Mark, QueuePlace, Stage, Triggers};
use rialto_model::{Condition, DistanceKind, Price, Side, TrailTerms};

impl Core {
    /// The waiting orders of an instrument, and the prices that have not been handled.
    pub(super) fn write_triggers(&self, triggers: &Triggers, out: &mut Writer) {
        for side in [Side::Buy, Side::Sell] {
            out.count(triggers.book.order_count(side));
            for slot in triggers.book.orders(&self.orders, side) {
                out.u8(self.open.get(slot.at()).attributes.side as u8);
                out.price(triggers.book.locate(&self.orders, slot).1);
                if out.format >= WITH_AMENDED_TRIGGERS {
                    write_place(self.waiting.place(slot), out);
                }
                self.write_order(slot, out);
            }
        }
        out.price(triggers.book_above);
        out.price(triggers.book_below);
        write_place(triggers.newest, out);
        out.count(triggers.marks.len());
        for mark in &triggers.marks {
            write_mark(mark, out);
        }
        if out.format >= WITH_TRAILING {
            let trailing = triggers.trailing.as_ref().filter(|trailing| trailing.len() > 0);
            out.bool(trailing.is_some());
            if let Some(trailing) = trailing {
                self.write_trailing(trailing, out);
            }
        }
    }

    fn write_trailing(&self, trailing: &Trailing, out: &mut Writer) {
        for side in [Side::Buy, Side::Sell] {
            let extremes = &trailing.extremes[side as usize];
            out.u64(extremes.next_point());
            out.count(extremes.stretches().len());
            for stretch in extremes.stretches() {
                out.u64(stretch.first);
                out.price(stretch.extreme);
            }
            out.price(trailing.nearest[side as usize].unwrap_or(Price::ZERO));
        }
        for book in trailing.books() {
            self.write_followers(book, out);
        }
    }

    fn write_followers(&self, book: &Book, out: &mut Writer) {
        for side in [Side::Buy, Side::Sell] {
            out.count(book.order_count(side));
            for slot in book.orders(&self.orders, side) {
                let Follower { trail, progress, .. } = self.waiting.follower(slot);
                out.u8(self.open.get(slot.at()).attributes.side as u8);
                write_trail(trail, out);
                match progress {
                    Progress::Inactive => {}
                    Progress::Active(point) => out.u64(*point),
                    Progress::Reached { trigger, point } => {
                        out.price(*trigger);
                        out.u64(*point);
                    }
                }
                self.write_order(slot, out);
            }
        }
    }
}

/// Formats before amended trigger prices have the order alone.
fn write_place(place: QueuePlace, out: &mut Writer) {
    out.u64(place.order.0);
    if out.format >= WITH_AMENDED_TRIGGERS {
        out.u64(place.amended);
    }
}

fn write_mark(mark: &Mark, out: &mut Writer) {
    out.u8(mark.side as u8);
    out.price(mark.price);
    write_place(mark.upto, out);
    out.price(mark.behind.unwrap_or(Price::ZERO));
    if out.format >= WITH_TRAILING {
        out.u8(match mark.stage {
            Stage::Entry | Stage::Done => 0,
            Stage::Begin => 1,
            Stage::Activation => 2,
            Stage::Distances(DistanceKind::Price) => 3,
            Stage::Distances(DistanceKind::Ppm) => 4,
        });
        out.price(mark.nearest.unwrap_or(Price::ZERO));
        out.bool(mark.is_own);
    }
}

fn write_trail(trail: &TrailTerms, out: &mut Writer) {
    out.price(trail.activation_price);
    out.u8(trail.distance.kind() as u8);
    out.u64(trail.distance.value() as u64);
}

/// What an order was entered with besides its terms.
pub(super) fn write_extension(extension: Option<&Extension>, out: &mut Writer) {
    match extension {
        None => write_condition(None, out),
        Some(Extension::Condition(condition)) => write_condition(Some(condition), out),
        Some(Extension::Display(display_quantity)) => {
            out.u8(3);
            out.quantity(*display_quantity);
        }
        Some(Extension::List(hash)) => {
            out.u8(4);
            out.u64(*hash);
        }
    }
}

/// What an order waits for, if it does.
pub(super) fn write_condition(condition: Option<&Condition>, out: &mut Writer) {
    match condition {
        None => out.u8(0),
        Some(Condition::Trigger(trigger)) => {
            out.u8(1);
            out.u8(trigger.kind as u8);
            out.price(trigger.price);
        }
        Some(Condition::Trail(trail)) => {
            out.u8(2);
            write_trail(trail, out);
        }
    }
}
