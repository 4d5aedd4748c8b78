//! Snapshots with altered content and a correct checksum.

use crate::venue::*;
use proptest::prelude::*;
use proptest::sample::Index;
use rialto_core::Core;
use rialto_model::{
    Amend, AmendTrigger, Command, InstrumentState, MassCancel, NewOrder, OrderRef,
    PlannedTransition, Price, Quantity, Seq, Side, TimeInForce, Timestamp,
};

const SOUND: &[u8] = include_bytes!("../fixtures/snapshot-v2.bin");
/// Snapshots of every format that holds client order ids, ledgers and works as they are now.
const FORMATS: [&[u8]; 9] = [
    SOUND,
    include_bytes!("../fixtures/snapshot-v3.bin"),
    include_bytes!("../fixtures/snapshot-v4.bin"),
    include_bytes!("../fixtures/snapshot-v5.bin"),
    include_bytes!("../fixtures/snapshot-v6.bin"),
    include_bytes!("../fixtures/snapshot-v7.bin"),
    include_bytes!("../fixtures/snapshot-v8.bin"),
    include_bytes!("../fixtures/snapshot-v9.bin"),
    include_bytes!("../fixtures/snapshot-v10.bin"),
];
const HEADER_BYTES: usize = 64;

/// A change of a byte of the content.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Set(u8),
    Flip(u8),
    Add(u8),
    Insert(u8),
    Remove,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<u8>().prop_map(Edit::Set),
        (0..8_u8).prop_map(Edit::Flip),
        prop_oneof![Just(1), Just(u8::MAX)].prop_map(Edit::Add),
        any::<u8>().prop_map(Edit::Insert),
        Just(Edit::Remove),
    ]
}

fn forged(sound: &[u8], edits: &[(Index, Edit)]) -> Vec<u8> {
    let shortest = sound.len() - HEADER_BYTES - edits.len();
    forged_at(sound, edits.iter().map(|(at, edit)| (at.index(shortest), *edit)))
}

/// The snapshot with these edits, and a header that fits them.
fn forged_at(sound: &[u8], edits: impl IntoIterator<Item = (usize, Edit)>) -> Vec<u8> {
    let mut content = sound[HEADER_BYTES..].to_vec();
    for (at, edit) in edits {
        match edit {
            Edit::Set(value) => content[at] = value,
            Edit::Flip(bit) => content[at] ^= 1 << bit,
            Edit::Add(value) => content[at] = content[at].wrapping_add(value),
            Edit::Insert(value) => content.insert(at, value),
            Edit::Remove => drop(content.remove(at)),
        }
    }
    let mut bytes = sound[..HEADER_BYTES].to_vec();
    bytes[16..24].copy_from_slice(&(content.len() as u64).to_le_bytes());
    bytes[24..56].copy_from_slice(blake3::hash(&content).as_bytes());
    bytes.extend_from_slice(&content);
    bytes
}

/// An instrument in the middle of the search for the price of its auction: 255 orders that have
/// expired leave one of the 256 orders of a command for the search.
fn searching() -> Core {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::Call);
    let expire_at = Timestamp(venue.time + 5);
    for _ in 0..255 {
        venue.enter(NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(CAROL, 50, 1) });
    }
    venue.enter(buy(ALICE, 200, 100));
    for price in 101..=140 {
        venue.enter(sell(BOB, price, 2));
    }
    venue.time += 5;
    venue.set_state(InstrumentState::Open);
    venue.core
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of all edits in the bytes of a search none leads to a panic, then or later.
    #[test]
    fn a_forged_search_is_refused_or_ends(
        edits in prop::collection::vec((0..SEARCH_BYTES, edit()), 1..3),
    ) {
        let sound = searching().snapshot();
        let at = place_of_search(&sound) - HEADER_BYTES;
        let edits = edits.into_iter().map(|(offset, edit)| (at + offset, edit));
        if let Ok(mut core) = Core::restore(&forged_at(&sound, edits), 0) {
            for _ in 0..3 {
                let (seq, time) = (Seq(core.seq().0 + 1), core.time());
                core.apply(seq, time, &Command::Tick, &mut Vec::new());
            }
        }
    }
}

