//! `rialto replay`, through the real binary.

use rialto_model::{OrderId, Price, Quantity};
use rialto_workload::digest::FillDigest;
use rialto_workload::obw;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn rialto(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rialto")).args(arguments).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Replays with these further arguments, and returns the object at the end.
fn replay(file: &Path, more: &[&str]) -> Value {
    let output = rialto(&[&["replay", file.to_str().unwrap(), "--json"], more].concat());
    assert!(output.status.success(), "{}", told(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().expect("an object at the end")).unwrap()
}

/// Replays a file that must be refused, and returns the exit code and the error.
fn refused(file: &Path, more: &[&str]) -> (i32, String) {
    let output = rialto(&[&["replay", file.to_str().unwrap()], more].concat());
    assert!(!output.status.success());
    (output.status.code().unwrap(), told(&output))
}

fn write(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn obw_bytes() -> (obw::Header, Vec<u8>) {
    let stream = obw::generate(7, 200, 3_000);
    let mut bytes = Vec::new();
    obw::write(&stream, &mut bytes).unwrap();
    (stream.header, bytes)
}

/// Two trades at 100.5: the resting 1.00 of order 1, then 0.50 of order 3. Order 2 is cancelled,
/// order 6 is killed, order 7 would take, order 8 is a market order that takes the rest.
const ORDERS: &str = "\
time,action,id,account,side,type,tif,price,quantity
1000,place,1,7,sell,limit,gtc,100.5,1.00
1000,place,2,7,sell,,,101.5,1
1100,place,3,8,sell,limit,gtc,100.5,2
1200,place,4,9,buy,limit,gtc,100.5,1.5
1300,cancel,2,,,,,,
1400,reduce,3,8,,,,,0.25
1500,amend,3,,,,,100.25,
1600,place,6,9,buy,limit,fok,100.5,9
1700,place,7,9,buy,post_only,,100.5,1
1800,place,8,9,buy,market,,,5
";

fn expected_digest(fills: &[(u64, u64, i64, i64)]) -> String {
    let mut digest = FillDigest::new();
    for (maker, taker, price, quantity) in fills {
        digest.fill(OrderId(*maker), OrderId(*taker), Price(*price), Quantity(*quantity));
    }
    digest.to_string()
}

#[test]
fn a_stream_arrives_at_the_totals_of_its_header() {
    let dir = tempfile::tempdir().unwrap();
    let (header, bytes) = obw_bytes();
    let file = write(&dir, "w.obw", bytes);
    let got = replay(&file, &[]);
    assert_eq!(got["trades"], header.trades);
    assert_eq!(got["traded_quantity"], header.traded_quantity);
    assert_eq!(got["resting_orders"], header.resting);
    assert_eq!(got["digest"], header.digest.to_string());
    assert_eq!(got["matches_header"], true);
    assert_eq!(got["rejects"], serde_json::json!({}));
    let operations = got["orders"].as_u64().unwrap() + got["cancels"].as_u64().unwrap();
    assert_eq!(operations, header.prefill + header.operations);
}

#[test]
fn the_same_file_leads_to_the_same_state_at_every_level() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(&dir, "w.obw", obw_bytes().1);
    let states: Vec<Value> = ["memory", "buffered", "synced"]
        .iter()
        .map(|level| replay(&file, &["--level", level])["state_hash"].clone())
        .collect();
    assert_eq!(states[0], states[1]);
    assert_eq!(states[1], states[2]);
}

#[test]
fn without_risk_the_fills_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (header, bytes) = obw_bytes();
    let file = write(&dir, "w.obw", bytes);
    assert_eq!(replay(&file, &["--risk", "off"])["digest"], header.digest.to_string());
}

#[test]
fn a_header_that_promises_other_totals_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = obw_bytes().1;
    bytes[56] ^= 1;
    let file = write(&dir, "w.obw", bytes);
    let (code, told) = refused(&file, &[]);
    assert_eq!(code, 1);
    assert!(told.contains("digest") && told.contains("instead of"), "{told}");
}

#[test]
fn a_cut_stream_is_refused_with_its_offset() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = obw_bytes().1;
    let file = write(&dir, "w.obw", &bytes[..64 + 24 * 100 + 5]);
    let (code, told) = refused(&file, &[]);
    assert_eq!(code, 1);
    assert!(told.contains("byte 2469") && told.contains("too early"), "{told}");
}

