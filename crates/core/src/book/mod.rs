//! The order book: price-time priority over integers, without clock, I/O or steady-state allocation.
//!
//! [`Orders`] is one slab of resting orders with an index by order id; every book of a core shares
//! it. [`Book`] is one instrument: two sides of price levels, each a queue of orders, which keeps
//! priority and totals and knows nothing of risk or fees. [`LimitOrderBook`] puts the two together
//! for programs that need a book and nothing else:
//!
//! ```
//! use rialto_core::book::{LimitOrder, LimitOrderBook};
//! use rialto_model::{MemberId, OrderId, Price, Quantity, Side};
//!
//! let mut book = LimitOrderBook::with_capacity(1_000);
//! let (alice, bob) = (MemberId(1), MemberId(2));
//! let quantity = Quantity(5);
//! let dear = LimitOrder { id: OrderId(1), side: Side::Sell, price: Price(101), quantity, owner: alice };
//! book.place(dear, &mut |_| {})?;
//! book.place(LimitOrder { id: OrderId(2), price: Price(100), ..dear }, &mut |_| {})?;
//! let (id, quantity) = (OrderId(3), Quantity(7));
//! let buy = LimitOrder { id, side: Side::Buy, quantity, owner: bob, ..dear };
//! let mut fills = Vec::new();
//! let rests = book.place(buy, &mut |fill| fills.push(fill))?;
//! assert_eq!(rests, Quantity(0));
//! assert_eq!(fills.iter().map(|fill| fill.price).collect::<Vec<_>>(), [Price(100), Price(101)]);
//! assert_eq!(book.cancel(OrderId(1)).map(|order| order.remaining), Some(Quantity(3)));
//! # Ok::<(), rialto_core::book::BookRefusal>(())
//! ```
//!
//! How it is built: a level is found through a small cache of recent prices (`hint`), else through
//! a B+tree of wide nodes (`ladder`); an order is found through an open-addressing table (`index`).
//! Best price and fill are O(1), and so is a cancel unless it empties a level, which then leaves the
//! tree. Levels of a busy market are few and found in one load; millions of them stay fast.

mod check;
mod hint;
mod index;
mod ladder;
mod level;
mod limit;
mod orders;
mod prefetch;
mod resting;
mod uncross;
mod walk;

pub use check::BookViolation;
pub use level::LevelView;
pub use limit::{Fill, LimitOrderBook};
pub use orders::{BookRefusal, Order, Orders, Slot};
pub(crate) use prefetch::prefetch;
pub use resting::{Book, Filled, LimitOrder};
pub use uncross::{CallLevel, UncrossTerms, Uncrossing, price_grid, uncross, uncross_call};
pub(crate) use uncross::{Part, Progress, UncrossSearch};
pub use walk::{LevelWalk, OrderWalk};
