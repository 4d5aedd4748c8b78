//! Explains a malformed request in the words of its schema, not in a parser's.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// Longest part of a request that a message repeats, in bytes.
const SHOWN_BYTES_MAX: usize = 60;

/// The fault of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// `missing_field`, `unknown_field` or `invalid_field`.
    pub code: &'static str,
    /// The path of the field, such as `publish[0].messages[1].payload`; empty for the whole.
    pub field: String,
    /// What the field must be, in a sentence.
    pub message: String,
}

/// The schemas of requests, each made when it is needed first.
static SCHEMAS: LazyLock<Mutex<HashMap<&'static str, Arc<Value>>>> = LazyLock::new(Mutex::default);

fn schema_of<T: JsonSchema>() -> Arc<Value> {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let made = || {
        let generator = SchemaGenerator::from(SchemaSettings::draft2020_12());
        Arc::new(generator.into_root_schema_for::<T>().to_value())
    };
    Arc::clone(schemas.entry(std::any::type_name::<T>()).or_insert_with(made))
}

/// Explains the error of a reader of `T` at the field `path`; `kind` is the noun for the fields of
/// `T`.
#[must_use]
pub fn explain<T: JsonSchema>(kind: &str, path: &str, error: &str) -> Explained {
    let root = schema_of::<T>();
    let quoted = |prefix: &str| error.strip_prefix(prefix)?.split('`').next();
    if let Some(name) = quoted("missing field `") {
        let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let message = format!("The {kind} {field} is missing.");
        return Explained { code: "missing_field", field, message };
    }
    if let Some(name) = quoted("unknown field `") {
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let known = properties(&root, at(&root, parent));
        let near = nearest(name, &known).map(|near| format!("; did you mean {near}?"));
        let hint = near.unwrap_or_else(|| match known.is_empty() {
            true => format!(": it takes no {kind}."),
            false => format!(": it takes {}.", joined(&known, "and")),
        });
        let message = format!("There is no {kind} {}{hint}", shown(name));
        return Explained { code: "unknown_field", field: path.to_owned(), message };
    }
    if let Some(name) = quoted("duplicate field `") {
        let repeats = path.rsplit(['.', ']']).next() == Some(name);
        let field = match path {
            "" => name.to_owned(),
            path if repeats => path.to_owned(),
            path => format!("{path}.{name}"),
        };
        let message = format!("The {kind} {field} is given twice.");
        return Explained { code: "invalid_field", field, message };
    }
    let must = expected(&root, at(&root, path));
    let message = match (got(error), path) {
        (Some(got), "") => format!("It is {got}; it must be {must}."),
        (None, "") => format!("It must be {must}."),
        (Some(got), path) => format!("The {kind} {path} is {got}; it must be {must}."),
        (None, path) => format!("The {kind} {path} must be {must}."),
    };
    Explained { code: "invalid_field", field: path.to_owned(), message }
}

fn shown(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= SHOWN_BYTES_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The value that was sent, as far as the reader's error names it.
fn got(error: &str) -> Option<String> {
    if let Some(rest) = error.strip_prefix("unknown variant `") {
        return Some(format!("{:?}", shown(rest.split('`').next()?)));
    }
    let rest = error.strip_prefix("invalid type: ").or(error.strip_prefix("invalid value: "))?;
    let (got, _) = rest.rsplit_once(", expected ")?;
    let got = got.replace('`', "");
    let (kind, value) = got.split_once(' ').unwrap_or((&got, ""));
    Some(match kind {
        "integer" | "floating" => {
            format!("the number {}", shown(value.trim_start_matches("point ")))
        }
        "string" => shown(value),
        "boolean" => value.to_owned(),
        "null" => "null".to_owned(),
        "sequence" => "an array".to_owned(),
        "map" => "an object".to_owned(),
        _ => shown(&got),
    })
}

/// The part of a schema that describes the value at a path.
fn at<'a>(root: &'a Value, path: &str) -> &'a Value {
    let mut schema = root;
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let within = |schema: &'a Value| match step.strip_suffix(']') {
            Some(_) => schema.get("items"),
            None => {
                let named = schema.get("properties").and_then(|all| all.get(step));
                named.or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
            }
        };
        let Some(inner) = variants(root, schema).into_iter().find_map(within) else {
            return &Value::Null;
        };
        schema = inner;
    }
    schema
}

/// The alternatives of a schema, with references resolved.
fn variants<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        return variants(root, target);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
            return choices.iter().flat_map(|choice| variants(root, choice)).collect();
        }
    }
    vec![schema]
}

fn properties<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a str> {
    let objects = variants(root, schema).into_iter();
    let all = objects.filter_map(|schema| schema.get("properties")?.as_object());
    all.flat_map(|all| all.keys().map(String::as_str)).collect()
}

