//! Derives of requests and events.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, LitStr, Type};

/// `impl Request` and the kind of request it is.
pub(crate) fn request(item: TokenStream, kind: &str) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Arguments { response, name } = Arguments::of(&item, "request")?;
    let response = response.map_or_else(|| quote!(()), |response| quote!(#response));
    let (params, args, bounds) = item.generics.split_for_impl();
    let kind = Ident::new(kind, item.ident.span());
    let of = &item.ident;
    // A type with parameters stands for any number of requests, which cannot be listed.
    let declared = item.generics.params.is_empty().then(|| {
        quote_spanned! { of.span() =>
            ::rialto_bus::__discovery::declare! { #of }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl #params ::rialto_bus::Request for #of #args #bounds {
            type Response = #response;
            const NAME: &'static str = #name;
        }
        #[automatically_derived]
        impl #params ::rialto_bus::#kind for #of #args #bounds {}
        #declared
    })
}

/// `impl Event`.
pub(crate) fn event(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Arguments { name, .. } = Arguments::of(&item, "event")?;
    let (params, args, bounds) = item.generics.split_for_impl();
    let of = &item.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #params ::rialto_bus::Event for #of #args #bounds {
            const NAME: &'static str = #name;
        }
    })
}

/// The arguments of the derive's attribute.
struct Arguments {
    response: Option<Type>,
    name: String,
}

impl Arguments {
    fn of(item: &DeriveInput, attribute: &str) -> syn::Result<Arguments> {
        let mut response = None;
        let mut name = None;
        for said in item.attrs.iter().filter(|said| said.path().is_ident(attribute)) {
            said.parse_nested_meta(|meta| {
                if attribute == "request" && meta.path.is_ident("response") {
                    response = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("name") {
                    name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else {
                    let known = if attribute == "request" { "response or name" } else { "name" };
                    return Err(meta.error(format!("expected {known}")));
                }
                Ok(())
            })?;
        }
        Ok(Arguments {
            response,
            name: name.unwrap_or_else(|| snake_case(&item.ident.to_string())),
        })
    }
}

/// `PlaceOrder` is `place_order`, `HTTPCall` is `http_call`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let begins_word = letter.is_uppercase()
            && at > 0
            && letters[at - 1] != '_'
            && (!letters[at - 1].is_uppercase()
                || letters.get(at + 1).is_some_and(|next| next.is_lowercase()));
        if begins_word {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_snake_case() {
        for (name, snake) in [
            ("Ping", "ping"),
            ("PlaceOrder", "place_order"),
            ("HTTPCall", "http_call"),
            ("Order66Placed", "order66_placed"),
            ("r#Type", "type"),
            ("Already_Split", "already_split"),
        ] {
            assert_eq!(snake_case(name), snake);
        }
    }

    #[test]
    fn unknown_arguments_of_the_attribute_are_refused() {
        let error = request(
            quote!(
                #[request(answer = u8)]
                struct Ask;
            ),
            "Query",
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "expected response or name");
        let error = event(quote!(
            #[event(response = u8)]
            struct Filled;
        ))
        .unwrap_err();
        assert_eq!(error.to_string(), "expected name");
    }
}
