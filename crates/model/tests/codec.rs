//! Every command and event survives its binary form, and other bytes are refused.

use proptest::prelude::*;
use rialto_model::testing::{plausible, wild};
use rialto_model::{
    ATTRIBUTION_BYTES_MAX, Accepted, AccountId, Amend, Amount, Attribution, COMMAND_BYTES_MAX,
    ClientOrderId, Command, DecodeFault, EVENT_BYTES_MAX, EVENTS_HEADER_BYTES, Event, EventEncoder,
    EventsFull, Handling, InstrumentId, MassCancel, NewOrder, OrderId, OrderKind, OrderRef,
    OrderSize, PostOnly, Price, Quantity, Side, TimeInForce, Timestamp, decode_attribution,
    decode_command, decode_events, encode_attribution, encode_command, encode_event, encode_order,
};

fn command_bytes(time: Timestamp, command: &Command) -> Vec<u8> {
    // Earlier contents of the buffer must not show.
    let mut buffer = [0xaa; COMMAND_BYTES_MAX];
    let bytes = encode_command(time, command, &mut buffer);
    buffer[..bytes].to_vec()
}

fn event_bytes(time: Timestamp, events: &[Event]) -> Vec<u8> {
    let mut buffer = vec![0xaa; EVENTS_HEADER_BYTES + events.len() * EVENT_BYTES_MAX];
    let mut encoder = EventEncoder::new(time, &mut buffer);
    for event in events {
        encoder.push(event).expect("there is room for each");
    }
    let bytes = encoder.finish();
    buffer.truncate(bytes);
    buffer
}

/// Decodes all events, or gives the first fault.
fn events_of(bytes: &[u8]) -> Result<(Timestamp, Vec<Event>), rialto_model::DecodeError> {
    let (time, events) = decode_events(bytes)?;
    Ok((time, events.collect::<Result<_, _>>()?))
}

fn limit_order() -> NewOrder {
    NewOrder {
        account: AccountId(7),
        instrument: InstrumentId(3),
        side: Side::Sell,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        post_only: PostOnly::Off,
        self_trade: None,
        handling: Handling::NONE,
        size: OrderSize::Base(Quantity(1_500)),
        price: Price(6_412_350),
        minimum_quantity: Quantity::ZERO,
        expire_at: Timestamp::ZERO,
        client_order_id: ClientOrderId::EMPTY,
    }
}