/// A volume, and for each side three prices, two flags and a quantity.
const SEARCH_BYTES: usize = 16 + 2 * (3 * 8 + 2 + 16);

/// Where the search stands in its snapshot: after its volume, 16, follows the price of the buy.
fn place_of_search(snapshot: &[u8]) -> usize {
    let begins = [&16_i128.to_le_bytes()[..], &200_i64.to_le_bytes()].concat();
    snapshot.windows(24).rposition(|window| window == begins).expect("it stands there")
}

#[test]
fn a_search_at_a_point_not_in_its_book_is_refused() {
    let core = searching();
    let sound = core.snapshot();
    assert!(core.has_background_work() && core.book(SPOT).unwrap().is_crossed());
    // The price of the sell that is matched next.
    let (at, sell) = (place_of_search(&sound), 109_i64.to_le_bytes());
    let next_sell = sound[at..].windows(8).position(|window| window == sell).expect("it follows");
    for place in [at, at + 16, at + next_sell] {
        let edit = (place - HEADER_BYTES, Edit::Add(1));
        assert!(Core::restore(&forged_at(&sound, [edit]), 0).is_err());
    }
}

/// A state with two calendars of one transition each, two days apart, at times that nothing else has.
fn with_calendars() -> (Vec<u8>, [Timestamp; 2]) {
    let mut venue = Venue::new();
    let times = [Timestamp(0x1122_3344_5566_7788), Timestamp(0x1122_3345_5566_7788)];
    for name in ["calendar-a", "calendar-b"] {
        let calendar = name.parse().unwrap();
        for (number, time) in (0..).zip(times) {
            let transition = PlannedTransition::plain(time, InstrumentState::Closed);
            venue.apply(Command::PlanTransition { calendar, number, transition });
        }
        let (count, replace) = (2, true);
        venue.apply(Command::AdoptPlan { calendar, count, digest: 1, seed: 2, replace });
    }
    (venue.core.snapshot(), times)
}

/// What is said of the snapshot with another byte, `offset` bytes behind the first place of these bytes.
fn said_of(sound: &[u8], place: &[u8], offset: usize, byte: u8) -> String {
    let at = sound.windows(place.len()).position(|window| window == place).unwrap();
    let edit = (at + offset - HEADER_BYTES, Edit::Set(byte));
    Core::restore(&forged_at(sound, [edit]), 0).err().unwrap().to_string()
}

#[test]
fn a_timetable_that_no_core_would_have_is_refused() {
    let (sound, [first, _]) = with_calendars();
    let restored = Core::restore(&sound, 0).unwrap();
    assert_eq!((restored.calendars().len(), restored.next_due()), (2, first));
    let said = said_of(&sound, b"calendar-a", 9, b'b');
    assert!(said.contains("the name of another one"), "{said}");
    let first = first.0.to_le_bytes();
    let said = said_of(&sound, &first, 7, 0x7f);
    assert!(said.contains("are not in order"), "{said}");
    let said = said_of(&sound, &first, 8, InstrumentState::Halted.number());
    assert!(said.contains("is not consistent"), "{said}");
    let said = said_of(&sound, b"calendar-a", 10 + 8 + 8, 2);
    assert!(said.contains("a flag"), "{said}");
}

#[test]
fn a_mass_cancel_at_an_order_of_another_account_is_refused() {
    for version in rialto_core::RULES_VERSIONS {
        let mut venue = Venue::under(version, rules());
        let mut orders = Vec::new();
        for _ in 0..300 {
            orders.push(venue.enter(buy(ALICE, 50, 1)));
            venue.enter(buy(BOB, 50, 1));
        }
        let which = MassCancel { account: ALICE, instrument: None, side: None };
        venue.apply(Command::MassCancel(which));
        // The order that is visited next, in place of which stands the one behind it.
        let next = orders[256].0;
        let place = next.to_le_bytes();
        let sound = venue.core.snapshot();
        let at = sound.windows(8).rposition(|window| window == place).unwrap();
        let edits = (0..).zip((next + 1).to_le_bytes());
        let edits = edits.map(|(nth, byte)| (at + nth - HEADER_BYTES, Edit::Set(byte)));
        let said = Core::restore(&forged_at(&sound, edits), 0).err().unwrap().to_string();
        assert!(said.contains("an order of another account"), "version {version}: {said}");
    }
}

