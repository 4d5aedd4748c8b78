//! Where the credentials of a bucket come from.

use rialto_depot::volume::BucketError;
use std::env::VarError;

/// What the names of the variables begin with.
const VARIABLES: &str = "RIALTO_BUCKET_";
const KEY_ID: &str = "ACCESS_KEY_ID";
const SECRET: &str = "SECRET_ACCESS_KEY";

/// The keys of a bucket. They have no `Debug`, so that no line shows them.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) key_id: String,
    pub(crate) secret: String,
}

impl Credentials {
    /// Those of a volume: its own ones, or else those of all volumes.
    pub(crate) fn find(
        volume: &str,
        variable: impl Fn(&str) -> Result<String, VarError>,
    ) -> Result<Self, BucketError> {
        let own = format!("{VARIABLES}{}_", in_variables(volume));
        for prefix in [own.as_str(), VARIABLES] {
            let value = |name: &str| match variable(&format!("{prefix}{name}")) {
                Ok(value) if value.is_empty() => Ok(None),
                Ok(value) => Ok(Some(value)),
                Err(VarError::NotPresent) => Ok(None),
                Err(VarError::NotUnicode(_)) => {
                    Err(BucketError::Failed(format!("{prefix}{name} is not UTF-8")))
                }
            };
            match (value(KEY_ID)?, value(SECRET)?) {
                (Some(key_id), Some(secret)) => return Ok(Self { key_id, secret }),
                (None, None) => {}
                _ => {
                    let why = format!("set both {prefix}{KEY_ID} and {prefix}{SECRET}, or neither");
                    return Err(BucketError::Failed(why));
                }
            }
        }
        Err(BucketError::Failed(format!(
            "there are no credentials: set {VARIABLES}{KEY_ID} and {VARIABLES}{SECRET}, or \
             {own}{KEY_ID} and {own}{SECRET}"
        )))
    }
}

/// The name of a volume as a part of the name of a variable.
fn in_variables(volume: &str) -> String {
    let letter = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    volume.chars().map(letter).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn find(volume: &str, set: &[(&str, &str)]) -> Result<(String, String), String> {
        let variable = |name: &str| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned()).ok_or(VarError::NotPresent)
        };
        let found = Credentials::find(volume, variable);
        found.map(|it| (it.key_id, it.secret)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_volume_has_its_own_credentials_before_those_of_all() {
        let all = [("RIALTO_BUCKET_ACCESS_KEY_ID", "a"), ("RIALTO_BUCKET_SECRET_ACCESS_KEY", "b")];
        let own = [
            ("RIALTO_BUCKET_COLD_2_ACCESS_KEY_ID", "c"),
            ("RIALTO_BUCKET_COLD_2_SECRET_ACCESS_KEY", "d"),
        ];
        let both = [all, own].concat();
        assert_eq!(find("cold-2", &both).unwrap(), ("c".to_owned(), "d".to_owned()));
        assert_eq!(find("warm", &both).unwrap(), ("a".to_owned(), "b".to_owned()));
        let half = find("cold-2", &[all.as_slice(), &own[..1]].concat()).unwrap_err();
        assert!(half.contains("RIALTO_BUCKET_COLD_2_SECRET_ACCESS_KEY"), "{half}");
        let none = find("cold.2", &[("RIALTO_BUCKET_ACCESS_KEY_ID", "")]).unwrap_err();
        assert!(none.contains("RIALTO_BUCKET_COLD_2_ACCESS_KEY_ID"), "{none}");
    }
}
