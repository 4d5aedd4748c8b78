//! Values whose fields can be recorded.

pub use super::variables::Fields;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Writes the fields of a value that are worth seeing, by name and without reflection.
///
/// It is mostly derived:
///
/// ```
/// use rialto_recorder::Capture;
///
/// #[derive(Capture)]
/// struct Login {
///     user: String,
///     /// Only its name is written; the password itself never gets into a record.
///     #[capture(secret)]
///     password: String,
///     #[capture(rename = "from")]
///     address: Option<u32>,
///     #[capture(skip)]
///     scratch: Vec<u8>,
///     #[capture(display)]
///     peer: std::net::Ipv4Addr,
/// }
/// ```
///
/// Secrets are not read, so that they need not implement `Capture`. Every other field must:
///
/// ```
/// # use rialto_recorder::Capture;
/// struct Opaque;
/// #[derive(Capture)]
/// struct Sealed(#[capture(secret)] Opaque);
/// ```
///
/// ```compile_fail,E0277
/// # use rialto_recorder::Capture;
/// struct Opaque;
/// #[derive(Capture)]
/// struct Open(Opaque);
/// ```
///
/// Unknown options of `#[capture(…)]`, or options in the wrong place, are refused:
///
/// ```compile_fail
/// # use rialto_recorder::Capture;
/// #[derive(Capture)]
/// struct Sealed(#[capture(secrte)] u32);
/// ```
///
/// ```compile_fail
/// # use rialto_recorder::Capture;
/// #[derive(Capture)]
/// struct Sealed(#[capture(secret, debug)] u32);
/// ```
///
/// ```compile_fail
/// # use rialto_recorder::Capture;
/// #[derive(Capture)]
/// enum Side { #[capture(secret)] Buy }
/// ```
///
/// ```compile_fail
/// # use rialto_recorder::Capture;
/// #[derive(Capture)]
/// union Both { a: u32, b: f32 }
/// ```
pub trait Capture {
    /// Writes the fields.
    fn capture(&self, fields: &mut Fields<'_>);

    /// Writes it as a part of something, under this name: its fields as a group, unless it says
    /// otherwise.
    #[inline]
    fn capture_as(&self, name: &'static str, fields: &mut Fields<'_>) {
        fields.group(name, |fields| self.capture(fields));
    }
}

/// Captures by [`Capture::capture_as`]; alone, as a field named `value`.
macro_rules! alone {
    () => {
        #[inline]
        fn capture(&self, fields: &mut Fields<'_>) {
            self.capture_as("value", fields);
        }
    };
}

macro_rules! plain {
    ($($type:ty: |$value:ident, $name:ident, $fields:ident| $write:expr;)*) => { $(
        impl Capture for $type {
            alone!();

            #[inline]
            fn capture_as(&self, $name: &'static str, $fields: &mut Fields<'_>) {
                let $value = self;
                $write
            }
        }
    )* };
}

plain! {
    bool: |value, name, fields| fields.bool(name, *value);
    u8: |value, name, fields| fields.unsigned(name, u64::from(*value));
    u16: |value, name, fields| fields.unsigned(name, u64::from(*value));
    u32: |value, name, fields| fields.unsigned(name, u64::from(*value));
    u64: |value, name, fields| fields.unsigned(name, *value);
    usize: |value, name, fields| fields.unsigned(name, *value as u64);
    u128: |value, name, fields| match u64::try_from(*value) {
        Ok(value) => fields.unsigned(name, value),
        Err(_) => fields.display(name, value),
    };
    i8: |value, name, fields| fields.signed(name, i64::from(*value));
    i16: |value, name, fields| fields.signed(name, i64::from(*value));
    i32: |value, name, fields| fields.signed(name, i64::from(*value));
    i64: |value, name, fields| fields.signed(name, *value);
    isize: |value, name, fields| fields.signed(name, *value as i64);
    i128: |value, name, fields| match i64::try_from(*value) {
        Ok(value) => fields.signed(name, value),
        Err(_) => fields.display(name, value),
    };
    f32: |value, name, fields| fields.float(name, f64::from(*value));
    f64: |value, name, fields| fields.float(name, *value);
    char: |value, name, fields| fields.display(name, value);
    str: |value, name, fields| fields.text(name, value);
    String: |value, name, fields| fields.text(name, value);
    Duration: |value, name, fields| fields.debug(name, value);
}

/// Captures as its target.
macro_rules! leads_on {
    ($([$($parameters:tt)*] $type:ty;)*) => { $(
        impl<$($parameters)*> Capture for $type {
            #[inline]
            fn capture(&self, fields: &mut Fields<'_>) {
                (**self).capture(fields);
            }

            #[inline]
            fn capture_as(&self, name: &'static str, fields: &mut Fields<'_>) {
                (**self).capture_as(name, fields);
            }
        }
    )* };
}

leads_on! {
    [T: Capture + ?Sized] &T;
    [T: Capture + ?Sized] Box<T>;
    [T: Capture + ?Sized] Arc<T>;
    [T: Capture + ToOwned + ?Sized] Cow<'_, T>;
}

/// `None` is left out.
impl<T: Capture> Capture for Option<T> {
    fn capture(&self, fields: &mut Fields<'_>) {
        if let Some(value) = self {
            value.capture(fields);
        }
    }

    fn capture_as(&self, name: &'static str, fields: &mut Fields<'_>) {
        if let Some(value) = self {
            value.capture_as(name, fields);
        }
    }
}

/// It has no fields.
impl Capture for () {
    fn capture(&self, _: &mut Fields<'_>) {}

    fn capture_as(&self, _: &'static str, _: &mut Fields<'_>) {}
}
