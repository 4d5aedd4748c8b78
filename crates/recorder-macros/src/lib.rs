//! The derive of `rialto-recorder`, which re-exports it: use it from there.
//!
//! What it writes names the crate as `::rialto_recorder`, so that a crate that uses it depends on it.

mod capture;
mod options;

use proc_macro::TokenStream;

/// Writes the fields of a struct or an enum into a record, by name and without reflection.
///
/// Every field is captured as its type says (`Capture::capture_as`), unless `#[capture(…)]` on it
/// says otherwise:
///
/// - `secret`: its name is written and not its value, which is not read.
/// - `skip`: it is left out.
/// - `rename = "…"`: it has another name.
/// - `display`, `debug`: its text form is written, for types without `Capture`.
///
/// On the type itself, `#[capture(secret)]` hides it wherever it is a field of something else.
///
/// A struct with one unnamed field is captured as that field. Of an enum, the variant is written,
/// by its name in snake case or as `rename` on it says, and then its fields.
#[proc_macro_derive(Capture, attributes(capture))]
pub fn derive_capture(item: TokenStream) -> TokenStream {
    let written = capture::derive(item.into());
    written.unwrap_or_else(|error| error.to_compile_error()).into()
}
