//! Networks of IP addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Addresses with a common prefix, such as `10.1.0.0/16`. A single address is a network too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u8,
}

impl Network {
    /// Whether the network contains an address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let differ = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differ >= u32::from(self.prefix_bits)
    }
}

/// The error of a text that is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address or a network such as 10.1.0.0/16")]
pub struct InvalidNetwork(String);

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Network, InvalidNetwork> {
        let invalid = || InvalidNetwork(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let most: u8 = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(invalid)?,
            None => most,
        };
        Ok(Network { address, prefix_bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_contains_what_has_its_first_bits() {
        let network: Network = "10.1.0.0/16".parse().unwrap();
        assert!(network.contains(ip("10.1.255.7")) && network.contains(ip("::ffff:10.1.0.1")));
        assert!(!network.contains(ip("10.2.0.1")) && !network.contains(ip("::1")));
        let one: Network = "2001:db8::1".parse().unwrap();
        assert!(one.contains(ip("2001:db8::1")) && !one.contains(ip("2001:db8::2")));
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains(ip("203.0.113.9")) && !all.contains(ip("2001:db8::1")));
        for text in ["", "10.0.0.0/33", "10.0.0.0/", "::/129", "localhost", "10.0.0/8"] {
            assert!(text.parse::<Network>().is_err(), "{text:?}");
        }
    }
}