#[test]
fn without_an_edit_it_is_the_sound_one() {
    for sound in FORMATS {
        assert_eq!(forged(sound, &[]), sound);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Never a panic. What is taken may be another form of a state, such as one with an empty
    /// balance written out; the core then writes the one form, and that is taken too.
    #[test]
    fn a_forged_snapshot_is_refused_or_is_a_state(
        // Half of them are of the newest format.
        sound in prop_oneof![Just(FORMATS[FORMATS.len() - 1]), prop::sample::select(&FORMATS[..])],
        edits in prop::collection::vec((any::<Index>(), edit()), 1..4),
    ) {
        if let Ok(core) = Core::restore(&forged(sound, &edits), 0) {
            let again = Core::restore(&core.snapshot(), 0).map(|core| core.state_hash());
            prop_assert_eq!(again, Ok(core.state_hash()));
            go_on(core);
        }
    }
}

/// Commands after a restart, none of which may panic where the invariants hold.
fn go_on(mut core: Core) {
    if core.check().is_err() {
        return;
    }
    let accounts = [ALICE, BOB]
        .map(|account| Command::MassCancel(MassCancel { account, instrument: None, side: None }));
    let orders = core.instruments().flat_map(|view| {
        let instrument = view.instrument.id;
        let price = core.book(instrument).and_then(|book| book.best(Side::Sell));
        let price = price.unwrap_or(Price(100));
        [buy(ALICE, price.0, 1), sell(BOB, price.0, 1)]
            .map(|order| Command::Place(NewOrder { instrument, ..order }))
    });
    let waiting = core.instruments().flat_map(|view| {
        let waiting = core.waiting_orders(view.instrument.id).take(3);
        waiting.map(|order| {
            let (account, id) = (order.account, OrderRef::Id(order.id));
            let quantity = Some(Quantity(order.remaining.0.saturating_add(1)));
            let amend = Amend { account, order: id, price: None, quantity };
            let price = order.trigger.map_or(Price(90), |trigger| trigger.price);
            let trigger_price = Price(price.0.saturating_add(1));
            Command::AmendTrigger(AmendTrigger { amend, trigger_price })
        })
    });
    let commands: Vec<Command> =
        [Command::Tick].into_iter().chain(waiting).chain(orders).chain(accounts).collect();
    for command in commands {
        for command in [command, Command::Tick] {
            let (seq, time) = (Seq(core.seq().0.saturating_add(1)), core.time());
            core.apply(seq, time, &command, &mut Vec::new());
        }
    }
}

#[test]
fn orders_that_stand_in_another_order_are_refused() {
    let content = &SOUND[HEADER_BYTES..];
    // The best bid of the first instrument, at 55, stands before the one at 54.
    let (best, next) = (55_i64.to_le_bytes(), 54_i64.to_le_bytes());
    // Of account 1: the limit, and what remains of seven.
    let order = |limit: &[u8], remaining: i64| {
        [&1_u32.to_le_bytes()[..], limit, &remaining.to_le_bytes(), &7_i64.to_le_bytes()].concat()
    };
    let find = |bytes: &[u8]| content.windows(bytes.len()).position(|window| window == bytes);
    let (first, second) = (find(&order(&best, 4)).unwrap(), find(&order(&next, 7)).unwrap());
    assert!(first < second);
    let mut edits = Vec::new();
    for (at, byte) in (first + 4..).zip(next).chain((second + 4..).zip(best)) {
        edits.push((at, Edit::Set(byte)));
    }
    let error = Core::restore(&forged_at(SOUND, edits), 0).err().unwrap();
    let told = error.to_string();
    assert!(told.contains("an order stands behind one with a worse price"), "{told}");
}
