//! The `handler` attribute: what it stands on is passed on as it is, with a note for discovery.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Expr, GenericArgument, Generics, Path, PathArguments, Token, Type, Visibility,
    parenthesized,
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let said: Arguments = syn::parse2(arguments)?;
    let found: Found = syn::parse2(item.clone())?;
    match found {
        Found::Impl(found) => found.expand(&said, &item),
        Found::Function(found) => found.expand(&said, &item),
    }
}

/// The arguments of the attribute.
#[derive(Default)]
struct Arguments {
    through: Option<Expr>,
    given: Option<Ident>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Arguments> {
        let mut said = Arguments::default();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            match word.to_string().as_str() {
                "through" => {
                    input.parse::<Token![=]>()?;
                    said.through = Some(input.parse()?);
                }
                "given" => said.given = Some(word),
                _ => return Err(syn::Error::new(word.span(), "expected through or given")),
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(said)
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "one is made for each attribute, and dropped at once"
)]
enum Found {
    Impl(FoundImpl),
    Function(FoundFunction),
}

/// `impl Handler<Request> for Type`, up to its body.
struct FoundImpl {
    trait_name: Ident,
    message: Type,
    handler: Type,
}

/// A function, up to its body.
struct FoundFunction {
    name: Ident,
    is_async: bool,
    message: Type,
    takes_event: bool,
    takes_context: bool,
}

impl Parse for Found {
    fn parse(input: ParseStream<'_>) -> syn::Result<Found> {
        input.call(Attribute::parse_outer)?;
        if input.peek(Token![impl]) {
            return FoundImpl::parse(input).map(Found::Impl);
        }
        input.parse::<Visibility>()?;
        FoundFunction::parse(input).map(Found::Function)
    }
}

impl FoundImpl {
    fn parse(input: ParseStream<'_>) -> syn::Result<FoundImpl> {
        let start = input.parse::<Token![impl]>()?;
        if input.peek(Token![<]) {
            let generics: Generics = input.parse()?;
            let why = "a handler to be discovered has no parameters: which one would be made?";
            return Err(syn::Error::new_spanned(generics, why));
        }
        let why = "expected an impl of Handler, HandlerNow, EventHandler or EventHandlerNow";
        let path: Path =
            input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), why))?;
        if !input.peek(Token![for]) {
            return Err(syn::Error::new(start.span, why));
        }
        input.parse::<Token![for]>()?;
        let handler = input.parse()?;
        let refused = syn::Error::new_spanned(&path, why);
        let Some(last) = path.segments.into_iter().next_back() else { return Err(refused) };
        let trait_name = last.ident;
        let is_known = ["Handler", "HandlerNow", "EventHandler", "EventHandlerNow"]
            .iter()
            .any(|known| trait_name == known);
        let PathArguments::AngleBracketed(arguments) = last.arguments else { return Err(refused) };
        let mut arguments = arguments.args.into_iter();
        let (Some(GenericArgument::Type(message)), None) = (arguments.next(), arguments.next())
        else {
            return Err(refused);
        };
        if !is_known {
            return Err(refused);
        }
        // The body follows, which is passed on unread.
        input.parse::<TokenStream>()?;
        Ok(FoundImpl { trait_name, message, handler })
    }

    fn expand(self, said: &Arguments, item: &TokenStream) -> syn::Result<TokenStream> {
        let FoundImpl { trait_name, message, handler } = self;
        let takes_event = trait_name.to_string().starts_with("Event");
        let is_now = trait_name.to_string().ends_with("Now");
        let note = note(said, &handler, &message, takes_event, is_now, &trait_name)?;
        Ok(quote!(#item #note))
    }
}

impl FoundFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<FoundFunction> {
        let is_async = input.parse::<Option<Token![async]>>()?.is_some();
        input.parse::<Token![fn]>().map_err(|error| {
            syn::Error::new(error.span(), "expected an impl of a handler, or a function")
        })?;
        let name: Ident = input.parse()?;
        if input.peek(Token![<]) {
            let generics: Generics = input.parse()?;
            let why = "a function that handles has no parameters of its own; \
                       write the lifetime of a context as `'_`";
            return Err(syn::Error::new_spanned(generics, why));
        }
        let inside;
        parenthesized!(inside in input);
        let message = parameter(&inside)?
            .ok_or_else(|| syn::Error::new(name.span(), "what does it handle? It takes nothing"))?;
        let takes_context = parameter(&inside)?.is_some();
        if let Some(third) = parameter(&inside)? {
            let why = "a handler takes a request or an event, and the context";
            return Err(syn::Error::new_spanned(third, why));
        }
        // The return type and the body follow, which are passed on unread.
        input.parse::<TokenStream>()?;
        let (message, takes_event) = match message {
            Type::Reference(reference) => (*reference.elem, true),
            message => (message, false),
        };
        Ok(FoundFunction { name, is_async, message, takes_event, takes_context })
    }

    fn expand(self, said: &Arguments, item: &TokenStream) -> syn::Result<TokenStream> {
        let FoundFunction { name, is_async, message, takes_event, takes_context } = self;
        if let Some(given) = &said.given {
            let why = "a function is there already; only what an impl is on can be given";
            return Err(syn::Error::new(given.span(), why));
        }
        let context = takes_context.then(|| quote!(cx));
        let call = quote_spanned!(name.span() => #name(message, #context));
        let dot_await = is_async.then(|| quote!(.await));
        let keyword = is_async.then(|| quote!(async));
        let (by, answer) = if takes_event {
            (quote!(&#message), quote!(()))
        } else {
            (quote!(#message), quote!(<#message as ::rialto_bus::Request>::Response))
        };
        let (trait_name, method) = match (takes_event, is_async) {
            (false, false) => ("HandlerNow", "handle_now"),
            (false, true) => ("Handler", "handle"),
            (true, false) => ("EventHandlerNow", "on_now"),
            (true, true) => ("EventHandler", "on"),
        };
        let (trait_name, method) = (format_ident!("{trait_name}"), format_ident!("{method}"));
        let note = note(said, &quote!(Function), &message, takes_event, !is_async, &name)?;
        Ok(quote! {
            #item
            const _: () = {
                #[derive(Default)]
                struct Function;
                impl ::rialto_bus::#trait_name<#message> for Function {
                    #keyword fn #method(
                        &self,
                        message: #by,
                        cx: &::rialto_bus::Context<'_>,
                    ) -> ::rialto_bus::Result<#answer> {
                        let _ = cx;
                        #call #dot_await
                    }
                }
                #note
            };
        })
    }
}

/// The type of the next parameter, if there is one. Its pattern is skipped.
fn parameter(input: ParseStream<'_>) -> syn::Result<Option<Type>> {
    if input.is_empty() {
        return Ok(None);
    }
    while !input.peek(Token![:]) || input.peek(Token![::]) {
        if input.peek(Token![::]) {
            input.parse::<Token![::]>()?;
        } else {
            input.parse::<TokenTree>()?;
        }
    }
    input.parse::<Token![:]>()?;
    let kind = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(Some(kind))
}

/// The registration by which `Builder::discover` finds the handler. Errors point at `place`.
fn note(
    said: &Arguments,
    handler: &impl ToTokens,
    message: &Type,
    takes_event: bool,
    is_now: bool,
    place: &Ident,
) -> syn::Result<TokenStream> {
    let source = if said.given.is_some() { quote!(given) } else { quote!(made) };
    let register = match (takes_event, is_now) {
        (false, false) => quote!(handle),
        (false, true) => quote!(handle_now),
        (true, false) => quote!(on),
        (true, true) => quote!(on_now),
    };
    let argument = match (&said.through, takes_event) {
        (Some(through), false) => quote!(#through),
        (None, false) => quote!(()),
        (Some(through), true) => {
            let why = "behaviours stand before requests; an event goes to its handlers directly";
            return Err(syn::Error::new_spanned(through, why));
        }
        (None, true) => {
            let name = handler.to_token_stream().to_string();
            let name = if name == "Function" { place.to_string() } else { name };
            quote!(#name)
        }
    };
    Ok(quote_spanned! { place.span() =>
        ::rialto_bus::__discovery::found! { #register #message, #source #handler, #argument }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: TokenStream, item: TokenStream) -> String {
        expand(arguments, item).unwrap_err().to_string()
    }

    #[test]
    fn an_invalid_handler_is_refused_with_the_reason() {
        let none = TokenStream::new;
        for (said, why) in [
            (
                refusal(
                    none(),
                    quote!(
                        struct X;
                    ),
                ),
                "an impl of a handler, or a function",
            ),
            (refusal(none(), quote!(impl X {})), "expected an impl of Handler"),
            (refusal(none(), quote!(impl Clone for X {})), "expected an impl of Handler"),
            (
                refusal(
                    none(),
                    quote!(
                        impl<T> Handler<R> for X<T> {}
                    ),
                ),
                "has no parameters",
            ),
            (
                refusal(
                    none(),
                    quote!(
                        fn f<T>(t: T) {}
                    ),
                ),
                "no parameters of its own",
            ),
            (
                refusal(
                    none(),
                    quote!(
                        fn f() {}
                    ),
                ),
                "It takes nothing",
            ),
            (
                refusal(
                    none(),
                    quote!(
                        fn f(a: A, b: B, c: C) {}
                    ),
                ),
                "and the context",
            ),
            (
                refusal(
                    quote!(given),
                    quote!(
                        fn f(a: A) {}
                    ),
                ),
                "is there already",
            ),
            (
                refusal(
                    quote!(through = x),
                    quote!(
                        fn f(a: &A) {}
                    ),
                ),
                "before requests",
            ),
            (
                refusal(
                    quote!(by = x),
                    quote!(
                        fn f(a: A) {}
                    ),
                ),
                "expected through or given",
            ),
        ] {
            assert!(said.contains(why), "{said:?} does not say {why:?}");
        }
    }

    #[test]
    fn a_pattern_with_a_path_is_no_type() {
        let found = expand(
            TokenStream::new(),
            quote!(
                fn f(a::Greet { name: n }: a::Greet) {}
            ),
        );
        let written = found.unwrap().to_string();
        assert!(written.contains("HandlerNow < a :: Greet >"), "{written}");
    }
}
