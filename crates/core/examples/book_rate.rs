//! Measures the order book alone on a stream of operations (an OBW1 file), and on random prices.
//!
//! ```text
//! cargo run --release -p rialto-core --example book_rate -- FILE.obw [BOOKS]
//! cargo run --release -p rialto-core --example book_rate -- sparse [ORDERS]
//! ```
//!
//! For a file: one pass that checks trades, quantity, resting orders and digest against the header;
//! then fresh books, prefilled outside the timing, for the rate; then one book with a clock around
//! every operation.
//! Sparse: good-till-cancel limit orders at uniformly random prices, which leave about a fifth of
//! their number resting, hardly two of them at the same price.

// This program prints and reads clocks; the core itself must not.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::disallowed_types)]

use rialto_core::book::{Fill, LimitOrder, LimitOrderBook};
use rialto_model::{MemberId, OrderId, Price, Quantity, Side};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Streams longer than this are refused rather than read into memory.
const RECORDS_MAX: usize = 20_000_000;

#[derive(Clone, Copy)]
struct Record {
    id: OrderId,
    price: Price,
    quantity: Quantity,
    owner: MemberId,
    cancel: bool,
    side: Side,
}

struct Stream {
    prefill: usize,
    expected: Totals,
    resting: u64,
    records: Vec<Record>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    trades: u64,
    quantity: u64,
    digest: u64,
}

/// FNV-1a, 64 bits.
const DIGEST_START: u64 = 0xcbf2_9ce4_8422_2325;

impl Totals {
    const ZERO: Totals = Totals { trades: 0, quantity: 0, digest: DIGEST_START };

    #[inline]
    fn count(&mut self, fill: Fill) {
        self.trades += 1;
        self.quantity += fill.quantity.0 as u64;
    }

    fn digest(&mut self, fill: Fill) {
        self.count(fill);
        for value in [fill.maker.0, fill.taker.0, fill.price.0 as u64, fill.quantity.0 as u64] {
            for byte in value.to_le_bytes() {
                self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
            }
        }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn side(byte: u8) -> Side {
    if byte == 0 { Side::Buy } else { Side::Sell }
}

fn record(bytes: &[u8]) -> Option<Record> {
    Some(Record {
        id: OrderId(u64_at(bytes, 0)?),
        price: Price(u32_at(bytes, 8)?.into()),
        quantity: Quantity(u32_at(bytes, 12)?.into()),
        owner: MemberId(u32_at(bytes, 16)?),
        cancel: *bytes.get(20)? == 1,
        side: side(*bytes.get(21)?),
    })
}

fn stream(bytes: &[u8]) -> Option<Stream> {
    if !bytes.starts_with(b"OBW1") || bytes.len() > 64 + RECORDS_MAX * 24 {
        return None;
    }
    let header = |field: usize| u64_at(bytes, 8 + field * 8);
    Some(Stream {
        prefill: usize::try_from(header(1)?).ok()?,
        expected: Totals { trades: header(3)?, quantity: header(4)?, digest: header(6)? },
        resting: header(5)?,
        records: bytes.get(64..)?.chunks_exact(24).map(record).collect::<Option<_>>()?,
    })
}

/// Applies one operation; returns whether the book accepted it.
#[inline]
fn apply(book: &mut LimitOrderBook, record: &Record, on_fill: &mut impl FnMut(Fill)) -> bool {
    if record.cancel {
        book.cancel(record.id).is_some()
    } else {
        let Record { id, side, price, quantity, owner, .. } = *record;
        book.place(LimitOrder { id, side, price, quantity, owner }, on_fill).is_ok()
    }
}

/// A fresh, prefilled book and its totals so far.
fn prefilled(stream: &Stream) -> (LimitOrderBook, Totals) {
    let mut book = LimitOrderBook::with_capacity(stream.prefill + stream.prefill / 4 + 1_024);
    let mut totals = Totals::ZERO;
    for record in &stream.records[..stream.prefill] {
        assert!(
            apply(&mut book, record, &mut |fill| totals.digest(fill)),
            "the prefill is refused"
        );
    }
    (book, totals)
}

fn check(stream: &Stream) {
    let (mut book, mut totals) = prefilled(stream);
    for record in &stream.records[stream.prefill..] {
        let done = apply(&mut book, record, &mut |fill| totals.digest(fill));
        assert!(done, "order {} is refused or unknown", record.id);
    }
    assert_eq!(totals, stream.expected, "trades, quantity and digest");
    assert_eq!(book.orders().len() as u64, stream.resting, "resting orders");
    book.book().check(book.orders()).expect("the book is sound");
}

/// Millions of operations a second.
fn rate(stream: &Stream) -> f64 {
    let (mut book, _) = prefilled(stream);
    let operations = &stream.records[stream.prefill..];
    let (mut totals, mut missed) = (Totals::ZERO, 0_u64);
    let start = Instant::now();
    for record in operations {
        missed += u64::from(!apply(&mut book, record, &mut |fill| totals.count(black_box(fill))));
    }
    let elapsed = start.elapsed();
    assert_eq!(missed, 0, "operations refused or unknown");
    assert_eq!(
        (totals.trades, totals.quantity),
        (stream.expected.trades, stream.expected.quantity)
    );
    operations.len() as f64 / elapsed.as_secs_f64() / 1e6
}

/// Nanoseconds of each operation, sorted; the clock's own share is in them.
fn latencies(stream: &Stream) -> Vec<u64> {
    let (mut book, _) = prefilled(stream);
    let operations = &stream.records[stream.prefill..];
    let mut all = vec![1_u64; operations.len()];
    let mut totals = Totals::ZERO;
    for (record, taken) in operations.iter().zip(&mut all) {
        let start = Instant::now();
        black_box(apply(&mut book, record, &mut |fill| totals.count(black_box(fill))));
        *taken = start.elapsed().as_nanos() as u64;
    }
    all.sort_unstable();
    all
}

fn measure_file(path: &str, books: usize) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let stream = stream(&bytes).ok_or("not an OBW1 file of at most 20,000,000 records")?;
    check(&stream);
    let mut rates: Vec<f64> = (0..books).map(|_| rate(&stream)).collect();
    rates.sort_by(f64::total_cmp);
    let all = latencies(&stream);
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
    println!(
        "depth {:>6}: M op/s median {:.1} (least {:.1}, most {:.1}); \
         ns p50 {} p99 {} p99.9 {} p99.99 {} max {}; digest {:016x} agrees",
        stream.prefill,
        rates[rates.len() / 2],
        rates[0],
        rates[rates.len() - 1],
        at(0.5),
        at(0.99),
        at(0.999),
        at(0.9999),
        at(1.0),
        stream.expected.digest,
    );
    Ok(())
}

/// Mersenne Twister, as the published flow is drawn from it.
struct Twister {
    state: [u32; 624],
    at: usize,
}

impl Twister {
    fn new(seed: u32) -> Twister {
        let mut state = [seed; 624];
        for n in 1..624 {
            let last = state[n - 1];
            state[n] = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(n as u32);
        }
        Twister { state, at: 624 }
    }

