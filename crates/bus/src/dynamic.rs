//! The dynamic way: handlers found by the type of the request.

use crate::{
    Announces, AnnouncesNow, Context, Dispatch, Error, ErrorKind, Event, EventHandler,
    EventHandlerNow, Failures, Handler, HandlerNow, Pipeline, PipelineNow, PublishError, Request,
    Result, Serves, ServesNow,
};
use futures_util::future::BoxFuture;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;

/// A bus that finds handlers by the type of the request. It is built once and does not change.
///
/// [`Dispatch`] sends requests to it. The compiler cannot know which requests a `Bus` handles: one
/// without a handler is an error with the code `no_handler`.
pub struct Bus {
    routes: HashMap<TypeId, Box<dyn Any + Send + Sync>, BuildHasherDefault<TypeIdHasher>>,
    listeners: HashMap<TypeId, Box<dyn Any + Send + Sync>, BuildHasherDefault<TypeIdHasher>>,
}

type CallSite = &'static Location<'static>;
type Route<R> = Box<dyn Serve<R>>;
type Listeners<E> = Vec<(&'static str, Box<dyn Listen<E>>)>;

/// An answer, or the wait for it.
enum Reply<'a, T> {
    Now(Result<T>),
    Later(BoxFuture<'a, Result<T>>),
}

/// A type-erased handler with its behaviours.
trait Serve<R: Request>: Send + Sync {
    fn serve<'a>(&'a self, request: R, cx: &'a Context<'a>) -> Reply<'a, R::Response>;
}

struct Later<P, H>(P, H);
struct Now<P, H>(P, H);

impl<R: Request, P: Pipeline<R>, H: Handler<R>> Serve<R> for Later<P, H> {
    fn serve<'a>(&'a self, request: R, cx: &'a Context<'a>) -> Reply<'a, R::Response> {
        Reply::Later(Box::pin(self.0.run(request, cx, &self.1)))
    }
}

impl<R: Request, P: PipelineNow<R>, H: HandlerNow<R>> Serve<R> for Now<P, H> {
    fn serve<'a>(&'a self, request: R, cx: &'a Context<'a>) -> Reply<'a, R::Response> {
        Reply::Now(self.0.run_now(request, cx, &self.1))
    }
}

trait Listen<E: Event>: Send + Sync {
    fn listen<'a>(&'a self, event: &'a E, cx: &'a Context<'a>) -> Reply<'a, ()>;
}

impl<E: Event, H: EventHandler<E>> Listen<E> for Later<(), H> {
    fn listen<'a>(&'a self, event: &'a E, cx: &'a Context<'a>) -> Reply<'a, ()> {
        Reply::Later(Box::pin(self.1.on(event, cx)))
    }
}

impl<E: Event, H: EventHandlerNow<E>> Listen<E> for Now<(), H> {
    fn listen<'a>(&'a self, event: &'a E, cx: &'a Context<'a>) -> Reply<'a, ()> {
        Reply::Now(self.1.on_now(event, cx))
    }
}

/// A `TypeId` is a hash already.
#[derive(Default)]
struct TypeIdHasher(u64);

