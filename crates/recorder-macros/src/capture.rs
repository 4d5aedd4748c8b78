//! `#[derive(Capture)]`.

use crate::options::{Form, Options};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DataEnum, DeriveInput, Error, Field, Fields, Generics, Ident, LitStr, Result, Type,
};

pub(crate) fn derive(item: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let wrong = "a type is named where it is a field, and can only be `secret` itself";
    let options = Options::read(&input.attrs)?.only(&[Form::Own, Form::Secret], false, wrong)?;
    let mut bounded = Vec::new();
    let written = match &input.data {
        Data::Struct(data) => of_struct(&data.fields, &mut bounded)?,
        Data::Enum(data) => of_enum(data, &mut bounded)?,
        Data::Union(data) => {
            let wrong = "nobody knows which field of a union holds";
            return Err(Error::new(data.union_token.span(), wrong));
        }
    };
    let Written { capture, mut capture_as } = written;
    if options.form == Form::Secret {
        capture_as = Some(quote! { fields.hidden(name); });
    }
    let capture_as = capture_as.map(|body| {
        quote! {
            fn capture_as(
                &self,
                name: &'static str,
                fields: &mut ::rialto_recorder::Fields<'_>,
            ) {
                #body
            }
        }
    });
    let name = &input.ident;
    let generics = with_bounds(&input.generics, &bounded);
    let (parameters, arguments, conditions) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::all)]
        impl #parameters ::rialto_recorder::Capture for #name #arguments #conditions {
            fn capture(&self, fields: &mut ::rialto_recorder::Fields<'_>) {
                #capture
            }
            #capture_as
        }
    })
}

/// The bodies of the methods.
struct Written {
    capture: TokenStream,
    /// Unless the parts stand under the name of the whole.
    capture_as: Option<TokenStream>,
}

/// One field of which something is written.
struct Part<'a> {
    form: Form,
    name: LitStr,
    field: &'a Field,
    /// A reference to it.
    access: TokenStream,
}

impl Part<'_> {
    /// Writes it under this name.
    fn write(&self, name: &dyn ToTokens) -> TokenStream {
        let Part { form, access, .. } = self;
        let span = self.field.ty.span();
        match form {
            Form::Own => quote_spanned! { span =>
                ::rialto_recorder::Capture::capture_as(#access, #name, fields);
            },
            Form::Display => quote_spanned! { span => fields.display(#name, #access); },
            Form::Debug => quote_spanned! { span => fields.debug(#name, #access); },
            Form::Secret => quote_spanned! { span => fields.hidden(#name); },
            Form::Skip => TokenStream::new(),
        }
    }
}

/// The parts of these fields, of which each is reached as `access` says by its place.
fn parts<'a>(
    fields: &'a Fields,
    access: impl Fn(usize, &Field) -> TokenStream,
    bounded: &mut Vec<(Type, TokenStream)>,
) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let Options { form, rename, .. } = Options::read(&field.attrs)?;
        let bound = match form {
            Form::Own => Some(quote! { ::rialto_recorder::Capture }),
            Form::Display => Some(quote! { ::core::fmt::Display }),
            Form::Debug => Some(quote! { ::core::fmt::Debug }),
            Form::Secret | Form::Skip => None,
        };
        bounded.extend(bound.map(|bound| (field.ty.clone(), bound)));
        let name = rename.unwrap_or_else(|| match &field.ident {
            Some(name) => LitStr::new(&name.unraw().to_string(), name.span()),
            None => LitStr::new(&at.to_string(), field.span()),
        });
        let access = access(at, field);
        parts.push(Part { form, name, field, access });
    }
    Ok(parts)
}

fn of_struct(fields: &Fields, bounded: &mut Vec<(Type, TokenStream)>) -> Result<Written> {
    let access = |at: usize, field: &Field| match &field.ident {
        Some(name) => quote! { &self.#name },
        None => {
            let at = syn::Index::from(at);
            quote! { &self.#at }
        }
    };
    let parts = parts(fields, access, bounded)?;
    let capture = parts.iter().map(|part| part.write(&part.name)).collect();
    let capture_as = match (fields, &parts[..]) {
        (Fields::Unnamed(_), [only]) => Some(only.write(&format_ident!("name"))),
        _ => None,
    };
    Ok(Written { capture, capture_as })
}

fn of_enum(data: &DataEnum, bounded: &mut Vec<(Type, TokenStream)>) -> Result<Written> {
    if data.variants.is_empty() {
        let capture = quote! { match *self {} };
        return Ok(Written { capture_as: Some(capture.clone()), capture });
    }
    let (mut capture, mut capture_as) = (TokenStream::new(), TokenStream::new());
    for variant in &data.variants {
        let wrong = "a variant can only be renamed";
        let options = Options::read(&variant.attrs)?.only(&[Form::Own], true, wrong)?;
        let name = &variant.ident;
        let told = options.rename.unwrap_or_else(|| LitStr::new(&snake_case(name), name.span()));
        let bound = |at: usize| format_ident!("part_{at}", span = Span::mixed_site());
        let parts = parts(
            &variant.fields,
            |at, _| {
                let bound = bound(at);
                quote! { #bound }
            },
            bounded,
        )?;
        let pattern = variant.fields.iter().zip(&parts).enumerate().map(|(at, (field, part))| {
            let member = match &field.ident {
                Some(name) => name.to_token_stream(),
                None => syn::Index::from(at).to_token_stream(),
            };
            let bound = bound(at);
            match part.form {
                // Fields that are not read are not bound.
                Form::Secret | Form::Skip => quote! { #member: _, },
                _ => quote! { #member: #bound, },
            }
        });
        let pattern = quote! { Self::#name { #(#pattern)* } };
        let write: TokenStream = parts.iter().map(|part| part.write(&part.name)).collect();
        capture.extend(quote! { #pattern => { fields.text("variant", #told); #write } });
        if parts.is_empty() {
            capture_as.extend(quote! { #pattern => fields.text(name, #told), });
        } else {
            capture_as.extend(quote! {
                Self::#name { .. } => fields.group(name, |fields| {
                    ::rialto_recorder::Capture::capture(self, fields);
                }),
            });
        }
    }
    let capture = quote! { match self { #capture } };
    let capture_as = Some(quote! { match self { #capture_as } });
    Ok(Written { capture, capture_as })
}

/// Adds bounds for the types that depend on a parameter. For other types the compiler reports an
/// error at the field.
fn with_bounds(generics: &Generics, bounded: &[(Type, TokenStream)]) -> Generics {
    let mut generics = generics.clone();
    let parameters: Vec<Ident> =
        generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    let dependent: Vec<_> = bounded
        .iter()
        .filter(|(of, _)| mentions(of.to_token_stream(), &parameters))
        .map(|(of, bound)| -> syn::WherePredicate {
            syn::parse_quote! { #of: #bound }
        })
        .collect();
    if !dependent.is_empty() {
        generics.make_where_clause().predicates.extend(dependent);
    }
    generics
}

fn mentions(tokens: TokenStream, parameters: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => parameters.contains(&name),
        TokenTree::Group(group) => mentions(group.stream(), parameters),
        _ => false,
    })
}

/// `BuyLimit` as `buy_limit`.
fn snake_case(name: &Ident) -> String {
    let mut text = String::new();
    let mut before_is_lower = false;
    for letter in name.unraw().to_string().chars() {
        if letter.is_uppercase() && before_is_lower {
            text.push('_');
        }
        before_is_lower = !letter.is_uppercase() && letter != '_';
        text.extend(letter.to_lowercase());
    }
    text
}