#[test]
fn a_file_of_no_known_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b"OBW2 and more", b"a,b,c\n1,2,3\n", &[0xff; 100]] {
        let file = write(&dir, "x", bytes);
        let (code, told) = refused(&file, &[]);
        assert_eq!(code, 1);
        assert!(told.contains("no format that is known"), "{told}");
    }
    let (code, told) = refused(&dir.path().join("not-there"), &[]);
    assert_eq!(code, 1);
    assert!(told.contains("not-there"), "{told}");
}

#[test]
fn the_lines_of_an_order_file_take_effect() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(&dir, "o.csv", ORDERS);
    let got = replay(&file, &[]);
    // 3 is for 2.00; 0.50 of it trades, 0.25 is removed, 1.25 remain for the market order.
    let fills = [(1, 4, 10_050, 100), (3, 4, 10_050, 50), (3, 8, 10_025, 125)];
    assert_eq!(got["digest"], expected_digest(&fills));
    assert_eq!(got["trades"], 3);
    assert_eq!(got["traded_quantity"], 275);
    assert_eq!((got["price_scale"].clone(), got["quantity_scale"].clone()), (2.into(), 2.into()));
    assert_eq!(got["orders"], 7);
    assert_eq!(got["cancels"], 1);
    assert_eq!(got["amends"], 2);
    assert_eq!(got["resting_orders"], 0);
    assert_eq!(got["rejects"], serde_json::json!({"would_cross": 1, "unfillable": 1}));
}

#[test]
fn a_packed_order_file_is_read_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let plain = write(&dir, "o.csv", ORDERS);
    let packed = std::fs::File::create(dir.path().join("o.csv.gz")).unwrap();
    let mut packer = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packer.write_all(ORDERS.as_bytes()).unwrap();
    packer.finish().unwrap();
    let packed = replay(&dir.path().join("o.csv.gz"), &[]);
    assert_eq!(packed["state_hash"], replay(&plain, &[])["state_hash"]);
}

#[test]
fn a_wrong_line_is_named_before_anything_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("venue");
    let header = "time,action,id,account,side,type,tif,price,quantity\n";
    let first = "10,place,1,1,buy,limit,gtc,100,1\n";
    for (line, place, reason) in [
        ("11,plac,2,1,buy,limit,gtc,100,1", "line 3, column 4", "none of place"),
        ("11,place,x,1,buy,limit,gtc,100,1", "line 3, column 10", "not an order id"),
        ("11,place,2,1,bid,limit,gtc,100,1", "line 3, column 14", "none of buy, sell"),
        ("11,place,2,1,buy,stop,gtc,100,1", "line 3, column 18", "none of limit"),
        ("11,place,2,1,buy,limit,day,100,1", "line 3, column 24", "none of gtc"),
        ("11,place,2,1,buy,limit,gtc,1e2,1", "line 3, column 28", "not a decimal"),
        ("11,place,2,1,buy,limit,gtc,,1", "line 3, column 28", "needs a price"),
        ("11,place,2,1,buy,limit,gtc,100,", "line 3, column 32", "quantity is needed"),
        ("11,place,2,1,buy,limit,gtc,100", "line 3, column 31", "8 fields"),
        ("11,place,1,1,buy,limit,gtc,100,1", "line 3, column 10", "a second time"),
        ("11,cancel,2,,,,,,", "line 3, column 11", "not placed before"),
        ("11,cancel,1,2,,,,,", "line 3, column 13", "belongs to account 1"),
        ("9,cancel,1,,,,,,", "line 3, column 1", "before 10"),
        ("11,amend,1,,,,,,", "line 3, column 4", "needs a price, a quantity or both"),
        ("11,place,2,1,buy,limit,gtc,0.0000000001,0.0000000001", "line 3", "at most 18"),
        ("11,place,2,1,buy,limit,gtc,99999999999999999999,1", "line 3", "out of range"),
    ] {
        let file = write(&dir, "o.csv", format!("{header}{first}{line}\n"));
        let (code, told) = refused(&file, &["--data", data.to_str().unwrap()]);
        assert_eq!(code, 1, "{line}");
        assert!(told.contains(place) && told.contains(reason), "{line}: {told}");
        assert!(!data.exists(), "{line}");
    }
}

