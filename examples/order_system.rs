//! Orders, payments and stock without a venue: `cargo run -p rialto-examples --bin order_system`.
//!
//! The services handle commands on a bus. Placing an order is a flow over them: when a step fails,
//! the steps before it are undone. A successful order sends a message to the carrier, stored with
//! its last step. The message arrives more than once and takes effect once.

use rialto_bus::behaviour::IsolatePanics;
use rialto_bus::{
    Command, Context, Dispatch, Error, ErrorKind, HandlerNow, Result, behaviours, bus,
};
use rialto_flow::outbox::{ForwardError, Forwarder, Inbox, Options, Outbox, OutboxStore};
use rialto_flow::store::{Accepted, MemoryStore, OutboxMessage};
use rialto_flow::{Flow, FlowContext, FlowError, FlowId, Flows, RetryPolicy, StepError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// --- The commands of the services.

#[derive(Command)]
#[request(response = ())]
struct Reserve {
    item: String,
    count: u32,
}

#[derive(Command)]
#[request(response = ())]
struct PutBack {
    item: String,
    count: u32,
}

/// The key identifies a repetition: after a crash the flow does not know whether the charge was
/// made.
#[derive(Command)]
#[request(response = ())]
struct Charge {
    customer: String,
    cents: u64,
    key: String,
}

// --- The services.

struct Stock(Mutex<BTreeMap<String, u32>>);

impl HandlerNow<Reserve> for Stock {
    fn handle_now(&self, Reserve { item, count }: Reserve, _: &Context<'_>) -> Result<()> {
        let mut stock = lock(&self.0);
        let left = stock.entry(item.clone()).or_default();
        let Some(rest) = left.checked_sub(count) else {
            let message = format!("{count} of {item} were requested and {left} are in stock");
            return Err(Error::new(ErrorKind::Conflict, "out_of_stock", message));
        };
        *left = rest;
        println!("  stock: {count} of {item} reserved");
        Ok(())
    }
}

impl HandlerNow<PutBack> for Stock {
    fn handle_now(&self, PutBack { item, count }: PutBack, _: &Context<'_>) -> Result<()> {
        println!("  stock: {count} of {item} put back");
        *lock(&self.0).entry(item).or_default() += count;
        Ok(())
    }
}

struct Bank {
    cents: Mutex<BTreeMap<String, u64>>,
    charged: Mutex<Vec<String>>,
    is_busy: AtomicBool,
}

impl HandlerNow<Charge> for Bank {
    fn handle_now(&self, Charge { customer, cents, key }: Charge, _: &Context<'_>) -> Result<()> {
        if self.is_busy.swap(false, Ordering::Relaxed) {
            println!("  bank: busy");
            return Err(Error::new(ErrorKind::Busy, "bank_busy", "the bank is busy"));
        }
        let mut charged = lock(&self.charged);
        if charged.contains(&key) {
            return Ok(());
        }
        let mut accounts = lock(&self.cents);
        let has = accounts.entry(customer.clone()).or_default();
        let Some(rest) = has.checked_sub(cents) else {
            let message = format!("{customer} has {has} cents and needs {cents}");
            return Err(Error::new(ErrorKind::Conflict, "not_enough", message));
        };
        *has = rest;
        charged.push(key);
        println!("  bank: {customer} charged {cents} cents");
        Ok(())
    }
}

bus! {
    /// The bus of the services.
    struct Services {
        all through [IsolatePanics] {
            stock: Stock => now Reserve, now PutBack;
            bank: Bank => now Charge;
        }
    }
}

impl Services {
    /// Sends a command from a step. The error says whether a retry may succeed.
    fn tell<C>(&self, command: C) -> std::result::Result<(), StepError>
    where
        C: Command<Response = ()>,
        Self: rialto_bus::ServesNow<C>,
    {
        self.send_now(command, &Context::new()).map_err(|error| match error.is_retryable() {
            true => StepError::retryable(error),
            false => StepError::permanent(error),
        })
    }
}

// --- The flow.

#[derive(Clone, Serialize, Deserialize)]
struct Order {
    customer: String,
    item: String,
    count: u32,
    cents: u64,
}

struct PlaceOrder(Arc<Services>);

impl Flow for PlaceOrder {
    const NAME: &'static str = "place_order";
    type Input = Order;
    type Output = ();

    async fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        order: &'a Order,
    ) -> std::result::Result<(), FlowError> {
        let Order { customer, item, count, cents } = order;
        cx.step("reserve", async || self.0.tell(Reserve { item: item.clone(), count: *count }))
            .compensate(async |()| self.0.tell(PutBack { item: item.clone(), count: *count }))
            .await?;
        cx.keyed_step("charge", async |key| {
            let (customer, key) = (customer.clone(), key.to_string());
            self.0.tell(Charge { customer, cents: *cents, key })
        })
        .retry(RetryPolicy::exponential(3).first(Duration::from_millis(1)))
        .await?;
        let parcel = format!("{count} of {item} for {customer}");
        let to_carrier = OutboxMessage::new("carrier", parcel).with_ordering_key(customer);
        cx.step("confirm", async || Ok(())).send(|()| vec![to_carrier]).await
    }
}

