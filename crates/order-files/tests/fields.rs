//! The fields of order files: what each column accepts, and one error for each that is wrong.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_desk::Listing;
use rialto_model::{
    AccountId, Currency, CurrencyId, InstrumentId, OrderSize, Quantity, Scale, Symbol, Timestamp,
};
use rialto_order_files::{FileFaults, FileScope, OrderFile};

const HEADER: &str = "account,instrument,side,quantity,price,time_in_force,expire_at\n";

fn listing(symbol: &Symbol) -> Option<Listing> {
    let scale = |places| Scale::new(places).unwrap();
    let currency = |id, code: &str| Currency {
        id: CurrencyId(id),
        code: code.parse().unwrap(),
        scale: scale(8),
    };
    (symbol.as_str() == "BTC-USD").then(|| Listing {
        id: InstrumentId(1),
        symbol: *symbol,
        base: currency(1, "BTC"),
        quote: currency(2, "USD"),
        price_scale: scale(2),
        quantity_scale: scale(4),
    })
}

fn read(rows: &[u8]) -> Result<OrderFile, FileFaults> {
    let accounts = [AccountId(1), AccountId(2)];
    let scope =
        FileScope { listing: &listing, accounts: &accounts, only_account: None, rows_max: 10 };
    OrderFile::read(&[HEADER.as_bytes(), rows].concat(), &scope)
}

/// The time of an order, or the error.
fn time(text: &str) -> Result<Timestamp, String> {
    match read(format!("1,BTC-USD,buy,1,100,gtd,{text}\n").as_bytes()) {
        Ok(file) => Ok(file.rows[0].order.expire_at),
        Err(faults) => {
            assert_eq!(faults.total(), 1, "{faults}");
            Err(faults.listed()[0].message.clone())
        }
    }
}

#[test]
fn a_time_is_in_utc_or_nanoseconds() {
    let nanoseconds = 1_796_054_400_000_000_000;
    assert_eq!(time("2026-11-30T16:00:00Z"), Ok(Timestamp(nanoseconds)));
    assert_eq!(time("2026-11-30T16:00:00.000000001Z"), Ok(Timestamp(nanoseconds + 1)));
    assert_eq!(time(&nanoseconds.to_string()), Ok(Timestamp(nanoseconds)));
    for wrong in [
        "+1796054400000000000",
        "2026-11-30 16:00:00Z",
        "2026-11-30t16:00:00z",
        "2026-11-30T16:00:00Z[Europe/Berlin]",
        "2026-11-30T16:00:00+01:00",
        "2026-11-30T16:00Z",
        "2026-11-30T16:00:00.Z",
        "2026-12-31T23:59:60Z",
        "2026-02-29T00:00:00Z",
        "-1",
        "soon",
    ] {
        assert!(
            time(wrong).unwrap_err().contains("is no time; use 2026-11-30T16:00:00Z"),
            "{wrong}"
        );
    }
    for beyond in ["9999-12-31T23:59:59Z", "2554-07-21T23:34:33.709551616Z", "18446744073709551616"]
    {
        assert!(time(beyond).unwrap_err().contains("is later than"), "{beyond}");
    }
    assert_eq!(time("2554-07-21T23:34:33.709551615Z"), Ok(Timestamp(u64::MAX)));
}

#[test]
fn an_account_is_written_as_the_venue_writes_it() {
    for wrong in ["01", "+1", " 1"] {
        let faults = read(format!("{wrong},BTC-USD,buy,1,100,,\n").as_bytes()).unwrap_err();
        assert!(faults.to_string().contains("is no account of this member"), "{faults}");
    }
}

#[test]
fn zeros_behind_the_decimal_places_of_the_instrument_change_nothing() {
    let file = read(b"1,BTC-USD,buy,0.000100000,100.010,,\n").unwrap();
    assert_eq!(file.rows[0].order.size, OrderSize::Base(Quantity(1)));
    assert!(read(b"1,BTC-USD,buy,0.00011,100.010,,\n").is_err());
}

#[test]
fn fields_of_conditional_orders_and_icebergs_that_contradict_each_other_have_one_error() {
    let columns = "trigger,trigger_price,trigger_at_once,trail_distance,trail_ppm,activation_price,\
                   display_quantity";
    for (fields, column, error) in [
        ("stop,,,,,,", "trigger_price", "The field trigger_price is empty."),
        (",95,,,,,", "trigger", "The field trigger is empty."),
        (",,true,,,,", "trigger", "The field trigger is empty."),
        ("touch,95,,,,,", "trigger", "\"touch\" is none of stop, take_profit."),
        ("stop,1e2,,,,,", "trigger_price", ""),
        ("stop,95,yes,,,,", "trigger_at_once", "\"yes\" is neither true nor false."),
        ("stop,95,,5,,,", "trigger", "A trailing stop has no trigger, trigger_price or"),
        (",,,5,10000,,", "trail_ppm", "Give either trail_distance or trail_ppm, not both."),
        (",,,,,120,", "trail_distance", "The field trail_distance is empty."),
        (",,,,1.5,,", "trail_ppm", "\"1.5\" is no whole number of millionths."),
        (",,,,-1,,", "trail_ppm", "\"-1\" is no whole number of millionths."),
        (",,,,4294967296,,", "trail_ppm", "is no whole number of millionths."),
        (",,,5,,x,", "activation_price", ""),
        (",,,5,,0,", "activation_price", "An activation price is positive"),
        (",,,,,,0.00001", "display_quantity", ""),
        ("stop,95,,,,,0.1", "display_quantity", "A conditional order has no display_quantity."),
        (",,,5,,,0.1", "display_quantity", "A conditional order has no display_quantity."),
    ] {
        let file = format!(
            "account,instrument,side,quantity,price,{columns}\n1,BTC-USD,sell,1,100,{fields}\n"
        );
        let accounts = [AccountId(1)];
        let scope =
            FileScope { listing: &listing, accounts: &accounts, only_account: None, rows_max: 10 };
        let faults = OrderFile::read(file.as_bytes(), &scope).unwrap_err();
        let listed: Vec<_> =
            faults.listed().iter().map(|it| (it.name.as_str(), it.message.as_str())).collect();
        let [(name, message)] = listed[..] else { panic!("{fields}: {listed:?}") };
        assert_eq!(name, column, "{fields}");
        assert!(message.contains(error), "{fields}: {message}");
    }
}

#[test]
fn a_field_that_is_not_utf8_has_one_error() {
    for (row, column) in [
        (&b"1,BTC-USD,buy,1,1\xff0,,\n"[..], 5),
        (b"1,BTC-USD,buy,\xff,100,,\n", 4),
        (b"\xff,BTC-USD,buy,1,100,,\n", 1),
        (b"1,BTC\xff,buy,1,100,,\n", 2),
        (b"1,BTC-USD,\xff,1,100,,\n", 3),
    ] {
        let faults = read(row).unwrap_err();
        let places: Vec<_> =
            faults.listed().iter().map(|it| (it.line, it.column, it.message.as_str())).collect();
        assert_eq!(places, [(2, column, "The field is not UTF-8.")]);
    }
}
