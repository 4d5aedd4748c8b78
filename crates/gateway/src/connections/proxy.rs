//! The client's address behind a proxy: the PROXY protocol, versions 1 and 2
//! (<https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt>), and the header `Forwarded`
//! (RFC 7239). Both are read on connections of trusted proxies only.

use super::Network;
use axum::http::{HeaderMap, header};
use std::io;
use std::net::IpAddr;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

const V1_BEGIN: &[u8] = b"PROXY ";
/// The longest header of version 1, with its line end.
const V1_BYTES_MAX: usize = 107;
const V2_BEGIN: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
const V2_HEAD_BYTES: usize = 16;
/// The longest accepted header of version 2: addresses and further fields.
const V2_BYTES_MAX: usize = 2_048;

/// The PROXY header of a connection.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Announced {
    /// The client; the proxy itself if the header names none.
    pub(super) client: Option<IpAddr>,
    /// Bytes of the connection that were read after the header.
    pub(super) ahead: Vec<u8>,
}

/// Reads the PROXY header of a trusted proxy's connection, if there is one.
pub(super) async fn announced(stream: &mut TcpStream) -> io::Result<Announced> {
    let mut bytes = Vec::with_capacity(256);
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match Header::of(&bytes) {
            Header::Incomplete => {}
            Header::None => return Ok(Announced { client: None, ahead: bytes }),
            Header::Complete { client, bytes: length } => {
                bytes.drain(..length);
                return Ok(Announced { client, ahead: bytes });
            }
            Header::Malformed => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The beginning of a connection, parsed as a PROXY header.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    Incomplete,
    None,
    Complete { client: Option<IpAddr>, bytes: usize },
    Malformed,
}

impl Header {
    fn of(bytes: &[u8]) -> Header {
        let begins = |with: &[u8]| bytes.starts_with(with) || with.starts_with(bytes);
        if begins(V1_BEGIN) {
            Header::version_1(bytes)
        } else if begins(V2_BEGIN) {
            Header::version_2(bytes)
        } else {
            Header::None
        }
    }

    fn version_1(bytes: &[u8]) -> Header {
        let line = &bytes[..bytes.len().min(V1_BYTES_MAX)];
        let Some(end) = line.windows(2).position(|two| two == b"\r\n") else {
            let is_whole = line.len() == V1_BYTES_MAX;
            return if is_whole { Header::Malformed } else { Header::Incomplete };
        };
        let mut words = line[V1_BEGIN.len()..end].split(|byte| *byte == b' ');
        let client = match words.next() {
            Some(b"UNKNOWN") => None,
            Some(b"TCP4" | b"TCP6") => {
                let source = words.next().and_then(|word| std::str::from_utf8(word).ok());
                let Some(client) = source.and_then(|text| text.parse().ok()) else {
                    return Header::Malformed;
                };
                Some(client)
            }
            _ => return Header::Malformed,
        };
        Header::Complete { client, bytes: end + 2 }
    }

    fn version_2(bytes: &[u8]) -> Header {
        let Some((head, rest)) = bytes.split_first_chunk::<V2_HEAD_BYTES>() else {
            return Header::Incomplete;
        };
        let [.., version_and_command, family, high, low] = *head;
        let length = usize::from(u16::from_be_bytes([high, low]));
        if version_and_command >> 4 != 2 || V2_HEAD_BYTES + length > V2_BYTES_MAX {
            return Header::Malformed;
        }
        let Some(rest) = rest.get(..length) else { return Header::Incomplete };
        let client = match (version_and_command & 0xf, family >> 4) {
            (0, _) | (1, 0 | 3) => None,
            (1, 1) => rest.first_chunk::<4>().map(|source| IpAddr::from(*source)),
            (1, 2) => rest.first_chunk::<16>().map(|source| IpAddr::from(*source)),
            _ => return Header::Malformed,
        };
        let is_cut =
            client.is_none() && matches!((version_and_command & 0xf, family >> 4), (1, 1 | 2));
        if is_cut {
            return Header::Malformed;
        }
        Header::Complete { client, bytes: V2_HEAD_BYTES + length }
    }
}

/// The client of a request that the trusted `proxy` sent: the last address in `Forwarded` that is
/// not a trusted proxy's.
pub(super) fn client_of(headers: &HeaderMap, trusted: &[Network], proxy: IpAddr) -> IpAddr {
    let mut client = proxy;
    // Elements are read from the last one, which the nearest proxy wrote, so that elements of the
    // client have no effect.
    for value in headers.get_all(header::FORWARDED).iter().rev() {
        let Ok(text) = value.to_str() else { return client };
        for element in text.rsplit(',') {
            let Some(address) = forwarded_for(element) else { return client };
            client = address;
            if !trusted.iter().any(|network| network.contains(address)) {
                return client;
            }
        }
    }
    client
}

/// The address in an element such as `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut parameters = element.split(';').filter_map(|parameter| parameter.split_once('='));
    let (_, node) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let node = node.trim().trim_matches('"');
    if let Some(rest) = node.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    node.split(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn version_1_names_the_client_and_is_removed_from_the_connection() {
        let text = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\nGET / HTTP/1.1\r\n";
        for cut in 0..45 {
            assert_eq!(Header::of(&text[..cut]), Header::Incomplete, "{cut}");
        }
        let complete = Header::Complete { client: Some(ip("192.0.2.1")), bytes: 45 };
        assert_eq!(Header::of(text), complete);
        let unknown = Header::Complete { client: None, bytes: 15 };
        assert_eq!(Header::of(b"PROXY UNKNOWN\r\n"), unknown);
        for text in ["PROXY TCP4 here\r\n", "PROXY UDP4 1.2.3.4\r\n", &"PROXY TCP4 ".repeat(20)] {
            assert_eq!(Header::of(text.as_bytes()), Header::Malformed, "{text}");
        }
        assert_eq!(Header::of(b"POST /v1/orders"), Header::None);
    }

    #[test]
    fn version_2_names_the_client_and_is_removed_from_the_connection() {
        let head = |command: u8, family: u8, length: u8| {
            [V2_BEGIN, &[0x20 | command, family, 0, length]].concat()
        };
        let v4 = [head(1, 0x11, 12), vec![192, 0, 2, 1, 1, 2, 3, 4, 0, 1, 0, 2]].concat();
        for cut in 0..v4.len() {
            assert_eq!(Header::of(&v4[..cut]), Header::Incomplete, "{cut}");
        }
        assert_eq!(Header::of(&v4), Header::Complete { client: Some(ip("192.0.2.1")), bytes: 28 });
        let v6 = [head(1, 0x21, 36), vec![0x20; 36]].concat();
        let client = Some(IpAddr::from([0x20; 16]));
        assert_eq!(Header::of(&v6), Header::Complete { client, bytes: 52 });
        // A health check of the proxy itself.
        assert_eq!(Header::of(&head(0, 0, 0)), Header::Complete { client: None, bytes: 16 });
        assert_eq!(Header::of(&head(1, 0x11, 0)), Header::Malformed);
        assert_eq!(Header::of(&head(7, 0x11, 0)), Header::Malformed);
        let long = [V2_BEGIN, &[0x21, 0x11, 0xff, 0xff]].concat();
        assert_eq!(Header::of(&long), Header::Malformed);
    }

    #[test]
    fn the_last_address_that_is_no_proxys_is_the_clients() {
        let trusted: Vec<Network> = vec!["10.0.0.0/8".parse().unwrap()];
        let client = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::FORWARDED, HeaderValue::from_str(value).unwrap());
            }
            client_of(&headers, &trusted, ip("10.0.0.1"))
        };
        assert_eq!(client(&[]), ip("10.0.0.1"));
        assert_eq!(client(&["for=192.0.2.60;proto=http;by=203.0.113.43"]), ip("192.0.2.60"));
        assert_eq!(client(&["For=\"[2001:db8:cafe::17]:4711\""]), ip("2001:db8:cafe::17"));
        assert_eq!(client(&["for=9.9.9.9, for=192.0.2.1:80, for=10.1.1.1"]), ip("192.0.2.1"));
        assert_eq!(client(&["for=9.9.9.9", "for=192.0.2.1"]), ip("192.0.2.1"));
        // Elements that a client wrote cannot hide those of the proxy.
        assert_eq!(client(&["for=\"9.9.9.9, for=192.0.2.1"]), ip("192.0.2.1"));
        for hidden in ["for=unknown", "for=_secret", "proto=https", "for=\"[::1\""] {
            assert_eq!(client(&[hidden]), ip("10.0.0.1"), "{hidden}");
        }
    }
}
