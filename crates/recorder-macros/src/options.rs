//! The arguments of `#[capture(…)]`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Attribute, Error, Ident, LitStr, Result};

/// The form in which a field is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// As its type says.
    #[default]
    Own,
    Display,
    Debug,
    Secret,
    Skip,
}

/// The options of a type, variant or field.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) form: Form,
    pub(crate) rename: Option<LitStr>,
    /// The position of an option, for errors that it has no meaning there.
    first: Option<Span>,
}

impl Options {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Options> {
        let mut options = Options::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("capture"))
        {
            attribute.parse_nested_meta(|meta| {
                options.first.get_or_insert_with(|| {
                    meta.path.get_ident().map_or_else(Span::call_site, Ident::span)
                });
                if meta.path.is_ident("rename") {
                    if options.rename.is_some() {
                        return Err(meta.error("it is renamed twice"));
                    }
                    options.rename = Some(meta.value()?.parse()?);
                    return Ok(());
                }
                let form =
                    match meta.path.get_ident().map(|name| name.unraw().to_string()).as_deref() {
                        Some("secret") => Form::Secret,
                        Some("skip") => Form::Skip,
                        Some("display") => Form::Display,
                        Some("debug") => Form::Debug,
                        _ => {
                            let known = "secret, skip, display, debug or rename = \"…\"";
                            return Err(meta.error(format!("this is none of {known}")));
                        }
                    };
                if options.form != Form::Own {
                    return Err(meta.error("only one of secret, skip, display and debug can hold"));
                }
                options.form = form;
                Ok(())
            })?;
        }
        if options.form == Form::Skip
            && let Some(rename) = &options.rename
        {
            return Err(Error::new(rename.span(), "what is skipped needs no name"));
        }
        Ok(options)
    }

    /// Refuses options that have no meaning here.
    pub(crate) fn only(self, forms: &[Form], renamed: bool, wrong: &str) -> Result<Options> {
        let fits = forms.contains(&self.form) && (renamed || self.rename.is_none());
        match self.first {
            Some(span) if !fits => Err(Error::new(span, wrong)),
            _ => Ok(self),
        }
    }
}
