//! The format versions that first knew something.

/// Withdrawals that are held.
pub(super) const WITH_WITHDRAWALS: u32 = 2;
/// The residues of fees, how named orders ended, and what deposits and withdrawals are remembered by
/// under rules version 2.
pub(super) const WITH_RESIDUES: u32 = 3;
/// Auctions.
pub(super) const WITH_AUCTIONS: u32 = 4;
/// The terms of contracts.
pub(super) const WITH_CONTRACT_TERMS: u32 = 5;
/// What follows a halt.
pub(super) const WITH_RESUMED_PHASES: u32 = 6;
/// Conditional orders.
pub(super) const WITH_TRIGGERS: u32 = 6;
/// Trailing stops.
pub(super) const WITH_TRAILING: u32 = 7;
/// Icebergs.
pub(super) const WITH_ICEBERGS: u32 = 8;
/// Linked orders.
pub(super) const WITH_LINKS: u32 = 9;
/// The places of conditional orders whose trigger price was amended, and orders of kind five levels that may rest.
pub(super) const WITH_AMENDED_TRIGGERS: u32 = 10;
