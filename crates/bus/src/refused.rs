//! Programs that must not compile. Each follows a nearly equal program that compiles, so that it
//! fails for no other reason.

/// A request has one handler.
///
/// ```
/// # use rialto_bus::{Command, Context, HandlerNow, Query, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # #[derive(Command)] #[request(response = ())] struct Pong;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # impl HandlerNow<Pong> for Desk { fn handle_now(&self, _: Pong, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct Two { all through [] { one: Desk => now Ping; other: Desk => now Pong; } } }
/// ```
///
/// ```compile_fail,E0119
/// # use rialto_bus::{Command, Context, HandlerNow, Query, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # #[derive(Command)] #[request(response = ())] struct Pong;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # impl HandlerNow<Pong> for Desk { fn handle_now(&self, _: Pong, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct Two { all through [] { one: Desk => now Ping; other: Desk => now Ping; } } }
/// ```
mod two_handlers {}

/// A request that is sent has a handler.
///
/// ```
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # #[derive(Command)] #[request(response = ())] struct Pong;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct One { all through [] { desk: Desk => now Ping; } } }
/// let _ = One { all: (), desk: Desk }.send_now(Ping, &Context::new());
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # #[derive(Command)] #[request(response = ())] struct Pong;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct One { all through [] { desk: Desk => now Ping; } } }
/// let _ = One { all: (), desk: Desk }.send_now(Pong, &Context::new());
/// ```
mod no_handler {}

/// The named handler of a request handles it.
///
/// ```
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # struct Chair;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct One { all through [] { it: Desk => now Ping; } } }
/// let _ = One { all: (), it: Desk }.send_now(Ping, &Context::new());
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # struct Chair;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// bus! { struct One { all through [] { it: Chair => now Ping; } } }
/// let _ = One { all: (), it: Chair }.send_now(Ping, &Context::new());
/// ```
mod not_a_handler {}

/// A handler answers with the response of its request.
///
/// ```
/// # use rialto_bus::{Context, HandlerNow, Query, Result};
/// # #[derive(Query)] #[request(response = u64)] struct Ask;
/// # struct Desk;
/// impl HandlerNow<Ask> for Desk {
///     fn handle_now(&self, _: Ask, _: &Context<'_>) -> Result<u64> { Ok(7) }
/// }
/// ```
///
/// ```compile_fail,E0053
/// # use rialto_bus::{Context, HandlerNow, Query, Result};
/// # #[derive(Query)] #[request(response = u64)] struct Ask;
/// # struct Desk;
/// impl HandlerNow<Ask> for Desk {
///     fn handle_now(&self, _: Ask, _: &Context<'_>) -> Result<u8> { Ok(7) }
/// }
/// ```
mod another_response {}

/// A function answers with the response of its request.
///
/// ```
/// # use rialto_bus::{Query, Result, handler};
/// # #[derive(Query)] #[request(response = u64)] struct Ask;
/// #[handler]
/// fn ask(_: Ask) -> Result<u64> { Ok(7) }
/// ```
///
/// ```compile_fail,E0308
/// # use rialto_bus::{Query, Result, handler};
/// # #[derive(Query)] #[request(response = u64)] struct Ask;
/// #[handler]
/// fn ask(_: Ask) -> Result<u8> { Ok(7) }
/// ```
mod another_response_of_a_function {}

/// A function handles a request, or an event by reference.
///
/// ```
/// # use rialto_bus::{Command, Result, handler};
/// #[derive(Command)]
/// struct Ping;
/// #[handler]
/// fn ping(_: Ping) -> Result<()> { Ok(()) }
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Result, handler};
/// struct Ping;
/// #[handler]
/// fn ping(_: Ping) -> Result<()> { Ok(()) }
/// ```
mod not_a_request {}

/// A command is not sent as a query, whose answer might come from a cache.
///
/// ```
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # bus! { struct One { all through [] { desk: Desk => now Ping; } } }
/// let _ = One { all: (), desk: Desk }.send_now(Ping, &Context::new());
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Context, Dispatch, HandlerNow, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # impl HandlerNow<Ping> for Desk { fn handle_now(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # bus! { struct One { all through [] { desk: Desk => now Ping; } } }
/// let _ = One { all: (), desk: Desk }.query_now(Ping, &Context::new());
/// ```
mod a_command_as_a_query {}

/// A handler that may wait is not called to answer at once.
///
/// ```
/// # use rialto_bus::{Command, Context, Dispatch, Handler, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # impl Handler<Ping> for Desk { async fn handle(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # bus! { struct One { all through [] { desk: Desk => later Ping; } } }
/// let _ = One { all: (), desk: Desk }.send(Ping, &Context::new());
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_bus::{Command, Context, Dispatch, Handler, Result, bus};
/// # #[derive(Command)] #[request(response = ())] struct Ping;
/// # struct Desk;
/// # impl Handler<Ping> for Desk { async fn handle(&self, _: Ping, _: &Context<'_>) -> Result<()> { Ok(()) } }
/// # bus! { struct One { all through [] { desk: Desk => later Ping; } } }
/// let _ = One { all: (), desk: Desk }.send_now(Ping, &Context::new());
/// ```
mod at_once_from_one_that_waits {}