// --- The carrier, behind an unreliable connection.

struct ToCarrier {
    inbox: Inbox,
    loses_answer: AtomicBool,
}

impl Forwarder for ToCarrier {
    async fn forward(&self, message: &OutboxMessage) -> std::result::Result<(), ForwardError> {
        let parcel = String::from_utf8_lossy(&message.payload);
        // The carrier's effect is stored together with the mark of the message.
        let then = vec![OutboxMessage::new("van", message.payload.clone())];
        match self.inbox.accept("shop", &message.key, then)? {
            Accepted::New => println!("  carrier: takes {parcel}"),
            Accepted::Duplicate => println!("  carrier: has {parcel} already"),
        }
        match self.loses_answer.swap(false, Ordering::Relaxed) {
            true => Err(ForwardError::failed("the connection was lost before the answer")),
            false => Ok(()),
        }
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let services = Arc::new(Services {
        all: behaviours![IsolatePanics],
        stock: Stock(Mutex::new(BTreeMap::from([("books".to_owned(), 10)]))),
        bank: Bank {
            cents: Mutex::new(BTreeMap::from([("ada".to_owned(), 10_000)])),
            charged: Mutex::default(),
            is_busy: AtomicBool::new(true),
        },
    });
    // A `LogStore` instead of this one would survive the process.
    let (shop, carrier) = (Arc::new(MemoryStore::default()), Arc::new(MemoryStore::default()));
    let flows = Flows::builder(shop.clone()).register(PlaceOrder(services.clone())).open()?;

    let of = |customer: &str, count| {
        let (customer, item) = (customer.to_owned(), "books".to_owned());
        Order { customer, item, count, cents: u64::from(count) * 1_500 }
    };
    // The last order repeats the first: it is known, and has no effect.
    let orders =
        [("1", of("ada", 2)), ("2", of("bob", 1)), ("3", of("ada", 100)), ("1", of("ada", 2))];
    for (number, order) in orders {
        println!("order {number}: {} wants {} {}", order.customer, order.count, order.item);
        let id = FlowId::new(&format!("order-{number}"))?;
        match flows.start::<PlaceOrder>(id, order)?.wait() {
            Ok(()) => println!("order {number}: confirmed"),
            Err(error) => println!("order {number}: {error}"),
        }
    }

    println!("messages: {} to forward", shop.backlog()?.waiting);
    let forwarder =
        ToCarrier { inbox: Inbox::new(carrier.clone()), loses_answer: AtomicBool::new(true) };
    let at_once = RetryPolicy::exponential(5).first(Duration::ZERO).longest(Duration::ZERO);
    let options = Options { workers: 0, retry: at_once, ..Options::default() };
    Outbox::open(shop.clone(), forwarder, options)?.run_until_idle()?;

    println!(
        "in the end: {} books in stock, {} cents with ada, {} parcel in the van, {} to forward",
        lock(&services.stock.0)["books"],
        lock(&services.bank.cents)["ada"],
        carrier.backlog()?.waiting,
        shop.backlog()?.waiting,
    );
    Ok(())
}
