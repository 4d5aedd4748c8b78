//! The rights of a request's sender.

use crate::Forbidden;
use rialto_model::{AccountId, KeyId, MemberId};
use std::sync::LazyLock;

pub use rialto_model::Scope;

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Whether this scope is in the set.
    #[must_use]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }

    /// The set with one more scope.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Scopes {
        Scopes(self.0 | 1 << scope as u8)
    }

    /// The empty set.
    pub const NONE: Scopes = Scopes(0);

    /// The scopes in the set.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.has(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Scopes {
        scopes.into_iter().fold(Scopes::NONE, Scopes::with)
    }
}

/// The scopes and accounts of a sender: the principal of a request on the desk's bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    scopes: Scopes,
    accounts: Box<[AccountId]>,
    by: KeyId,
    member: Option<MemberId>,
}

impl Grant {
    /// A grant of these scopes for these accounts.
    #[must_use]
    pub fn new(scopes: Scopes, accounts: impl Into<Box<[AccountId]>>) -> Grant {
        Grant { scopes, accounts: accounts.into(), by: KeyId::EMPTY, member: None }
    }

    /// The same grant of this sender. An operator's commands are journaled with it.
    #[must_use]
    pub fn held_by(self, by: KeyId) -> Grant {
        Grant { by, ..self }
    }

    /// The same grant of a sender that belongs to this member. Orders count for the member's rate.
    #[must_use]
    pub fn of_member(self, member: MemberId) -> Grant {
        Grant { member: Some(member), ..self }
    }

    /// The member to which the sender belongs.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        self.member
    }

    /// The sender, or empty: the venue itself.
    #[must_use]
    pub fn by(&self) -> KeyId {
        self.by
    }

    /// The grant of an unauthenticated sender, who may read public data.
    #[must_use]
    pub fn nobody() -> &'static Grant {
        static NOBODY: LazyLock<Grant> = LazyLock::new(|| Grant::new(Scopes::NONE, []));
        &NOBODY
    }

    /// The scopes of the grant.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        self.scopes
    }

    /// The accounts of the grant.
    #[must_use]
    pub fn accounts(&self) -> &[AccountId] {
        &self.accounts
    }

    /// Returns an error if the scope is missing.
    ///
    /// # Errors
    /// The scope is missing.
    pub fn require(&self, scope: Scope) -> Result<(), Forbidden> {
        if self.scopes.has(scope) { Ok(()) } else { Err(Forbidden::Scope(scope)) }
    }

    /// Returns an error if the grant does not allow this for this account. An operator may read
    /// every account.
    ///
    /// # Errors
    /// The scope is missing, or the grant does not include the account.
    pub fn permit(&self, scope: Scope, account: AccountId) -> Result<(), Forbidden> {
        if scope == Scope::Read && self.scopes.has(Scope::Admin) {
            return Ok(());
        }
        self.require(scope)?;
        if self.accounts.contains(&account) { Ok(()) } else { Err(Forbidden::Account) }
    }
}
