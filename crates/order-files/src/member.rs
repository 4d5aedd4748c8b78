//! Which tenant of the depot is which member, and the directories of the exchange.

use rialto_depot::{Directory, TenantName};
use rialto_model::MemberId;

/// What the names of the tenants of members begin with; the id of the member follows.
const TENANT_PREFIX: &str = "member-";
/// The work directory: files of orders.
const ORDERS_IN: &str = "in/orders";
/// The shelf: answers.
const ORDERS_OUT: &str = "out/orders";

/// The tenant of a member: `member-` and its id.
///
/// ```
/// use rialto_model::MemberId;
/// use rialto_order_files::{member_of, tenant_of};
///
/// assert_eq!(tenant_of(MemberId(7)).as_str(), "member-7");
/// assert_eq!(member_of(&tenant_of(MemberId(7))), Some(MemberId(7)));
/// ```
#[must_use]
pub fn tenant_of(member: MemberId) -> TenantName {
    TenantName::new(&format!("{TENANT_PREFIX}{member}"))
        .expect("letters, a dash and at most ten digits are the name of a tenant")
}

/// The member of a tenant, if it is one of a member.
#[must_use]
pub fn member_of(tenant: &TenantName) -> Option<MemberId> {
    let member = tenant.as_str().strip_prefix(TENANT_PREFIX)?.parse().ok().map(MemberId)?;
    // `member-007` is another tenant, which is no member.
    (tenant_of(member) == *tenant).then_some(member)
}

/// The directory whose files are orders to enter.
#[must_use]
pub fn orders_in() -> Directory {
    Directory::new(ORDERS_IN).expect("it is the name of a directory")
}

/// The shelf with the answers.
#[must_use]
pub fn orders_out() -> Directory {
    Directory::new(ORDERS_OUT).expect("it is the name of a directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_name_is_the_tenant_of_a_member() {
        let member = |text| member_of(&TenantName::new(text).expect("a name"));
        assert_eq!(member("member-12"), Some(MemberId(12)));
        for other in ["member-012", "member-", "member-4294967296", "acme", "member-1-2"] {
            assert_eq!(member(other), None, "{other}");
        }
    }
}