#[test]
fn a_minimum_quantity_takes_room_only_where_it_is_given() {
    let plain = command_bytes(Timestamp(1), &Command::Place(limit_order()));
    let order = NewOrder { minimum_quantity: Quantity(500), ..limit_order() };
    let least = command_bytes(Timestamp(1), &Command::Place(order));
    // Its flag, and eight bytes behind the fixed part.
    assert_eq!((plain[3], least[3]), (0, 4));
    assert_eq!(least[4..plain.len()], plain[4..]);
    assert_eq!(least[plain.len()..], 500_u64.to_le_bytes());
    let mut zero = least;
    let from = zero.len() - 8;
    zero[from..].fill(0);
    let fault = decode_command(&zero).unwrap_err();
    assert_eq!(fault.what, DecodeFault::NotCanonical("a minimum quantity of zero"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_command_survives_its_binary_form(time in wild::time(), command in wild::command()) {
        let bytes = command_bytes(time, &command);
        prop_assert_eq!(bytes.len() % 8, 0);
        prop_assert_eq!(decode_command(&bytes), Ok((time, command)));
    }

    #[test]
    fn an_order_is_written_as_the_command_that_enters_it(
        time in wild::time(), order in wild::new_order(),
    ) {
        let mut buffer = [0xaa; COMMAND_BYTES_MAX];
        let bytes = encode_order(time, &order, &mut buffer);
        prop_assert_eq!(&buffer[..bytes], command_bytes(time, &Command::Place(order)));
    }

    #[test]
    fn an_attribution_survives_its_binary_form_before_a_command(
        attribution in wild::attribution(), command in wild::command(),
    ) {
        let mut record = vec![0xaa; ATTRIBUTION_BYTES_MAX];
        let bytes = encode_attribution(&attribution, &mut record);
        prop_assert_eq!(bytes % 8, 0);
        record.truncate(bytes);
        let command = command_bytes(Timestamp(1), &command);
        record.extend_from_slice(&command);

        prop_assert_eq!(decode_attribution(&record), Ok(Some((attribution, &command[..]))));
        // A reader of commands alone cannot overlook it.
        prop_assert_eq!(decode_command(&record).unwrap_err().what, DecodeFault::UnknownKind(254));
        prop_assert_eq!(decode_attribution(&command), Ok(None));
    }

    #[test]
    fn a_plausible_command_survives_its_binary_form(
        command in plausible::command(plausible::Bounds::default()),
    ) {
        let bytes = command_bytes(Timestamp(1), &command);
        prop_assert_eq!(decode_command(&bytes), Ok((Timestamp(1), command)));
    }

    #[test]
    fn events_survive_their_binary_form(
        time in wild::time(),
        events in proptest::collection::vec(wild::event(), 0..6),
    ) {
        let bytes = event_bytes(time, &events);
        prop_assert_eq!(bytes.len() % 8, 0);
        prop_assert_eq!(events_of(&bytes), Ok((time, events)));
    }

    #[test]
    fn a_command_that_ends_early_or_late_is_refused(command in wild::command()) {
        let mut bytes = command_bytes(Timestamp(1), &command);
        for end in 0..bytes.len() {
            let fault = decode_command(&bytes[..end]).unwrap_err();
            prop_assert_eq!(fault.what, DecodeFault::Truncated);
            prop_assert!(fault.offset <= end);
        }
        let end = bytes.len();
        bytes.push(0);
        let fault = decode_command(&bytes).unwrap_err();
        prop_assert_eq!((fault.offset, fault.what), (end, DecodeFault::Trailing));
    }

    #[test]
    fn events_that_end_early_or_late_are_refused(
        events in proptest::collection::vec(wild::event(), 1..4),
    ) {
        let mut bytes = event_bytes(Timestamp(1), &events);
        for end in 0..bytes.len() {
            prop_assert!(events_of(&bytes[..end]).is_err());
        }
        let end = bytes.len();
        bytes.push(0);
        let fault = events_of(&bytes).unwrap_err();
        prop_assert_eq!((fault.offset, fault.what), (end, DecodeFault::Trailing));
    }

    /// A value has one form only: bytes that decode are the bytes that would have been written.
    #[test]
    fn a_changed_command_is_refused_or_is_another_command_in_its_only_form(
        command in wild::command(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = command_bytes(Timestamp(1), &command);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok((time, other)) = decode_command(&bytes) {
            prop_assert_eq!(command_bytes(time, &other), bytes);
        }
    }

    #[test]
    fn changed_events_are_refused_or_are_other_events_in_their_only_form(
        events in proptest::collection::vec(wild::event(), 1..4),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = event_bytes(Timestamp(1), &events);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok((time, others)) = events_of(&bytes) {
            prop_assert_eq!(event_bytes(time, &others), bytes);
        }
    }

    /// The first bytes are likely ones, so that the decoder gets past them.
    #[test]
    fn random_bytes_are_refused_or_are_in_their_only_form(
        kind in 0..24_u8,
        flags in any::<u8>(),
        small in any::<[u8; 2]>(),
        mut body in proptest::collection::vec(prop_oneof![3 => Just(0), 1 => any::<u8>()], 0..160),
    ) {
        let mut bytes = vec![kind, 1, flags, 0, 0, 0, 0, 0];
        bytes.append(&mut body);
        if let Ok((time, command)) = decode_command(&bytes) {
            prop_assert_eq!(command_bytes(time, &command), bytes.clone());
        }
        let length = bytes.len() as u8;
        bytes[2..8].copy_from_slice(&[length, 0, flags, 0, small[0], small[1]]);
        let mut record = event_bytes(Timestamp(1), &[]);
        record[4] = 1;
        record.append(&mut bytes);
        if let Ok((time, events)) = events_of(&record) {
            prop_assert_eq!(event_bytes(time, &events), record);
        }
    }
}

#[test]
fn frequent_records_are_short() {
    let order = limit_order();
    let place = command_bytes(Timestamp(1), &Command::Place(order));
    let cancel = Command::Cancel { account: AccountId(7), order: OrderRef::Id(OrderId(9)) };
    let accepted = Event::Accepted(Accepted {
        order: OrderId(9),
        terms: order,
        reserved: Amount(1_500),
        rests: true,
    });
    let mut buffer = [0; EVENT_BYTES_MAX];
    assert_eq!(place.len(), 48);
    assert_eq!(command_bytes(Timestamp(1), &cancel).len(), 32);
    assert_eq!(encode_event(&accepted, &mut buffer), 56);
}

#[test]
fn an_event_needs_room_for_the_longest() {
    let mut buffer = [0; EVENTS_HEADER_BYTES + EVENT_BYTES_MAX + 7];
    let mut encoder = EventEncoder::new(Timestamp(1), &mut buffer);
    assert_eq!(encoder.push(&Event::Ticked), Ok(()));
    assert_eq!(encoder.push(&Event::Ticked), Err(EventsFull));
    let bytes = encoder.finish();
    assert_eq!(events_of(&buffer[..bytes]), Ok((Timestamp(1), vec![Event::Ticked])));
}

#[test]
fn nothing_follows_a_fault_in_the_events() {
    let mut bytes = event_bytes(Timestamp(1), &[Event::Ticked, Event::Ticked, Event::Ticked]);
    bytes[EVENTS_HEADER_BYTES + 8] = 200;
    let (_, mut events) = decode_events(&bytes).unwrap();
    assert_eq!(events.next(), Some(Ok(Event::Ticked)));
    let fault = events.next().unwrap().unwrap_err();
    assert_eq!((fault.offset, fault.what), (24, DecodeFault::UnknownKind(200)));
    assert_eq!(events.next(), None);
}

#[test]
fn a_fault_names_the_byte_and_what_is_wrong_with_it() {
    let order = NewOrder { client_order_id: "id-1".parse().unwrap(), ..limit_order() };
    let valid = command_bytes(Timestamp(1), &Command::Place(order));
    let fault_with = |at: usize, byte: u8| {
        let mut bytes = valid.clone();
        bytes[at] = byte;
        decode_command(&bytes).unwrap_err().to_string()
    };
    assert_eq!(fault_with(0, 99), "byte 0 of the record: kind 99 is not known to this binary");
    assert_eq!(fault_with(1, 2), "byte 1 of the record: version 2 is not known to this binary");
    assert_eq!(
        fault_with(3, 0x80),
        "byte 2 of the record: flags 0x8002 do not belong to this kind"
    );
    assert_eq!(fault_with(6, 1), "byte 4 of the record: a reserved byte is not zero");
    assert_eq!(fault_with(40, 2), "byte 40 of the record: side is out of range");
    assert_eq!(fault_with(45, 0x80), "byte 45 of the record: a reserved byte is not zero");
    assert_eq!(fault_with(46, 1), "byte 46 of the record: a reserved byte is not zero");
    assert_eq!(
        fault_with(50, b' '),
        "byte 50 of the record: a text holds byte 0x20 at offset 1; \
         only printable ASCII (0x21 to 0x7e) is allowed"
    );
    assert_eq!(
        fault_with(48, 37),
        "byte 48 of the record: a text is 37 bytes long; at most 36 are allowed"
    );
    assert_eq!(fault_with(48, 3), "byte 52 of the record: a reserved byte is not zero");
}

/// Changes the bytes of a command and returns the fault that decoding reports.
fn fault_of(command: &Command, change: impl Fn(&mut Vec<u8>)) -> (usize, DecodeFault) {
    let mut bytes = command_bytes(Timestamp(1), command);
    change(&mut bytes);
    let fault = decode_command(&bytes).expect_err("the change makes it invalid");
    (fault.offset, fault.what)
}

#[test]
fn a_value_in_a_longer_form_than_needed_is_refused() {
    let quote = NewOrder { size: OrderSize::Quote(Amount(-5)), ..limit_order() };
    // The high half of an amount that fits 64 bits.
    let fault = fault_of(&Command::Place(quote), |bytes| {
        bytes[2] |= 1;
        bytes.extend_from_slice(&[0xff; 8]);
    });
    assert_eq!(fault, (48, DecodeFault::NotCanonical("an amount that fits 64 bits")));
    // The same order without an expiry, written as one with an expiry of zero.
    let fault = fault_of(&Command::Place(quote), |bytes| {
        bytes[2] |= 4;
        bytes.extend_from_slice(&[0; 8]);
    });
    assert_eq!(fault, (48, DecodeFault::NotCanonical("an expiry of zero")));
    let fault = fault_of(&Command::Place(quote), |bytes| {
        bytes[2] |= 2;
        bytes.extend_from_slice(&[0; 8]);
    });
    assert_eq!(fault, (48, DecodeFault::NotCanonical("an empty client order id")));
}

#[test]
fn a_quantity_beyond_64_bits_is_refused() {
    let fault = fault_of(&Command::Place(limit_order()), |bytes| {
        bytes[2] |= 1;
        bytes.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
    });
    assert_eq!(fault, (48, DecodeFault::OutOfRange("quantity")));
}

#[test]
fn a_value_that_is_not_given_must_be_zero() {
    let account = AccountId(7);
    let order = OrderRef::Id(OrderId(9));
    let amend = Command::Amend(Amend { account, order, price: None, quantity: None });
    let fault = fault_of(&amend, |bytes| bytes[24] = 1);
    assert_eq!(fault, (24, DecodeFault::NotCanonical("a value not given")));
    let cancel = Command::MassCancel(MassCancel { account, instrument: None, side: None });
    let fault = fault_of(&cancel, |bytes| bytes[20] = 1);
    assert_eq!(fault, (20, DecodeFault::NotCanonical("an instrument not given")));
}

#[test]
fn an_event_must_have_its_declared_length() {
    let ticked = event_bytes(Timestamp(1), &[Event::Ticked, Event::Ticked]);
    for (length, offset, what) in [
        (0, 18, DecodeFault::Length(0)),
        (7, 18, DecodeFault::Length(7)),
        (16, 24, DecodeFault::Trailing),
        (24, 18, DecodeFault::Length(24)),
    ] {
        let mut bytes = ticked.clone();
        bytes[EVENTS_HEADER_BYTES + 2] = length;
        let fault = events_of(&bytes).unwrap_err();
        assert_eq!((fault.offset, fault.what), (offset, what));
    }
}

#[test]
fn a_command_is_no_record_of_events() {
    let command = command_bytes(Timestamp(1), &Command::Tick);
    let events = event_bytes(Timestamp(1), &[Event::Ticked]);
    assert_eq!(decode_events(&command).unwrap_err().what, DecodeFault::UnknownKind(0));
    assert_eq!(decode_command(&events).unwrap_err().what, DecodeFault::UnknownKind(255));
}

/// The fault of an attribution with one byte changed.
fn attribution_fault(at: usize, byte: u8) -> DecodeFault {
    let mut bytes = vec![0; ATTRIBUTION_BYTES_MAX];
    let by = "b".repeat(31).parse().expect("it is printable");
    let reason = "é".repeat(50).parse().expect("it is printable");
    let len = encode_attribution(&Attribution { by, reason }, &mut bytes);
    assert_eq!(len, ATTRIBUTION_BYTES_MAX);
    bytes[at] = byte;
    decode_attribution(&bytes).expect_err("the change makes it invalid").what
}

#[test]
fn attributions_that_the_venue_never_writes_are_refused() {
    assert_eq!(attribution_fault(1, 2), DecodeFault::UnknownVersion(2));
    assert_eq!(attribution_fault(7, 1), DecodeFault::Reserved);
    // A sender is printable, and is there; so is what follows it, as long as it says.
    assert!(matches!(attribution_fault(9, b' '), DecodeFault::Text(_)));
    assert!(matches!(attribution_fault(8, 32), DecodeFault::Text(_)));
    assert!(matches!(attribution_fault(40, 101), DecodeFault::Text(_)));
    // The second byte of a letter alone is not UTF-8, and a control character does not print.
    assert_eq!(attribution_fault(41, 0xa9), DecodeFault::OutOfRange("reason"));
    assert_eq!(attribution_fault(143, 1), DecodeFault::Reserved);
    let mut nobody = vec![0; ATTRIBUTION_BYTES_MAX];
    nobody[..2].copy_from_slice(&[254, 1]);
    let fault = decode_attribution(&nobody).expect_err("it names nobody").what;
    assert_eq!(fault, DecodeFault::NotCanonical("an attribution to nobody"));
    assert_eq!(decode_attribution(&nobody[..8]).unwrap_err().what, DecodeFault::Truncated);
}
