//! A page of a list of objects.

use chrono::DateTime;
use quick_xml::DeError;
use rialto_depot::Timestamp;
use rialto_depot::volume::ObjectInfo;
use serde::Deserialize;

/// The objects of a page, with their keys as the store has them: other programs may have made some.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) objects: Vec<ObjectInfo>,
    /// Whether there are more behind them.
    pub(crate) is_truncated: bool,
}

/// A list that is not understood. Its text is not repeated.
#[derive(Debug, thiserror::Error)]
#[error("the list of the store is not valid")]
pub(crate) struct InvalidList;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListBucketResult {
    #[serde(default)]
    contents: Vec<Contents>,
    #[serde(default)]
    is_truncated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Contents {
    key: String,
    size: u64,
    last_modified: String,
}

/// Reads a page.
pub(crate) fn page(body: &[u8]) -> Result<Page, InvalidList> {
    let read: Result<ListBucketResult, DeError> = quick_xml::de::from_reader(body);
    let ListBucketResult { contents, is_truncated } = read.map_err(|_| InvalidList)?;
    let objects = contents.into_iter().map(info).collect::<Result<_, _>>()?;
    Ok(Page { objects, is_truncated })
}

fn info(contents: Contents) -> Result<ObjectInfo, InvalidList> {
    let Contents { key, size, last_modified } = contents;
    let modified = DateTime::parse_from_rfc3339(&last_modified).map_err(|_| InvalidList)?;
    let modified = modified.timestamp_nanos_opt().and_then(|it| u64::try_from(it).ok());
    Ok(ObjectInfo { key, bytes: size, modified: Timestamp(modified.unwrap_or(0)) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn list(keys: &[&str]) -> String {
        let contents = |key: &&str| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-25T12:00:00.000Z</LastModified>\
                 <ETag>\"e\"</ETag><Size>7</Size></Contents>"
            )
        };
        let contents = keys.iter().map(contents).collect::<String>();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><Name>b</Name>\
             <IsTruncated>true</IsTruncated>{contents}</ListBucketResult>"
        )
    }

    #[test]
    fn keys_are_read_as_they_are() {
        let keys = ["a//b", "/", "a/", "..", " a ", "a&amp;b", "&#x1;", "\u{e9}", "a&#13;&#10;"];
        let read = page(list(&keys).as_bytes()).unwrap();
        let read_keys: Vec<_> = read.objects.iter().map(|object| object.key.as_str()).collect();
        let expected = ["a//b", "/", "a/", "..", " a ", "a&b", "\u{1}", "\u{e9}", "a\r\n"];
        assert_eq!(read_keys, expected);
        assert!(read.is_truncated);
        let noon = ObjectInfo {
            key: "a//b".to_owned(),
            bytes: 7,
            modified: Timestamp(1_795_608_000_000_000_000),
        };
        assert_eq!(read.objects[0], noon);
    }

    #[test]
    fn an_empty_list_is_read_and_another_text_is_refused() {
        let empty = page(b"<ListBucketResult><Prefix/></ListBucketResult>").unwrap();
        assert_eq!((empty.objects.len(), empty.is_truncated), (0, false));
        let no_date = list(&["a"]).replace("2026-11-25", "yesterday");
        for body in
            ["", "text", "<ListBucketResult>", &list(&["a"]).replace(">7<", ">x<"), &no_date]
        {
            page(body.as_bytes()).unwrap_err();
        }
    }
}
