//! What the sender of a request may do at the venue.

use crate::Forbidden;
use rialto_model::AccountId;
use std::sync::LazyLock;

pub use rialto_model::Scope;

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Whether this scope is among them.
    #[must_use]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & 1 << scope as u8 != 0
    }

    /// These scopes and one more.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Scopes {
        Scopes(self.0 | 1 << scope as u8)
    }

    /// No scopes.
    pub const NONE: Scopes = Scopes(0);

    /// The scopes in it.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.has(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Scopes {
        scopes.into_iter().fold(Scopes::NONE, Scopes::with)
    }
}

/// What a caller may do, and for which accounts: the principal of a request on the desk's bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    scopes: Scopes,
    accounts: Box<[AccountId]>,
}

impl Grant {
    /// These scopes for these accounts.
    #[must_use]
    pub fn new(scopes: Scopes, accounts: impl Into<Box<[AccountId]>>) -> Grant {
        Grant { scopes, accounts: accounts.into() }
    }

    /// An unauthenticated sender, who may ask for public data.
    #[must_use]
    pub fn nobody() -> &'static Grant {
        static NOBODY: LazyLock<Grant> = LazyLock::new(|| Grant::new(Scopes::NONE, []));
        &NOBODY
    }

    /// What it lets its holder do.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        self.scopes
    }

    /// The accounts that its holder may act for.
    #[must_use]
    pub fn accounts(&self) -> &[AccountId] {
        &self.accounts
    }

    /// Refuses a holder without this scope.
    ///
    /// # Errors
    /// The scope is missing.
    pub fn require(&self, scope: Scope) -> Result<(), Forbidden> {
        if self.scopes.has(scope) { Ok(()) } else { Err(Forbidden::Scope(scope)) }
    }

    /// Refuses a holder who may not do this for this account. Whoever runs the venue may read
    /// every account.
    ///
    /// # Errors
    /// The scope is missing, or the account is not the holder's.
    pub fn permit(&self, scope: Scope, account: AccountId) -> Result<(), Forbidden> {
        if scope == Scope::Read && self.scopes.has(Scope::Admin) {
            return Ok(());
        }
        self.require(scope)?;
        if self.accounts.contains(&account) { Ok(()) } else { Err(Forbidden::Account) }
    }
}