/// The values that a schema allows, as the object of a sentence.
fn expected(root: &Value, schema: &Value) -> String {
    let mut choices: Vec<String> = Vec::new();
    for schema in variants(root, schema) {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let number = |key: &str| schema.get(key).filter(|value| value.is_number());
        if let Some(names) = schema.get("enum").and_then(Value::as_array) {
            choices.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
            continue;
        }
        if let Some(name) = text("const") {
            choices.push(name.to_owned());
            continue;
        }
        let kind = schema.get("type").and_then(|kind| match kind {
            Value::Array(kinds) => kinds.first()?.as_str(),
            kind => kind.as_str(),
        });
        let pattern = text("pattern").unwrap_or_default();
        choices.push(match kind {
            Some("null") => continue,
            Some("string") if text("contentEncoding").is_some() => {
                "base64 with padding (RFC 4648, section 4)".to_owned()
            }
            Some("string") if pattern.starts_with("^[0-9]{1,20}") => {
                "a whole number of 64 bits as text, such as \"17\"".to_owned()
            }
            Some("string") if pattern.starts_with("^-?[0-9]") => {
                "a decimal number as text, such as \"1.50\"".to_owned()
            }
            Some("string") if pattern.starts_with("^[A-Za-z0-9._-]") => {
                "the name of a topic, or how it begins and a *".to_owned()
            }
            Some("string") => match number("maxLength") {
                Some(max) => format!("a text of at most {max} printable bytes"),
                None => "a text".to_owned(),
            },
            Some("integer") => match (number("minimum"), number("maximum")) {
                (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
                (Some(min), None) => format!("a whole number, at least {min}"),
                _ => "a whole number".to_owned(),
            },
            Some("number") => "a number".to_owned(),
            Some("boolean") => "true or false".to_owned(),
            Some("array") => match number("maxItems") {
                Some(max) => format!("an array of at most {max} entries"),
                None => "an array".to_owned(),
            },
            Some("object") => match (number("maxProperties"), sole(schema)) {
                (Some(max), _) => format!("an object of at most {max} texts"),
                (None, Some(name)) => format!("{{\"{name}\": …}}"),
                (None, None) => "an object".to_owned(),
            },
            _ => "something else".to_owned(),
        });
    }
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    joined(&choices, "or")
}

/// The only field of a variant, which names it.
fn sole(schema: &Value) -> Option<&String> {
    let fields = schema.get("properties")?.as_object()?;
    (fields.len() == 1).then(|| fields.keys().next())?
}

fn joined(names: &[&str], word: &str) -> String {
    match names {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} {word} {last}", all.join(", ")),
    }
}

/// The known name that is nearest, if one is near enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = shown(&name.to_lowercase());
    let near = |candidate: &str| strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
    let best = known.iter().map(|candidate| (near(candidate), *candidate)).min()?;
    (best.0 <= 1 + name.len() / 4).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BatchRow, KeyCreateRequest, OrderRequest, OrdersQuery, PublishRequest, TopicRequest,
    };

    fn message<T: JsonSchema>(path: &str, error: &str) -> String {
        explain::<T>("field", path, error).message
    }

    #[test]
    fn a_wrong_value_is_explained_by_its_schema() {
        let side = "unknown variant `hold`, expected `buy` or `sell`";
        assert_eq!(
            message::<OrderRequest<'_>>("side", side),
            "The field side is \"hold\"; it must be buy or sell."
        );
        assert_eq!(
            message::<OrderRequest<'_>>("price", "invalid type: integer `5`, expected a string"),
            "The field price is the number 5; it must be a decimal number as text, such as \"1.50\"."
        );
        assert_eq!(
            message::<OrderRequest<'_>>("expire_at", "invalid digit found in string"),
            "The field expire_at must be a whole number of 64 bits as text, such as \"17\"."
        );
        assert_eq!(
            message::<PublishRequest>("[3].priority", "invalid value: integer `900`, expected u8"),
            "The field [3].priority is the number 900; it must be a whole number from 0 to 255."
        );
        assert_eq!(
            message::<TopicRequest<'_>>("overtaken", "unknown variant `x`, expected one of"),
            "The field overtaken is \"x\"; it must be oldest, newest, cut_off or {\"conflated\": …}."
        );
        assert_eq!(
            message::<OrdersQuery<'_>>("status", "unknown variant `all`, expected `open`"),
            "The field status is \"all\"; it must be open, waiting or ended."
        );
        assert_eq!(
            message::<KeyCreateRequest<'_>>("queues[0].topics", "topics are named by their name"),
            "The field queues[0].topics must be the name of a topic, or how it begins and a *."
        );
    }

    #[test]
    fn a_repeated_field_is_named() {
        let explained = |path| explain::<OrderRequest<'_>>("field", path, "duplicate field `side`");
        assert_eq!(explained("").message, "The field side is given twice.");
        assert_eq!((explained("").code, &*explained("").field), ("invalid_field", "side"));
        assert_eq!(explained("rows[1].place").field, "rows[1].place.side");
        assert_eq!(explained("rows[1].place.side").field, "rows[1].place.side");
    }

    #[test]
    fn a_field_that_is_not_there_is_compared_with_those_that_are() {
        let unknown = "unknown field `quantiy`, expected one of `account`";
        let explained = explain::<OrderRequest<'_>>("field", "quantiy", unknown);
        assert_eq!(explained.message, "There is no field quantiy; did you mean quantity?");
        assert_eq!((explained.code, &*explained.field), ("unknown_field", "quantiy"));
        let explained = explain::<BatchRow<'_>>("field", "place.pric", "unknown field `pric`");
        assert_eq!(explained.message, "There is no field pric; did you mean price?");
        let explained = explain::<crate::Nothing>("parameter", "x", "unknown field `x`");
        assert_eq!(explained.message, "There is no parameter x: it takes no parameter.");
    }
}
