//! The behaviours that read no clock, and metrics, allocate nothing for a request.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use futures_util::FutureExt;
use rialto_bus::behaviour::{
    Authorisation, ConcurrencyLimit, Counters, IsolatePanics, Metrics, Outcome, Policy, Sink,
    Validate, Validation,
};
use rialto_bus::{
    Behaviours, Bus, Command, Context, Dispatch, Error, ErrorKind, Handler, HandlerNow, Pipeline,
    Ready, Request, Result, behaviours, bus,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged. Counting allocates nothing: the cell
// is a constant and needs no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is being torn down may still allocate; that is not counted.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(act: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    act();
    ALLOCATIONS.get() - before
}

struct Add(u64);

impl Request for Add {
    type Response = u64;
    const NAME: &'static str = "add";
}

impl Command for Add {}

impl Validate for Add {
    fn validate(&self) -> Result<()> {
        if self.0 < 1_000 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Invalid, "too_much", "Add less than 1000 at a time."))
    }
}

struct Member(u64);
struct OwnLimit;

impl Policy<Add> for OwnLimit {
    fn permit(&self, add: &Add, cx: &Context<'_>) -> Result<()> {
        match cx.principal::<Member>() {
            Some(member) if add.0 <= member.0 => Ok(()),
            _ => Err(Error::new(ErrorKind::Forbidden, "above_limit", "Ask for a higher limit.")),
        }
    }
}

struct Deaf;

impl Sink for Deaf {
    fn observe(&self, _: &'static str, _: Outcome, _: Duration) {}
}

struct Adder;

impl HandlerNow<Add> for Adder {
    fn handle_now(&self, add: Add, _: &Context<'_>) -> Result<u64> {
        Ok(add.0 + 1)
    }
}

type Six = Behaviours![
    IsolatePanics,
    Counters,
    Metrics<Deaf>,
    Authorisation<OwnLimit>,
    Validation,
    ConcurrencyLimit
];

fn six() -> Six {
    behaviours![
        IsolatePanics,
        Counters::default(),
        Metrics::new(Deaf),
        Authorisation(OwnLimit),
        Validation,
        ConcurrencyLimit::with_line(8, 8),
    ]
}

bus! { struct Sums { all through [
    IsolatePanics,
    Counters,
    Metrics<Deaf>,
    Authorisation<OwnLimit>,
    Validation,
    ConcurrencyLimit
] { adder: Adder => now Add; } } }

macro_rules! later {
    ($Bus:ident answers $when:ident) => {
        bus! { struct $Bus { all through [IsolatePanics, Counters, Metrics<Deaf>, Validation] {
            adder: Ready<Adder> => $when Add;
        } } }

        impl $Bus {
            fn new() -> $Bus {
                let all =
                    behaviours![IsolatePanics, Counters::default(), Metrics::new(Deaf), Validation];
                $Bus { all, adder: Ready(Adder) }
            }
        }
    };
}

later! { Later answers later }
later! { Boxed answers boxed }

/// The behaviours of [`Later`] as one named type.
struct Named(LaterPipeline);

type LaterPipeline = Behaviours![IsolatePanics, Counters, Metrics<Deaf>, Validation];

impl<R: Request> Pipeline<R> for Named
where
    LaterPipeline: Pipeline<R>,
{
    fn run<H: Handler<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        self.0.run(request, cx, handler)
    }
}

bus! { struct NamedLater { all through Named { adder: Ready<Adder> => later Add; } } }

fn at_once<T>(answering: impl Future<Output = T>) -> T {
    pin!(answering).now_or_never().unwrap()
}

#[test]
fn the_allocator_counts() {
    // The compiler would remove an unused box.
    assert_eq!(allocations_of(|| drop(std::hint::black_box(Box::new(7)))), 1);
}

#[test]
fn a_static_bus_allocates_nothing() {
    let sums = Sums { all: six(), adder: Adder };
    let member = Member(500);
    let cx = Context::new().with_principal(&member);
    let allocations = allocations_of(|| {
        for number in 0..100 {
            assert_eq!(sums.send_now(Add(number), &cx).unwrap(), number + 1);
        }
    });
    assert_eq!(allocations, 0);
    assert_eq!(sums.all.1.0.of::<Add>().succeeded(), 100);
}

#[test]
fn an_answer_later_allocates_nothing_either_unless_it_is_boxed() {
    let (later, boxed, cx) = (Later::new(), Boxed::new(), Context::new());
    let (unboxed_bytes, boxed_bytes) =
        (size_of_val(&later.send(Add(1), &cx)), size_of_val(&boxed.send(Add(1), &cx)));
    assert!(boxed_bytes * 2 < unboxed_bytes, "{boxed_bytes} of {unboxed_bytes} bytes");
    let unboxed = allocations_of(|| assert_eq!(at_once(later.send(Add(1), &cx)).unwrap(), 2));
    let in_a_box = allocations_of(|| assert_eq!(at_once(boxed.send(Add(1), &cx)).unwrap(), 2));
    assert_eq!((unboxed, in_a_box), (0, 1));
    assert_eq!(boxed.all.1.0.of::<Add>().succeeded(), 1);
}

#[test]
fn a_named_pipeline_costs_what_its_behaviours_cost() {
    let (later, cx) = (Later::new(), Context::new());
    let named = NamedLater { all: Named(Later::new().all), adder: Ready(Adder) };
    let (bytes, bytes_named) =
        (size_of_val(&later.send(Add(1), &cx)), size_of_val(&named.send(Add(1), &cx)));
    assert_eq!(bytes_named, bytes);
    let allocations = allocations_of(|| assert_eq!(at_once(named.send(Add(1), &cx)).unwrap(), 2));
    assert_eq!(allocations, 0);
    let Named((_, (counters, _))) = &named.all;
    assert_eq!(counters.of::<Add>().succeeded(), 1);
}

#[test]
fn a_dynamic_bus_allocates_nothing() {
    let bus = Bus::builder().handle_now::<Add, _, _>(six(), Adder).build().unwrap();
    let member = Member(500);
    let cx = Context::new().with_principal(&member);
    let allocations = allocations_of(|| {
        for number in 0..100 {
            assert_eq!(bus.send_now(Add(number), &cx).unwrap(), number + 1);
        }
    });
    assert_eq!(allocations, 0);
}

#[test]
fn a_refusal_allocates_its_error_and_nothing_else() {
    let sums = Sums { all: six(), adder: Adder };
    let member = Member(500);
    let cx = Context::new().with_principal(&member);
    let allocations = allocations_of(|| {
        let error = sums.send_now(Add(501), &cx).unwrap_err();
        assert_eq!(error.code(), "above_limit");
    });
    assert_eq!(allocations, 1);
}
