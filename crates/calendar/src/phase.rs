//! The phases of a market.

use std::fmt;

/// What a market does between two transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Orders are accepted; nothing trades.
    PreOpen,
    /// The auction before the first continuous trading: orders collect, and an indicative price is
    /// published. The trades are made when the call ends.
    OpeningCall,
    /// Orders trade as they arrive.
    Continuous,
    /// An auction within the day.
    IntradayCall,
    /// The auction at the end of the day.
    ClosingCall,
    /// Between two sessions of one trading day. Nothing trades.
    Break,
    /// The trading day has ended, and the next one has not begun.
    Closed,
}

impl Phase {
    /// The phases that a file names. The others follow from where sessions end.
    pub(crate) const WRITTEN: [Phase; 5] = [
        Phase::PreOpen,
        Phase::OpeningCall,
        Phase::Continuous,
        Phase::IntradayCall,
        Phase::ClosingCall,
    ];

    /// The name, as in a file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::PreOpen => "pre_open",
            Phase::OpeningCall => "opening_call",
            Phase::Continuous => "continuous",
            Phase::IntradayCall => "intraday_call",
            Phase::ClosingCall => "closing_call",
            Phase::Break => "break",
            Phase::Closed => "closed",
        }
    }

    /// Whether orders collect in it for an auction at its end.
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, Phase::OpeningCall | Phase::IntradayCall | Phase::ClosingCall)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
