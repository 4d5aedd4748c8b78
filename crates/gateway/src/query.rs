//! The query of a request: each parameter is taken by name, and what nobody took is refused.

use crate::ApiError;
use axum::http::StatusCode;
use rialto_model::{AccountId, Seq, Side};
use std::borrow::Cow;
use std::str::FromStr;

/// More parameters than any route has.
const PARAMETERS_MAX: usize = 16;

/// Parameters that have not been taken yet.
pub(crate) struct Query<'a> {
    left: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    pub(crate) fn of(uri: &'a axum::http::Uri) -> Result<Query<'a>, ApiError> {
        let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let mut left = Vec::new();
        for pair in pairs {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let malformed =
                || ApiError::invalid("query", "The query is not well-formed percent-encoding.");
            let name = unescape(name).ok_or_else(malformed)?;
            let value = unescape(value).ok_or_else(malformed)?;
            let repeated = left.iter().any(|(known, _): &(Cow<'_, str>, _)| *known == name);
            if repeated || left.len() == PARAMETERS_MAX {
                let message = "A parameter is given twice, or there are too many.";
                return Err(ApiError::invalid("query", message));
            }
            left.push((name, value));
        }
        Ok(Query { left })
    }

    /// A parameter as text.
    pub(crate) fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let at = self.left.iter().position(|(known, _)| known == name)?;
        Some(self.left.swap_remove(at).1)
    }

    /// A parameter of a type that is read from text; `what` says what that is.
    pub(crate) fn parse<T: FromStr>(
        &mut self,
        name: &'static str,
        what: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let value = text.parse().map_err(|_| {
            ApiError::invalid(name, format!("The parameter {name} must be {what}."))
        })?;
        Ok(Some(value))
    }

    pub(crate) fn account(&mut self) -> Result<Option<AccountId>, ApiError> {
        self.parse("account", "the number of an account")
    }

    pub(crate) fn min_seq(&mut self) -> Result<Option<Seq>, ApiError> {
        self.parse("min_seq", "a sequence")
    }

    pub(crate) fn side(&mut self) -> Result<Option<Side>, ApiError> {
        match self.text("side").as_deref() {
            None => Ok(None),
            Some("buy") => Ok(Some(Side::Buy)),
            Some("sell") => Ok(Some(Side::Sell)),
            Some(_) => Err(ApiError::invalid("side", "The parameter side is buy or sell.")),
        }
    }

    /// A number from 1 to `max`.
    pub(crate) fn count(
        &mut self,
        name: &'static str,
        default: usize,
        max: usize,
    ) -> Result<usize, ApiError> {
        let message = || format!("The parameter {name} must be a whole number from 1 to {max}.");
        match self.text(name).map(|text| text.parse::<usize>()) {
            None => Ok(default.min(max)),
            Some(Ok(count)) if (1..=max).contains(&count) => Ok(count),
            Some(_) => Err(ApiError::invalid(name, message())),
        }
    }

    /// Refuses parameters that nobody took.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        let Some((name, _)) = self.left.into_iter().next() else { return Ok(()) };
        let message = format!("There is no parameter {name} here.");
        let error = ApiError::new(StatusCode::BAD_REQUEST, "unknown_parameter", message);
        Err(error.of(name.into_owned()))
    }
}

/// Reads percent-encoding; a plus is a plus.
pub(crate) fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(uri: &'static str) -> Option<String> {
        let uri = axum::http::Uri::from_static(uri);
        let read = || {
            let mut query = Query::of(&uri)?;
            query.count("limit", 5, 10)?;
            query.side()?;
            query.finish()
        };
        read().err().and_then(|error| error.field).map(|field| field.into_owned())
    }

    #[test]
    fn the_parameter_at_fault_is_named() {
        assert_eq!(fault("/a"), None);
        assert_eq!(fault("/a?"), None);
        assert_eq!(fault("/a?limit=10&side=buy"), None);
        assert_eq!(fault("/a?limit=0").as_deref(), Some("limit"));
        assert_eq!(fault("/a?limit=11").as_deref(), Some("limit"));
        assert_eq!(fault("/a?limit=x").as_deref(), Some("limit"));
        assert_eq!(fault("/a?side=bid").as_deref(), Some("side"));
        assert_eq!(fault("/a?sides=buy").as_deref(), Some("sides"));
        assert_eq!(fault("/a?limit=1&limit=2").as_deref(), Some("query"));
        assert_eq!(fault("/a?limit=%zz").as_deref(), Some("query"));
    }

    #[test]
    fn percent_encoding_is_read() {
        assert_eq!(unescape("a%2Fb+c").as_deref(), Some("a/b+c"));
        assert_eq!(unescape("%"), None);
        assert_eq!(unescape("%ff"), None);
    }
}
