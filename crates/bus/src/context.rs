//! The context of a request.

use std::any::Any;
use std::time::Instant;

/// A position in a trace, as the W3C's trace context has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// The id of the trace; zero is none.
    pub trace_id: u128,
    /// The id of the calling span; zero is none.
    pub span_id: u64,
    /// Bit 0 tells that the trace is recorded.
    pub flags: u8,
}

impl TraceContext {
    /// Reads a `traceparent` header: `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`, all in
    /// lower case, neither id zero. Fields of later versions after these are ignored.
    ///
    /// Source: W3C Recommendation "Trace Context", section 3.2.
    #[must_use]
    pub fn parse(text: &str) -> Option<TraceContext> {
        let mut parts = text.split('-');
        let version = hex(parts.next()?, 2)?;
        let trace_id = hex(parts.next()?, 32)?;
        let span_id = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = u8::try_from(hex(parts.next()?, 2)?).ok()?;
        let has_more = parts.next().is_some();
        if version == 0xff || (version == 0 && has_more) || trace_id == 0 || span_id == 0 {
            return None;
        }
        Some(TraceContext { trace_id, span_id, flags })
    }

    /// The `traceparent` header of this position.
    #[must_use]
    pub fn to_traceparent(&self) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != digits || !text.bytes().all(is_lower) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

/// Records the steps of one request.
pub trait Trail: Send + Sync {
    /// The request has come to this step.
    fn step(&self, name: &'static str);

    /// A note on the last step.
    fn note(&self, name: &'static str, value: &dyn std::fmt::Debug);

    /// The number of the record, so that records of nested requests can refer to it; zero is none.
    fn id(&self) -> u64 {
        0
    }
}

/// The context of a request: principal, trace, deadline.
///
/// It is passed by reference; a behaviour that changes it passes on a copy.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// The trace that the request belongs to.
    pub trace: TraceContext,
    /// The request's own id; zero is none.
    pub request_id: u64,
    /// The deadline: the caller waits for the answer until then.
    pub deadline: Option<Instant>,
    /// The key under which a repetition of the request is known, if the caller gave one.
    pub idempotency_key: Option<&'a str>,
    /// Why the caller makes the request, if it said so.
    pub reason: Option<&'a str>,
    principal: Option<&'a (dyn Any + Send + Sync)>,
    trail: Option<&'a dyn Trail>,
}

impl<'a> Context<'a> {
    /// An empty context.
    #[must_use]
    pub fn new() -> Context<'a> {
        Context::default()
    }

    /// The same context, for a request that this principal makes.
    #[must_use]
    pub fn with_principal<P: Any + Send + Sync>(self, principal: &'a P) -> Context<'a> {
        Context { principal: Some(principal), ..self }
    }

    /// As [`Context::with_principal`], for a type-erased principal.
    #[cfg(feature = "tower")]
    pub(crate) fn with_any_principal(self, principal: &'a (dyn Any + Send + Sync)) -> Context<'a> {
        Context { principal: Some(principal), ..self }
    }

    /// The same context, with a trail.
    #[must_use]
    pub fn with_trail(self, trail: &'a dyn Trail) -> Context<'a> {
        Context { trail: Some(trail), ..self }
    }

    /// The principal, if it is known and of this type.
    #[must_use]
    pub fn principal<P: Any>(&self) -> Option<&'a P> {
        self.principal?.downcast_ref()
    }

    /// The number under which the trail keeps its notes; zero without a trail.
    #[must_use]
    pub fn trail_id(&self) -> u64 {
        self.trail.map_or(0, Trail::id)
    }

    /// Notes on the trail that the request has come to this step.
    #[inline]
    pub fn step(&self, name: &'static str) {
        if let Some(trail) = self.trail {
            trail.step(name);
        }
    }

    /// Notes something on the trail.
    #[inline]
    pub fn note(&self, name: &'static str, value: &dyn std::fmt::Debug) {
        if let Some(trail) = self.trail {
            trail.note(name, value);
        }
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("trace", &self.trace)
            .field("request_id", &self.request_id)
            .field("deadline", &self.deadline)
            .field("idempotency_key", &self.idempotency_key)
            .field("has_principal", &self.principal.is_some())
            .field("has_trail", &self.trail.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_reads_back() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::parse(text).expect("it is a well-formed header");
        assert_eq!(trace.to_traceparent(), text);
    }

    #[test]
    fn a_later_version_may_have_more_fields_but_version_0_may_not() {
        let fields = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert!(TraceContext::parse(&format!("01-{fields}-more")).is_some());
        assert!(TraceContext::parse(&format!("00-{fields}-more")).is_none());
    }

    #[test]
    fn a_malformed_traceparent_is_refused() {
        for text in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceContext::parse(text), None, "{text:?}");
        }
    }
}
