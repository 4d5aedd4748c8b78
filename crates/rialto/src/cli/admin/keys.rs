//! API keys: making, listing, rotating and revoking them.

use super::tell;
use crate::Error;
use crate::cli::connection::named;
use crate::cli::show::{self, Align, Column, joined, or_dash};
use crate::inspect::utc;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::terminal::say;
use clap::Subcommand;
use rialto_client::api::{
    DepotGrant, DepotRight, KeyAnswer, KeyCreateRequest, KeyRotateRequest, KeysAnswer, Route, Str,
    TenantPattern,
};
use rialto_model::{AccountId, MemberId, Scope, Timestamp};

#[derive(Debug, Subcommand)]
pub(super) enum KeyAction {
    /// Make a key for a member. Its secret is shown once.
    Create {
        /// The member.
        member: u32,
        /// Its scopes.
        #[arg(long, value_delimiter = ',', default_value = "read,trade",
            value_parser = named::<Scope>())]
        scopes: Vec<Scope>,
        /// The accounts that it may act for; by default all that the member has now.
        #[arg(long, value_delimiter = ',')]
        accounts: Option<Vec<u32>>,
        /// A right to files of the depot, such as acme:read,write or acme-*:work: a tenant, or how its
        /// name begins and a *, and the rights read, write and work. May be given several times.
        #[arg(long, value_name = "TENANT:RIGHTS", value_parser = depot_grant)]
        depot_grant: Vec<DepotGrant>,
        /// A label.
        #[arg(long)]
        label: Option<String>,
        /// Its expiry, such as 2027-01-31T00:00:00Z, or in nanoseconds since 1970; by default none.
        #[arg(long, value_name = "TIME", value_parser = utc::parse)]
        expires_at: Option<Timestamp>,
    },
    /// List all keys, without their secrets.
    #[command(name = "ls", alias = "list")]
    List,
    /// Give a key a new secret, which is shown once.
    Rotate {
        /// The key's id.
        id: String,
        /// The seconds for which the old secret still works.
        #[arg(long, default_value_t = 3_600)]
        overlap_s: u32,
    },
    /// Revoke a key. This cannot be undone.
    Revoke {
        /// The key's id.
        id: String,
    },
}

impl KeyAction {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            KeyAction::Create { member, scopes, accounts, depot_grant, label, expires_at } => {
                let accounts = accounts.as_ref();
                let request = KeyCreateRequest {
                    label: label.as_deref().map(Str::from),
                    member: MemberId(*member),
                    accounts: accounts.map(|all| all.iter().copied().map(AccountId).collect()),
                    scopes: scopes.clone(),
                    queues: Vec::new(),
                    depot: depot_grant.clone(),
                    expires_at: *expires_at,
                };
                venue.show(Route::AdminKeyCreate, &[], NO_QUERY, Some(&request), tell_secret)
            }
            KeyAction::List => venue.show(Route::AdminKeys, &[], NO_QUERY, NO_BODY, tell_keys),
            KeyAction::Rotate { id, overlap_s } => {
                let request = KeyRotateRequest { overlap_s: *overlap_s };
                venue.show(Route::AdminKeyRotate, &[id], NO_QUERY, Some(&request), tell_secret)
            }
            KeyAction::Revoke { id } => {
                venue.show(Route::AdminKeyRevoke, &[id], NO_QUERY, NO_BODY, tell)
            }
        }
    }
}

/// Reads a grant such as `acme:read,write`.
fn depot_grant(text: &str) -> Result<DepotGrant, String> {
    let (tenants, rights) = text.split_once(':').ok_or("a grant is TENANT:RIGHTS")?;
    let rights = rights.split(',').map(|word| {
        let known = DepotRight::ALL.iter().copied().find(|right| right.name() == word);
        known.ok_or_else(|| format!("{word:?} is not read, write or work"))
    });
    let tenants = TenantPattern::new(tenants).map_err(|error| error.to_string())?;
    Ok(DepotGrant { tenants, rights: rights.collect::<Result<_, _>>()? })
}

fn tell_keys(answer: &KeysAnswer) {
    let columns = [
        Column("KEY", Align::Left),
        Column("LABEL", Align::Left),
        Column("MEMBER", Align::Right),
        Column("ACCOUNTS", Align::Left),
        Column("SCOPES", Align::Left),
        Column("REVOKED", Align::Left),
    ];
    let rows = answer.keys.iter().map(|key| {
        [
            key.id.clone(),
            key.label.clone(),
            key.member.to_string(),
            joined(&key.accounts),
            joined(key.scopes.iter().map(|scope| scope.name())),
            or_dash(key.revoked_at.map(utc::show)),
        ]
    });
    show::table(&columns, rows.collect(), "no keys");
}

fn tell_secret(key: &KeyAnswer) {
    let secret = key.secret.as_deref().unwrap_or_default();
    say(format_args!("key = \"{}\"\nsecret = \"{secret}\"", key.id));
    crate::terminal::note(format_args!(
        "the secret is shown only once; the two lines make a key file (chmod 600)"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_names_tenants_and_rights() {
        let grant = depot_grant("acme-*:read,work").unwrap();
        assert!(
            grant.allows(DepotRight::Read, "acme-eu") && grant.allows(DepotRight::Work, "acme-eu")
        );
        assert!(!grant.allows(DepotRight::Write, "acme-eu"));
        for bad in ["acme", "acme:", "acme:own", "ACME:read", ":read"] {
            assert!(depot_grant(bad).is_err(), "{bad}");
        }
    }
}