#[test]
fn a_wrong_header_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (header, reason) in [
        ("action,id,side,price,quantity,prize", "unknown column \"prize\""),
        ("action,id,side,price", "\"quantity\" is missing"),
        ("action,id,side,price,quantity,id", "twice"),
    ] {
        let file = write(&dir, "o.csv", format!("{header}\n"));
        let (code, told) = refused(&file, &[]);
        assert_eq!(code, 1);
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn a_nonempty_directory_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(&dir, "o.csv", ORDERS);
    let (code, told) = refused(&file, &["--data", dir.path().to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(told.contains("is not empty"), "{told}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_pace_needs_recorded_times_and_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let stream = write(&dir, "w.obw", obw_bytes().1);
    let (code, told) = refused(&stream, &["--speed", "2x"]);
    assert_eq!(code, 2);
    assert!(told.contains("records no times"), "{told}");

    let lines = "time,action,id,side,price,quantity\n0,place,1,buy,1,1\n900000000,cancel,1,,,\n";
    let file = write(&dir, "o.csv", lines);
    let began = Instant::now();
    replay(&file, &["--speed", "3x"]);
    assert!(began.elapsed() >= Duration::from_millis(300));
}

const CAPTURE: &str = "\
id,timestamp,exchange_timestamp,price,volume,action,direction
1,10,10,100.0,0.5,created,ask
2,11,11,101.0,1e-08,created,ask
3,12,12,100.0,0.75,created,bid
3,12,12,100.0,0.25,changed,bid
1,12,12,100.0,0.0,deleted,ask
4,13,13,99.0,1.0,created,ask
4,14,14,99.0,0.4,changed,ask
3,15,15,100.0,0.25,deleted,bid
9,15,15,1.0,1.0,deleted,bid
";
const CAPTURE_TRADES: &str = "\
trade_id,timestamp,exchange_timestamp,price,amount,buy_order_id,sell_order_id,side
1,12,12,100.0,0.5,3,1,buy
2,12,12,100.0,0.1,8,7,sell
";

#[test]
fn a_capture_is_held_against_the_real_trades() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(&dir, "orders.csv", CAPTURE);
    write(&dir, "trades.csv", CAPTURE_TRADES);
    let got = replay(&file, &[]);
    assert_eq!(got["real_trades"]["real"], 2);
    assert_eq!(got["real_trades"]["reproduced"], 1);
    assert_eq!(got["real_trades"]["taker_did_not_trade"], 1);
    assert_eq!(got["real_trades"]["surplus"], 0);
    assert_eq!(got["digest"], expected_digest(&[(1, 3, 10_000, 50_000_000)]));
    // Order 4 slid to 101 instead of taking from order 3, and was reduced there.
    assert_eq!((got["amends"].clone(), got["resting_orders"].clone()), (1.into(), 2.into()));
    assert_eq!(got["without_order"], 1);

    let got = replay(&file, &["--passive", "reject"]);
    assert_eq!(got["rejects"]["would_cross"], 1);
    assert_eq!(got["real_trades"]["reproduced"], 1);
}

#[test]
fn a_capture_without_its_trades_is_replayed_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(&dir, "orders.csv", CAPTURE);
    assert_eq!(replay(&file, &[])["real_trades"], Value::Null);
    let output = rialto(&["replay", file.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("trades.csv is not there"), "{text}");
}

/// The real capture, if it has been fetched; see scripts/fetch-bitstamp.sh.
fn bitstamp() -> Option<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/bitstamp/orders.csv.gz");
    let file = std::env::var_os("RIALTO_BITSTAMP").map_or(fetched, PathBuf::from);
    file.exists().then_some(file)
}

#[test]
fn the_real_capture_gives_226_of_284_real_trades() {
    let Some(file) = bitstamp() else {
        println!("skipped: the capture is not there; scripts/fetch-bitstamp.sh fetches it");
        return;
    };
    let got = replay(&file, &["--passive", "slide"]);
    assert_eq!(got["operations"], 314_057);
    assert_eq!(got["orders"], 156_889);
    assert_eq!(got["real_trades"]["real"], 284);
    assert_eq!(got["real_trades"]["reproduced"], 226);
    assert_eq!(replay(&file, &["--passive", "reject"])["real_trades"]["reproduced"], 224);
}
