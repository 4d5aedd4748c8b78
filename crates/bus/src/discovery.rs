//! Discovery of the handlers in a program.

use crate::{
    Builder, Event, EventHandler, EventHandlerNow, Handler, HandlerNow, Isolated, Pipeline,
    PipelineNow, Request,
};
use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

pub use crate::{__declare as declare, __found as found};
pub use inventory;

type CallSite = &'static Location<'static>;

impl Builder {
    /// Registers every handler of the program that is marked with
    /// [`#[handler]`](macro@crate::handler), and demands a handler for every request of the program
    /// that was derived ([`Command`](macro@crate::Command), [`Query`](macro@crate::Query)), unless
    /// the request has type parameters.
    ///
    /// - A type that handles several requests or events is made once, with `Default`, or was given
    ///   with [`Builder::give`].
    /// - **Behaviours are stated at the handler**: `#[handler(through = behaviours![…])]`. They are
    ///   typed by the request, and discovery does not know its type; so a pipeline for all handlers
    ///   cannot be stated here. Write a generic function that returns your usual pipeline and name
    ///   it at each handler; what its copies share, such as a limit, is an [`Arc`] in a static.
    /// - Handlers of events are called in the order of their files and lines, after all
    ///   handlers that were registered before, each inside [`Isolated`].
    /// - The linker may drop a library that is not referenced, with its handlers. Reference it, for
    ///   example by `use it as _;`.
    ///
    /// [`Builder::build`] reports what is wrong: two handlers of one request with the place of
    /// each, a request without one with the place of its derive and of this call.
    #[must_use]
    #[track_caller]
    pub fn discover(self) -> Builder {
        self.discover_where(|_| true)
    }

    /// As [`Builder::discover`], of one module and those inside it only: `"shop::orders"`, or
    /// [`module_path!`].
    #[must_use]
    #[track_caller]
    pub fn discover_in(self, module: &str) -> Builder {
        self.discover_where(|path| {
            path.strip_prefix(module)
                .is_some_and(|inside| inside.is_empty() || inside.starts_with("::"))
        })
    }

    /// Gives a handler of a type whose handlers are discovered, instead of one made with `Default`.
    /// Give before discovering. A handler that no discovery takes is an error of
    /// [`Builder::build`].
    #[must_use]
    #[track_caller]
    pub fn give<H: Send + Sync + 'static>(mut self, handler: H) -> Builder {
        let part = Part {
            handler: Box::new(Arc::new(handler)),
            left_over: Some((type_name::<H>(), Location::caller())),
        };
        self.parts.made.insert(TypeId::of::<H>(), part);
        self
    }

    #[track_caller]
    fn discover_where(mut self, is_inside: impl Fn(&str) -> bool) -> Builder {
        let here = Location::caller();
        for request in inventory::iter::<Declared>().filter(|request| is_inside(request.module)) {
            let Declared { name, place, .. } = request;
            let gap = format!("{name}, derived at {place}, has no handler that {here} discovers");
            self.demand((request.id)(), gap);
        }
        let mut found: Vec<&Found> =
            inventory::iter::<Found>().filter(|found| is_inside(found.module)).collect();
        found.sort_by_key(|found| (found.place.file(), found.place.line(), found.place.column()));
        let mut finder = Finder { builder: self, place: here };
        for found in found {
            finder.place = found.place;
            // Discovering twice, or a module and one inside it, finds nothing new.
            if !finder.builder.parts.found.contains(&found.place) {
                finder.builder.parts.found.push(found.place);
                (found.register)(&mut finder);
            }
        }
        finder.builder
    }
}

/// The state of discovery until the bus is built.
#[derive(Default)]
pub(crate) struct Parts {
    made: HashMap<TypeId, Part>,
    found: Vec<CallSite>,
}

impl Parts {
    /// A sentence for each handler that was given and not taken.
    pub(crate) fn left_over(&self) -> impl Iterator<Item = String> {
        self.made.values().filter_map(|part| part.left_over).map(|(name, place)| {
            format!("{name}, given at {place}, is the type of no handler that was discovered since")
        })
    }
}

