//! The address that limits count.

use std::net::{IpAddr, Ipv6Addr};

/// The address that limits count: the first 64 bits of an IPv6 address, because a client usually
/// has all addresses of such a network.
pub(crate) fn source_of(address: IpAddr) -> IpAddr {
    const NETWORK: u128 = !0 << 64;
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) & NETWORK)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_of_ipv6_count_as_one() {
        let source = |text: &str| source_of(text.parse().unwrap());
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:0:0:2"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
        assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
    }
}
