//! The derives and the attribute of `rialto-bus`, which re-exports them: use them from there.
//!
//! What they write names the bus as `::rialto_bus`, so that a crate that uses them depends on it.

mod handler;
mod message;

use proc_macro::TokenStream;

/// Makes a type a command: implements `Request` and `Command` for it.
///
/// `#[request(response = Type, name = "…")]`: the answer is `()` and the name is the type's in
/// snake case unless they are given. `Builder::discover` requires a handler for a type without
/// parameters.
#[proc_macro_derive(Command, attributes(request))]
pub fn derive_command(item: TokenStream) -> TokenStream {
    finish(message::request(item.into(), "Command"))
}

/// Makes a type a query: implements `Request` and `Query` for it. See `Command`.
#[proc_macro_derive(Query, attributes(request))]
pub fn derive_query(item: TokenStream) -> TokenStream {
    finish(message::request(item.into(), "Query"))
}

/// Makes a type an event. `#[event(name = "…")]` names it otherwise than the type in snake case.
#[proc_macro_derive(Event, attributes(event))]
pub fn derive_event(item: TokenStream) -> TokenStream {
    finish(message::event(item.into()))
}

/// Registers a handler for `Builder::discover`: an impl of `Handler`, `HandlerNow`, `EventHandler`
/// or `EventHandlerNow`, or a function.
///
/// A function, `async` or not, takes a request by value or an event by reference, then the context
/// if it wants it, and returns the bus's `Result`. It stays a function that can be called.
///
/// - `#[handler(through = EXPRESSION)]` states the behaviours that requests meet on the way to this
///   handler; the expression is evaluated when the bus is built. By default there are none.
/// - `#[handler(given)]` takes the handler from `Builder::give` only, for a type without `Default`.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::expand(arguments.into(), item.into()))
}

fn finish(written: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    written.unwrap_or_else(|error| error.to_compile_error()).into()
}