/// A handler that any number of discovered impls are on.
struct Part {
    /// An `Arc` of it.
    handler: Box<dyn Any + Send + Sync>,
    /// Its type and the place where it was given, until it is taken.
    left_over: Option<(&'static str, CallSite)>,
}

/// A request that was derived.
pub struct Declared {
    id: fn() -> TypeId,
    name: &'static str,
    module: &'static str,
    place: CallSite,
}

impl Declared {
    /// Notes a request and the place that calls this.
    #[track_caller]
    pub const fn new<R: Request>(module: &'static str) -> Declared {
        Declared { id: TypeId::of::<R>, name: R::NAME, module, place: Location::caller() }
    }
}

/// A handler that was marked.
pub struct Found {
    register: fn(&mut Finder),
    module: &'static str,
    place: CallSite,
}

impl Found {
    /// Notes a handler and the place that calls this.
    #[track_caller]
    pub const fn new(module: &'static str, register: fn(&mut Finder)) -> Found {
        Found { register, module, place: Location::caller() }
    }
}

inventory::collect!(Declared);
inventory::collect!(Found);

/// Registers one handler after the other.
pub struct Finder {
    builder: Builder,
    place: CallSite,
}

impl Finder {
    /// The handler of this type, which is made unless it is there.
    pub fn made<H: Default + Send + Sync + 'static>(&mut self) -> Option<Arc<H>> {
        self.builder
            .parts
            .made
            .entry(TypeId::of::<H>())
            .or_insert_with(|| Part { handler: Box::new(Arc::new(H::default())), left_over: None });
        self.take()
    }

    /// The handler of this type, which must have been given.
    pub fn given<H: Send + Sync + 'static>(&mut self) -> Option<Arc<H>> {
        let handler = self.take();
        if handler.is_none() {
            let (name, place) = (type_name::<H>(), self.place);
            self.builder.complain(format!("{name}, which handles at {place}, was not given"));
        }
        handler
    }

    fn take<H: Send + Sync + 'static>(&mut self) -> Option<Arc<H>> {
        let part = self.builder.parts.made.get_mut(&TypeId::of::<H>())?;
        part.left_over = None;
        part.handler.downcast_ref().cloned()
    }

    /// Registers a handler behind these behaviours.
    pub fn handle<R: Request, H: Handler<R> + 'static>(
        &mut self,
        handler: Option<Arc<H>>,
        pipeline: impl Pipeline<R> + 'static,
    ) {
        match handler {
            Some(handler) => self.builder.route(pipeline, handler, self.place),
            None => self.builder.excuse(TypeId::of::<R>()),
        }
    }

    /// Registers a handler behind these behaviours.
    pub fn handle_now<R: Request, H: HandlerNow<R> + 'static>(
        &mut self,
        handler: Option<Arc<H>>,
        pipeline: impl PipelineNow<R> + 'static,
    ) {
        match handler {
            Some(handler) => self.builder.route_now(pipeline, handler, self.place),
            None => self.builder.excuse(TypeId::of::<R>()),
        }
    }

    /// Sends events to a handler.
    pub fn on<E: Event, H: EventHandler<E> + 'static>(
        &mut self,
        handler: Option<Arc<H>>,
        name: &'static str,
    ) {
        if let Some(handler) = handler {
            self.builder.listen(name, Isolated(handler));
        }
    }

    /// Sends events to a handler.
    pub fn on_now<E: Event, H: EventHandlerNow<E> + 'static>(
        &mut self,
        handler: Option<Arc<H>>,
        name: &'static str,
    ) {
        if let Some(handler) = handler {
            self.builder.listen_now(name, Isolated(handler));
        }
    }
}

/// The expansion of the derives of requests.
#[doc(hidden)]
#[macro_export]
macro_rules! __declare {
    ($request:ty) => {
        const _: () = {
            use $crate::__discovery::{Declared, inventory};
            inventory::submit! { Declared::new::<$request>(::core::module_path!()) }
        };
    };
}

/// The expansion of `#[handler]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __found {
    ($register:ident $message:ty, $source:ident $handler:ty, $argument:expr) => {
        const _: () = {
            use $crate::__discovery::{Found, inventory};
            inventory::submit! {
                Found::new(::core::module_path!(), |finder| {
                    let handler = finder.$source::<$handler>();
                    finder.$register::<$message, _>(handler, $argument);
                })
            }
        };
    };
}
