//! Values that can tell a recorder about themselves.

pub use super::variables::Fields;

/// Writes the fields of a value that are worth seeing, by name and without reflection.
///
/// ```
/// use rialto_flow::recorder::{Capture, Fields};
///
/// struct Login {
///     user: String,
///     password: String,
/// }
///
/// impl Capture for Login {
///     fn capture(&self, fields: &mut Fields<'_>) {
///         fields.text("user", &self.user);
///         // Of a secret only its name is written.
///         fields.hidden("password");
///     }
/// }
/// # let login = Login { user: String::new(), password: String::new() };
/// # let _ = (login.user, login.password);
/// ```
pub trait Capture {
    /// Writes the fields.
    fn capture(&self, fields: &mut Fields<'_>);
}

impl<T: Capture + ?Sized> Capture for &T {
    #[inline]
    fn capture(&self, fields: &mut Fields<'_>) {
        (**self).capture(fields);
    }
}

impl Capture for () {
    fn capture(&self, _: &mut Fields<'_>) {}
}