impl Hasher for TypeIdHasher {
    fn write(&mut self, bytes: &[u8]) {
        // `TypeId` writes one `u64`; this is a fallback.
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = self.0.rotate_left(5) ^ u64::from_le_bytes(word);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Bus {
    /// A bus to be built.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn route<R: Request>(&self) -> Result<&dyn Serve<R>> {
        let route = self.routes.get(&TypeId::of::<R>());
        match route.and_then(|route| route.downcast_ref::<Route<R>>()) {
            Some(route) => Ok(&**route),
            None => Err(no_handler::<R>()),
        }
    }

    fn listeners<E: Event>(&self) -> &[(&'static str, Box<dyn Listen<E>>)] {
        let listeners = self.listeners.get(&TypeId::of::<E>());
        listeners.and_then(|list| list.downcast_ref::<Listeners<E>>()).map_or(&[], |list| list)
    }
}

impl<R: Request> Serves<R> for Bus {
    /// # Errors
    /// If it has no handler (`no_handler`), or a behaviour or the handler refuses or fails.
    async fn serve(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        match self.route::<R>()?.serve(request, cx) {
            Reply::Now(answer) => answer,
            Reply::Later(answer) => answer.await,
        }
    }
}

impl<R: Request> ServesNow<R> for Bus {
    /// # Errors
    /// If it has no handler (`no_handler`), its handler has to be awaited (`handler_waits`; nothing
    /// was done), or a behaviour or the handler refuses or fails.
    fn serve_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        match self.route::<R>()?.serve(request, cx) {
            Reply::Now(answer) => answer,
            // The future was not polled, so that nothing has been done.
            Reply::Later(_) => Err(must_wait(R::NAME)),
        }
    }
}

impl<E: Event> Announces<E> for Bus {
    /// Handlers are called in the order in which they were registered. An event without handlers is
    /// not an error.
    async fn announce(&self, event: &E, cx: &Context<'_>) -> std::result::Result<(), PublishError> {
        let mut failures = Failures::default();
        for (name, listener) in self.listeners::<E>() {
            let result = match listener.listen(event, cx) {
                Reply::Now(result) => result,
                Reply::Later(result) => result.await,
            };
            failures.note(name, result);
        }
        failures.into_result()
    }
}

impl<E: Event> AnnouncesNow<E> for Bus {
    /// As [`Announces::announce`]; a handler that has to be awaited is not called and counts as
    /// failed (`handler_waits`).
    fn announce_now(&self, event: &E, cx: &Context<'_>) -> std::result::Result<(), PublishError> {
        let mut failures = Failures::default();
        for (name, listener) in self.listeners::<E>() {
            let result = match listener.listen(event, cx) {
                Reply::Now(result) => result,
                Reply::Later(_) => Err(must_wait(E::NAME)),
            };
            failures.note(name, result);
        }
        failures.into_result()
    }
}

impl Dispatch for Bus {}

#[cold]
fn no_handler<R: Request>() -> Error {
    let message = format!("Nobody on this bus handles {}.", R::NAME);
    Error::new(ErrorKind::Internal, "no_handler", message)
}

#[cold]
fn must_wait(name: &str) -> Error {
    let message = format!("The handler of {name} has to be awaited; it was not called.");
    Error::new(ErrorKind::Internal, "handler_waits", message)
}

/// Puts a [`Bus`] together. [`Builder::build`] reports all faults at once.
#[derive(Default)]
pub struct Builder {
    routes: HashMap<TypeId, (Box<dyn Any + Send + Sync>, CallSite)>,
    listeners: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    needed: Vec<(TypeId, String)>,
    wrong: Vec<String>,
    #[cfg(feature = "macros")]
    pub(crate) parts: crate::discovery::Parts,
}

impl Builder {
    /// Registers the handler of a request, behind these behaviours (see
    /// [`behaviours!`](crate::behaviours)).
    #[must_use]
    #[track_caller]
    pub fn handle<R, P, H>(self, pipeline: P, handler: H) -> Builder
    where
        R: Request,
        P: Pipeline<R> + 'static,
        H: Handler<R> + 'static,
    {
        let mut builder = self;
        builder.route(pipeline, handler, Location::caller());
        builder
    }

    /// Registers a handler that answers at once, behind these behaviours.
    #[must_use]
    #[track_caller]
    pub fn handle_now<R, P, H>(self, pipeline: P, handler: H) -> Builder
    where
        R: Request,
        P: PipelineNow<R> + 'static,
        H: HandlerNow<R> + 'static,
    {
        let mut builder = self;
        builder.route_now(pipeline, handler, Location::caller());
        builder
    }

    pub(crate) fn route<R, P, H>(&mut self, pipeline: P, handler: H, place: CallSite)
    where
        R: Request,
        P: Pipeline<R> + 'static,
        H: Handler<R> + 'static,
    {
        self.add::<R>(Box::new(Later(pipeline, handler)), place);
    }

