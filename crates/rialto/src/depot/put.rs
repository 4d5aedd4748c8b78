//! Files in.

use super::any_pool::{AnyPool, Source};
use super::progress;
use crate::Error;
use crate::duration;
use crate::terminal::{note, say};
use rialto_depot::{Directory, FileName, NewFile, TenantName, Timestamp};
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Stores files, and prints the id of each. A file exists, durably, when its id is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto depot put orders.csv --tenant acme --directory in/orders\n  \
    pg_dump shop | rialto depot put - --tenant acme --directory dumps --name shop.sql")]
pub(super) struct Put {
    /// The files; `-` is standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The tenant, which the first file creates.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
    /// The directory in the pool, such as in/orders; by default the root.
    #[arg(long, value_parser = Directory::new, default_value = "", hide_default_value = true)]
    directory: Directory,
    /// The name in the pool; by default that of the file. Standard input has the file's id as its
    /// name in a work directory, and needs one on a shelf.
    #[arg(long, value_parser = FileName::new)]
    name: Option<FileName>,
    /// The media type of the content.
    #[arg(long, value_name = "TYPE", default_value = "", hide_default_value = true)]
    content_type: String,
    /// A value to keep with the files; may be given several times.
    #[arg(long = "meta", value_name = "NAME=VALUE", value_parser = entry)]
    metadata: Vec<(String, String)>,
    /// The priority, 0 to 3; files of a higher one are claimed first.
    #[arg(long, default_value_t = 0)]
    priority: u8,
    /// Hand the files out after this time.
    #[arg(long, value_parser = duration::parse)]
    delay: Option<Duration>,
    /// Remove the files after this time, unless they ended before.
    #[arg(long, value_parser = duration::parse)]
    expires_after: Option<Duration>,
    /// A key of one file that makes a repeat harmless: a file is stored once under a key.
    #[arg(long, value_name = "KEY")]
    submit_key: Option<String>,
    /// The SHA-256 of one file: another content is refused.
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    sha256: Option<[u8; 32]>,
    /// On a shelf: refuse the file if one is kept under its path, instead of replacing that.
    #[arg(long)]
    if_absent: bool,
    /// Print each file as a JSON object.
    #[arg(long)]
    json: bool,
}

fn entry(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn sha256(text: &str) -> Result<[u8; 32], String> {
    let wrong = || format!("{text:?} is not a SHA-256: it has 64 hexadecimal digits");
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (nth, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * nth..2 * nth + 2], 16).map_err(|_| wrong())?;
    }
    Ok(bytes)
}

fn after(delay: Duration) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanos = now.saturating_add(delay).as_nanos();
    Timestamp(u64::try_from(nanos).unwrap_or(u64::MAX))
}

impl Put {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.check()?;
        for (nth, path) in self.files.iter().enumerate() {
            self.store(pool, path).inspect_err(|_| {
                if nth > 0 {
                    note(format_args!("{nth} of {} files are stored", self.files.len()));
                }
            })?;
        }
        Ok(())
    }

    /// Refuses what holds for one file and is given for several.
    fn check(&self) -> Result<(), Error> {
        let of_one = [
            ("--name", self.name.is_some()),
            ("--submit-key", self.submit_key.is_some()),
            ("--sha256", self.sha256.is_some()),
        ];
        match of_one.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) if self.files.len() > 1 => {
                Err(Error::Usage(format!("{option} belongs to one file: give one at a time")))
            }
            _ => Ok(()),
        }
    }

    fn store(&self, pool: &dyn AnyPool, path: &Path) -> Result<(), Error> {
        let (mut input, mut file);
        let (content, bytes, name): (&mut dyn Read, _, _) = if path.as_os_str() == "-" {
            input = io::stdin().lock();
            (&mut input, None, self.name.clone())
        } else {
            let unreadable = |error| Error::file("read", path)(error);
            file = File::open(path).map_err(unreadable)?;
            let metadata = file.metadata().map_err(unreadable)?;
            let name = match &self.name {
                Some(name) => name.clone(),
                None => name_of(path)?,
            };
            // What a pipe or a device has is not known.
            (&mut file, metadata.is_file().then_some(metadata.len()), Some(name))
        };
        let new = NewFile {
            directory: self.directory.clone(),
            name,
            content_type: self.content_type.clone(),
            metadata: self.metadata.clone(),
            bytes,
            sha256: self.sha256,
            priority: self.priority,
            deliver_at: self.delay.map(after),
            expires_at: self.expires_after.map(after),
            submit_key: self.submit_key.clone(),
            if_absent: self.if_absent,
            ..NewFile::default()
        };
        let bar = progress::of_bytes(bytes);
        let content = &mut bar.wrap_read(content);
        let put = pool.put(&self.tenant, new, Source { content, path: path.to_owned() });
        bar.finish_and_clear();
        let put = put?;
        if put.is_repeat {
            note(format_args!("{}: accepted earlier under its submit key", path.display()));
        }
        match (self.json, &put.file["id"]) {
            (false, Value::String(id)) => say(format_args!("{id}")),
            _ => say(format_args!("{}", put.file)),
        }
        Ok(())
    }
}

/// The name of a file as its name in the pool.
pub(super) fn name_of(path: &Path) -> Result<FileName, Error> {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_str().ok_or_else(|| {
        Error::Usage(format!("the name {name:?} is not UTF-8; give one with --name"))
    })?;
    FileName::new(name).map_err(|error| Error::Usage(format!("{error}; give one with --name")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_utf_8_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"in/bad\xff"));
        let refused = name_of(path).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert_eq!(refused.to_string(), r#"the name "bad\xFF" is not UTF-8; give one with --name"#);
    }

    #[test]
    fn a_sha_256_has_64_hexadecimal_digits() {
        assert_eq!(sha256(&"0f".repeat(32)), Ok([0x0f; 32]));
        assert_eq!(sha256(&"FF".repeat(32)), Ok([0xff; 32]));
        for text in ["", "0f", &"0g".repeat(32), &"+f".repeat(32), &"é".repeat(32)] {
            assert!(sha256(text).is_err(), "{text}");
        }
    }
}
