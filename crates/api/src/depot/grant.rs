//! What a key may do with the files of which tenants.

use crate::limits::TENANT_NAME_BYTES_MAX;
use rialto_model::enumeration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

enumeration! {
    /// A right to the files of a tenant.
    pub enum DepotRight {
        /// List, describe and read files.
        Read = 0, "read";
        /// Store and delete files.
        Write = 1, "write";
        /// Claim files, read them, and end claims.
        Work = 2, "work";
    }
}

/// Matches one tenant by its name or, with a `*` at the end, all tenants with a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantPattern(String);

/// Why a text is no [`TenantPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTenantPattern;

impl fmt::Display for InvalidTenantPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tenants are named by their name, or by how it begins and a *: at most \
             {TENANT_NAME_BYTES_MAX} of the characters a to z, 0 to 9, `_` and `-`"
        )
    }
}

impl std::error::Error for InvalidTenantPattern {}

impl JsonSchema for TenantPattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TenantPattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string", "pattern": format!("^[a-z0-9_-]{{0,{TENANT_NAME_BYTES_MAX}}}\\*?$"),
            "minLength": 1, "maxLength": TENANT_NAME_BYTES_MAX + 1
        })
    }
}

impl TenantPattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// No tenant could have such a name.
    pub fn new(text: &str) -> Result<TenantPattern, InvalidTenantPattern> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let fits =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        if name.len() <= TENANT_NAME_BYTES_MAX && name.bytes().all(fits) && !text.is_empty() {
            Ok(TenantPattern(text.to_owned()))
        } else {
            Err(InvalidTenantPattern)
        }
    }

    /// Whether the tenant matches.
    #[must_use]
    pub fn matches(&self, tenant: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => tenant.starts_with(beginning),
            None => tenant == self.0,
        }
    }
}

impl fmt::Display for TenantPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TenantPattern {
    type Error = InvalidTenantPattern;

    fn try_from(text: String) -> Result<TenantPattern, InvalidTenantPattern> {
        TenantPattern::new(&text)
    }
}

impl From<TenantPattern> for String {
    fn from(pattern: TenantPattern) -> String {
        pattern.0
    }
}

/// What a key may do with files of tenants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotGrant {
    /// The name of a tenant, or how it begins and a `*`.
    pub tenants: TenantPattern,
    /// `read`, `write` and `work`.
    pub rights: Vec<DepotRight>,
}

impl DepotGrant {
    /// Whether it gives this right to this tenant.
    #[must_use]
    pub fn allows(&self, right: DepotRight, tenant: &str) -> bool {
        self.rights.contains(&right) && self.tenants.matches(tenant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_tenant_or_all_that_begin_so() {
        let means = |pattern: &str, tenant| TenantPattern::new(pattern).unwrap().matches(tenant);
        assert!(means("acme", "acme") && !means("acme", "acme-eu") && !means("acme", "acm"));
        assert!(means("acme-*", "acme-eu") && !means("acme-*", "acme"));
        assert!(means("*", "anything"));
        for bad in ["", "a*b", "**", "a b", "A", "a.b", "é*", &"x".repeat(64)] {
            assert!(TenantPattern::new(bad).is_err(), "{bad:?}");
        }
    }
}