    pub(crate) fn route_now<R, P, H>(&mut self, pipeline: P, handler: H, place: CallSite)
    where
        R: Request,
        P: PipelineNow<R> + 'static,
        H: HandlerNow<R> + 'static,
    {
        self.add::<R>(Box::new(Now(pipeline, handler)), place);
    }

    fn add<R: Request>(&mut self, route: Route<R>, place: CallSite) {
        if let Some((_, before)) = self.routes.get(&TypeId::of::<R>()) {
            let name = R::NAME;
            let wrong =
                format!("{name} has two handlers: one registered at {before}, another at {place}");
            self.complain(wrong);
            return;
        }
        self.routes.insert(TypeId::of::<R>(), (Box::new(route), place));
    }

    pub(crate) fn complain(&mut self, wrong: String) {
        self.wrong.push(wrong);
    }

    /// Registers a handler for every event of this type. Errors have the `name`.
    #[must_use]
    pub fn on<E: Event, H: EventHandler<E> + 'static>(
        self,
        name: &'static str,
        handler: H,
    ) -> Builder {
        let mut builder = self;
        builder.listen(name, handler);
        builder
    }

    /// Registers a handler that answers at once for every event of this type. Errors have the
    /// `name`.
    #[must_use]
    pub fn on_now<E: Event, H: EventHandlerNow<E> + 'static>(
        self,
        name: &'static str,
        handler: H,
    ) -> Builder {
        let mut builder = self;
        builder.listen_now(name, handler);
        builder
    }

    pub(crate) fn listen<E: Event, H: EventHandler<E> + 'static>(
        &mut self,
        name: &'static str,
        handler: H,
    ) {
        self.add_listener::<E>(name, Box::new(Later((), handler)));
    }

    pub(crate) fn listen_now<E: Event, H: EventHandlerNow<E> + 'static>(
        &mut self,
        name: &'static str,
        handler: H,
    ) {
        self.add_listener::<E>(name, Box::new(Now((), handler)));
    }

    fn add_listener<E: Event>(&mut self, name: &'static str, listener: Box<dyn Listen<E>>) {
        let list = self
            .listeners
            .entry(TypeId::of::<E>())
            .or_insert_with(|| Box::new(Listeners::<E>::new()));
        list.downcast_mut::<Listeners<E>>()
            .expect("the list of an event's listeners is made with the event's type, just above")
            .push((name, listener));
    }

    /// Requires a handler for this request, so that a bus without one is not built.
    #[must_use]
    #[track_caller]
    pub fn needs<R: Request>(mut self) -> Builder {
        let (name, place) = (R::NAME, Location::caller());
        let gap = format!("{name}, which {place} needs, has no handler");
        self.demand(TypeId::of::<R>(), gap);
        self
    }

    /// Reports `wrong` unless this request has a handler in the end.
    pub(crate) fn demand(&mut self, request: TypeId, gap: String) {
        self.needed.push((request, gap));
    }

    /// Drops the requirement: the missing handler has been reported already.
    #[cfg(feature = "macros")]
    pub(crate) fn excuse(&mut self, request: TypeId) {
        self.needed.retain(|(needed, _)| *needed != request);
    }

    /// The bus.
    ///
    /// # Errors
    /// A request has two handlers, or one that is needed has none. The error names the places.
    pub fn build(self) -> std::result::Result<Bus, BuildError> {
        let mut wrong = self.wrong;
        for (request, gap) in self.needed {
            if !self.routes.contains_key(&request) {
                wrong.push(gap);
            }
        }
        #[cfg(feature = "macros")]
        wrong.extend(self.parts.left_over());
        if !wrong.is_empty() {
            return Err(BuildError { wrong });
        }
        let routes = self.routes.into_iter().map(|(id, (route, _))| (id, route)).collect();
        Ok(Bus { routes, listeners: self.listeners.into_iter().collect() })
    }
}

/// The faults of a bus that could not be built.
#[derive(Debug, thiserror::Error)]
#[error("the bus cannot be built: {}", wrong.join("; "))]
pub struct BuildError {
    wrong: Vec<String>,
}

impl BuildError {
    /// A sentence for each fault.
    #[must_use]
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }
}