    fn next(&mut self) -> u32 {
        if self.at == 624 {
            for n in 0..624 {
                let joined =
                    (self.state[n] & 0x8000_0000) | (self.state[(n + 1) % 624] & 0x7fff_ffff);
                let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[n] = self.state[(n + 397) % 624] ^ (joined >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        let (low, high) = (f64::from(self.next()), f64::from(self.next()));
        (low + high * 4_294_967_296.0) / 18_446_744_073_709_551_616.0 * (to - from) + from
    }
}

fn measure_sparse(orders: usize) -> Result<(), Box<dyn Error>> {
    let mut twister = Twister::new(42);
    let records: Vec<Record> = (1..=orders as u64)
        .map(|id| Record {
            id: OrderId(id),
            side: if twister.uniform(0.0, 1.0) < 0.5 { Side::Buy } else { Side::Sell },
            price: Price((twister.uniform(40_000.0, 60_000.0) * 1e9) as i64),
            quantity: Quantity((twister.uniform(0.01, 1.0) * 1e6) as i64),
            owner: MemberId(id as u32 % 1_000),
            cancel: false,
        })
        .collect();
    let mut rates = Vec::new();
    for pass in 0..3 {
        let mut book = LimitOrderBook::with_capacity(orders * 3 / 10 + 1_024);
        book.reserve_levels(orders / 4 + 1_024);
        let mut totals = Totals::ZERO;
        let start = Instant::now();
        for record in &records {
            assert!(apply(&mut book, record, &mut |fill| totals.count(black_box(fill))));
        }
        let elapsed = start.elapsed();
        rates.push(orders as f64 / elapsed.as_secs_f64() / 1e6);
        if pass == 0 {
            let levels = [Side::Buy, Side::Sell].map(|side| book.book().level_count(side));
            println!(
                "sparse {orders}: {} trades, {} resting on {} + {} levels",
                totals.trades,
                book.orders().len(),
                levels[0],
                levels[1]
            );
            book.book().check(book.orders())?;
        }
    }
    rates.sort_by(f64::total_cmp);
    println!("sparse {orders}: M orders/s {rates:.2?}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |or: usize| arguments.get(1).map_or(Ok(or), |text| text.parse());
    match arguments.first().map(String::as_str) {
        Some("sparse") => measure_sparse(number(5_000_000)?.clamp(1, RECORDS_MAX)),
        Some(path) => measure_file(path, number(5)?.clamp(1, 1_000)),
        None => Err("book_rate FILE.obw [BOOKS] | book_rate sparse [ORDERS]".into()),
    }
}
