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

/// The scopes of a key that is made without naming any, for a person who trades.
const USUAL_SCOPES: [Scope; 2] = [Scope::Read, Scope::Trade];

#[derive(Debug, Subcommand)]
pub(super) enum KeyAction {
    /// Make a key for a member. Its secret is shown once.
    Create {
        /// The member.
        member: u32,
        /// Its scopes; by default read and trade, and none with --depot-grant: a key for files does
        /// not trade.
        #[arg(long, value_delimiter = ',', value_parser = named::<Scope>())]
        scopes: Option<Vec<Scope>>,
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
                    scopes: asked(scopes.as_deref(), depot_grant),
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

/// The scopes of a new key. One with a grant of files has only the named ones.
fn asked(scopes: Option<&[Scope]>, depot_grant: &[DepotGrant]) -> Vec<Scope> {
    let usual = if depot_grant.is_empty() { &USUAL_SCOPES[..] } else { &[] };
    scopes.unwrap_or(usual).to_vec()
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

    /// The scopes that a command line asks for.
    fn scopes(arguments: &[&str]) -> Vec<Scope> {
        #[derive(clap::Parser)]
        struct Line {
            #[command(subcommand)]
            action: KeyAction,
        }
        let line = ["key", "create", "1"].iter().chain(arguments);
        let line = <Line as clap::Parser>::try_parse_from(line).unwrap();
        match &line.action {
            KeyAction::Create { scopes, depot_grant, .. } => asked(scopes.as_deref(), depot_grant),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_key_for_files_does_not_trade_unless_it_is_asked_for() {
        assert_eq!(scopes(&[]), [Scope::Read, Scope::Trade]);
        assert_eq!(scopes(&["--depot-grant", "acme:read"]), []);
        assert_eq!(scopes(&["--depot-grant", "acme:read", "--scopes", "read"]), [Scope::Read]);
    }

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
