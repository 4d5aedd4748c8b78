//! What each restriction refuses.

use crate::page::rows;
use crate::venue::{ALICE, QUOTE, SPOT, Venue, buy, transfer};
use rialto_model::{
    Command, Enumeration, MassCancel, MemberId, OrderId, Outcome, Restrict, Restriction,
    RestrictionTarget,
};
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/rules/restrictions.md");

const TARGETS: [(&str, RestrictionTarget); 4] = [
    ("venue", RestrictionTarget::Venue),
    ("member", RestrictionTarget::Member(MemberId(1))),
    ("account", RestrictionTarget::Account(ALICE)),
    ("instrument", RestrictionTarget::Instrument(SPOT)),
];

const ATTEMPTS: [fn(&mut Venue, OrderId) -> Outcome; 8] = [
    |venue, _| venue.place(buy(ALICE, 50, 2)),
    |venue, order| venue.amend(ALICE, order, Some(49), None),
    |venue, order| venue.amend(ALICE, order, None, Some(3)),
    |venue, order| venue.amend(ALICE, order, None, Some(1)),
    |venue, order| venue.cancel(ALICE, order),
    |venue, _| {
        let which = MassCancel { account: ALICE, instrument: None, side: None };
        venue.apply(Command::MassCancel(which))
    },
    |venue, _| venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 1, "out"))),
    |venue, _| venue.apply(Command::deposit(transfer(ALICE, QUOTE, 1, "in"))),
];

#[test]
fn each_restriction_refuses_what_the_page_says() {
    let mut seen = BTreeSet::new();
    for cells in rows(PAGE).filter(|cells| cells.len() == 10) {
        let Some(restriction) = Restriction::from_name(&cells[0]) else { continue };
        let (name, target) = *TARGETS.iter().find(|(name, _)| *name == cells[1]).unwrap();
        for (attempt, cell) in ATTEMPTS.iter().zip(&cells[2..]) {
            let mut venue = Venue::new();
            let order = venue.enter(buy(ALICE, 50, 2));
            let restrict = Restrict { target, restriction, by_member: false, cancel: false };
            let said = match venue.apply(Command::Restrict(restrict)) {
                Outcome::Rejected { .. } => "–",
                _ => match attempt(&mut venue, order) {
                    Outcome::Rejected { reason } => reason.code(),
                    _ => "yes",
                },
            };
            assert_eq!(said, cell, "{restriction:?} on {name}");
        }
        seen.insert((restriction.number(), name));
    }
    let strict = [Restriction::CancelOnly, Restriction::Frozen];
    let all = TARGETS.iter().flat_map(|(name, _)| strict.map(|kind| (kind.number(), *name)));
    let all: BTreeSet<_> = all.chain([(Restriction::None.number(), "account")]).collect();
    assert_eq!(seen, all);
}
