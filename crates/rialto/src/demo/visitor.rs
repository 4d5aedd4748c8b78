//! Whoever tries the demo: a key to trade with, and lines to begin with that work as printed.

use super::markets::{MARKETS, VISITOR};
use crate::Error;
use crate::terminal::say;
use crate::venue::Venue;
use rialto_client::KeyFile;
use rialto_gateway::{KeyRequest, Scope};
use rialto_model::{AccountId, MemberId};
use std::env;
use std::path::{Path, PathBuf};

/// The file in the data directory that holds the visitor's key.
const KEY_FILE: &str = "demo-key.toml";
/// How much the printed order is for.
const QUANTITY: &str = "0.01";

/// Whoever tries the demo.
pub(super) struct Visitor {
    file: KeyFile,
    url: String,
    order_line: String,
    curl_line: String,
    book_line: String,
}

impl Visitor {
    /// Finds the visitor's key or makes one, and says how to take part.
    pub(super) fn greet(venue: &Venue, data: &Path) -> Result<Visitor, Error> {
        let url = format!("http://{}", venue.local_addr());
        let path = data.join(KEY_FILE);
        let file = key_file(venue, &path, made)?;
        let program = program();
        let key = quoted(&path.to_string_lossy());
        let market = &MARKETS[0];
        // A round price near the market, where the collar lets it in however long ago this was printed.
        let price = market.price / market.price_scale().factor();
        let order_line = format!(
            "{program} order buy {QUANTITY} {} --price {price} --key-file {key}",
            market.symbol
        );
        let body = format!(
            r#"{{"instrument":"{}","side":"buy","quantity":"{QUANTITY}","price":"{price}"}}"#,
            market.symbol
        );
        let curl_line = curl(&file, &url, &body);
        let book_line = format!("{program} book {} --url {url}", market.symbol);
        let visitor = Visitor { file, url, order_line, curl_line, book_line };
        visitor.tell();
        Ok(visitor)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn order_line(&self) -> &str {
        &self.order_line
    }

    /// Says how to take part.
    pub(super) fn tell(&self) {
        let KeyFile { key, .. } = &self.file;
        say(format_args!(
            "\nYour API key: {key} (member {VISITOR}, account {VISITOR})\n\
             Enter an order:\n  {}\nor, with nothing but curl and openssl:\n  {}\n\
             Look at the book:\n  {}\n",
            self.order_line, self.curl_line, self.book_line
        ));
    }
}

/// The key of an earlier run, if the venue still takes it.
pub(super) fn known(venue: &Venue, path: &Path) -> Option<KeyFile> {
    let file = KeyFile::read(path).ok()?;
    let works = venue
        .keys()
        .list()
        .into_iter()
        .any(|key| key.id == file.key && key.revoked_us.is_none() && key.expires_us.is_none());
    works.then_some(file)
}

fn made(venue: &Venue) -> Result<KeyFile, Error> {
    let request = KeyRequest {
        label: "demo".to_string(),
        member: MemberId(VISITOR),
        accounts: vec![AccountId(VISITOR)],
        scopes: [Scope::Read, Scope::Trade, Scope::Transfer].into_iter().collect(),
        queues: Vec::new(),
        depot: Vec::new(),
        expires_us: None,
    };
    let (info, secret) =
        venue.keys().create(request).map_err(|error| Error::Assemble(crate::tell_all(&error)))?;
    Ok(KeyFile { url: None, key: info.id, secret: secret.reveal(), account: Some(VISITOR) })
}

/// The key in a file, or else one that `made` makes, with the address where the venue is now.
pub(super) fn key_file(
    venue: &Venue,
    path: &Path,
    made: impl FnOnce(&Venue) -> Result<KeyFile, Error>,
) -> Result<KeyFile, Error> {
    let url = format!("http://{}", venue.local_addr());
    let file = match known(venue, path) {
        Some(file) if file.url.as_ref() == Some(&url) => return Ok(file),
        Some(file) => file,
        None => made(venue)?,
    };
    let file = KeyFile { url: Some(url), ..file };
    file.write(path)?;
    Ok(file)
}

/// A shell line that signs and sends an order: what docs/signing.md describes, in one line.
fn curl(file: &KeyFile, url: &str, body: &str) -> String {
    let KeyFile { key, secret, .. } = file;
    format!(
        "B='{body}'; T=$(date +%s%6N); H=$(printf %s \"$B\" | sha256sum | cut -d' ' -f1); \
         S=v2:$(printf 'rialto-2\\n%s\\n\\nPOST\\n/v1/orders\\n\\n%s\\n' \"$T\" \"$H\" | \
         openssl dgst -sha256 -mac HMAC -macopt hexkey:{secret} | sed 's/.* //'); \
         curl -s {url}/v1/orders -H 'Content-Type: application/json' -H 'X-Rialto-Key: {key}' \
         -H \"X-Rialto-Timestamp: $T\" -H \"X-Rialto-Body-SHA256: $H\" \
         -H \"X-Rialto-Signature: $S\" -d \"$B\""
    )
}

/// How this program is called from the current directory.
pub(super) fn program() -> String {
    let called = env::args().next().unwrap_or_default();
    if called == "rialto" {
        return called;
    }
    let Ok(path) = env::current_exe() else { return "rialto".to_string() };
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let relative = path.strip_prefix(&here).unwrap_or(&path);
    quoted(&relative.to_string_lossy())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:,@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted("target/release/rialto"), "target/release/rialto");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
