//! The book does not allocate while it works: counted, not assumed.

use rialto_core::book::{LimitOrder, LimitOrderBook};
use rialto_model::{MemberId, OrderId, Price, Quantity, Side};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

// Of each thread: that of the test harness allocates at the same time.
thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down may still allocate; that is not counted.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on as they are.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on as they are.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are passed on as they are.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Passive orders, cancels and crossing orders around a middle that wanders, so that levels and
/// nodes of the ladder come and go. `width` is how far from the middle orders rest. Returns how many
/// orders were placed or cancelled, and how many fills there were.
fn trade(book: &mut LimitOrderBook, orders: usize, operations: usize, width: u64) -> (u64, u64) {
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut middle, mut next_id, mut done, mut fills) = (1_000_000_i64, 1_u64, 0, 0);
    for _ in 0..operations {
        middle += random(3) as i64 - 1;
        let side = if random(2) == 0 { Side::Buy } else { Side::Sell };
        let towards = if side == Side::Buy { -1 } else { 1 };
        let away = 1 + random(width) as i64;
        if book.orders().len() >= orders {
            // Some of these are gone already, which is as good a case.
            let id = OrderId(next_id - 1 - random(orders as u64 * 2).min(next_id - 2));
            done += u64::from(book.cancel(id).is_some());
        } else {
            let price = if random(10) == 0 { -towards * (5 + away / 8) } else { towards * away };
            let id = OrderId(next_id);
            (next_id, done) = (next_id + 1, done + 1);
            let quantity = Quantity(1 + random(50) as i64);
            let (price, owner) = (Price(middle + price), MemberId(1));
            book.place(LimitOrder { id, side, price, quantity, owner }, &mut |_| fills += 1)
                .expect("the book has room");
        }
    }
    (done, fills)
}

#[test]
fn a_book_with_capacity_never_allocates_in_use() {
    // Narrow: every order finds its level. Wide: nearly every order opens one.
    for (width, levels) in [(128, 100), (1_000_000, 3_000)] {
        let start = ALLOCATIONS.get();
        let mut book = LimitOrderBook::with_capacity(4_000);
        let before = ALLOCATIONS.get();
        assert!(before > start, "the counter counts");
        let (done, fills) = trade(&mut book, 4_000, 500_000, width);
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(allocations, 0, "allocations with orders up to {width} from the middle");
        assert!(
            done > 100_000 && fills > 10_000,
            "{done} and {fills} are too few to mean anything"
        );
        let occupied = [Side::Buy, Side::Sell].map(|side| book.book().level_count(side));
        assert!(occupied[0] + occupied[1] > levels, "{occupied:?} levels are too few");
        assert_eq!(book.book().check(book.orders()), Ok(()));
    }
}
