//! Who a request claims to be from, before its signature is verified, and what is refused at once.

use crate::errors::refusal;
use form_urlencoded::parse;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use s3s::{S3Error, S3ErrorCode, S3Result};

/// The longest life of a presigned request, in seconds: a week.
const EXPIRES_MAX: u64 = 604_800;
const SCHEME: &str = "AWS4-HMAC-SHA256";

/// The id of the key that a request names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClaimedKey(pub(crate) String);

fn denied(message: &str) -> S3Error {
    refusal(S3ErrorCode::AccessDenied, message)
}

fn wrong_scheme() -> S3Error {
    let message = format!("Sign requests with signature version 4 ({SCHEME}).");
    refusal(S3ErrorCode::InvalidRequest, message)
}

impl ClaimedKey {
    /// Reads the head of a request. Requests without a signature, of an older scheme, and those with
    /// headers that the signature does not cover are refused.
    pub(crate) fn of(head: &Parts) -> S3Result<ClaimedKey> {
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        if head.method == Method::POST
            && content_type
                .is_some_and(|it| it.trim_start().to_ascii_lowercase().starts_with("multipart/"))
        {
            return Err(crate::errors::unsupported("uploads by forms"));
        }
        let query = head.uri.query().unwrap_or_default();
        let mut of_query = QueryClaim::default();
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "X-Amz-Signature" => of_query.is_signed = true,
                "X-Amz-Credential" => of_query.credential = value.into_owned(),
                "X-Amz-SignedHeaders" => of_query.signed = value.into_owned(),
                "X-Amz-Expires" => of_query.expires = value.parse().ok(),
                "Signature" | "AWSAccessKeyId" => return Err(wrong_scheme()),
                _ => {}
            }
        }
        let mut authorizations = head.headers.get_all(AUTHORIZATION).iter();
        let authorization = authorizations.next();
        if authorizations.next().is_some() || (authorization.is_some() && of_query.is_signed) {
            return Err(denied("The request is signed more than once."));
        }
        if of_query.is_signed {
            return of_query.check(&head.headers);
        }
        let Some(text) = authorization else {
            return Err(denied("Requests are signed; this one is not."));
        };
        let text = text.to_str().unwrap_or_default();
        let Some(fields) = text.strip_prefix(SCHEME) else { return Err(wrong_scheme()) };
        let field = |name: &str| {
            let mut fields = fields.split(',').map(str::trim);
            fields.find_map(|field| field.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        check_covered(&head.headers, &field("SignedHeaders="), false)?;
        key_of(&field("Credential="))
    }
}

/// A claim in the query: a presigned request.
#[derive(Default)]
struct QueryClaim {
    is_signed: bool,
    credential: String,
    signed: String,
    expires: Option<u64>,
}

impl QueryClaim {
    fn check(&self, headers: &HeaderMap) -> S3Result<ClaimedKey> {
        if self.expires.is_none_or(|expires| !(1..=EXPIRES_MAX).contains(&expires)) {
            let message = format!("X-Amz-Expires is 1 to {EXPIRES_MAX} seconds.");
            let code = crate::errors::code("AuthorizationQueryParametersError");
            return Err(refusal(code, message));
        }
        check_covered(headers, &self.signed, true)?;
        key_of(&self.credential)
    }
}

/// The key of a credential: `KEY/DATE/REGION/s3/aws4_request`.
fn key_of(credential: &str) -> S3Result<ClaimedKey> {
    let mut parts = credential.rsplitn(5, '/');
    let (end, service) = (parts.next(), parts.next());
    let (_region, _date) = (parts.next(), parts.next());
    match (end, service, parts.next()) {
        (Some("aws4_request"), Some("s3"), Some(key)) if !key.is_empty() => {
            Ok(ClaimedKey(key.to_owned()))
        }
        _ => {
            let message = "The credential is KEY/DATE/REGION/s3/aws4_request.";
            Err(refusal(crate::errors::code("AuthorizationHeaderMalformed"), message))
        }
    }
}

/// Checks that the signature covers the host and all headers that change what the request does.
/// Otherwise a link to store a file could be made one that copies another file.
fn check_covered(headers: &HeaderMap, signed: &str, is_link: bool) -> S3Result<()> {
    let is_signed = |name: &str| signed.split(';').any(|signed| signed.eq_ignore_ascii_case(name));
    if !is_signed(HOST.as_str()) {
        return Err(denied("The signature does not cover the header host."));
    }
    for name in headers.keys().map(hyper::header::HeaderName::as_str) {
        // Who makes a link does not know the content; its hash is compared with what arrives.
        let may_be_free = is_link && name == "x-amz-content-sha256";
        if name.starts_with("x-amz-") && !may_be_free && !is_signed(name) {
            return Err(denied(&format!("The signature does not cover the header {name}.")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(uri: &str, headers: &[(&str, &str)]) -> Result<String, String> {
        let mut request = hyper::Request::builder().method("PUT").uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        ClaimedKey::of(&head).map(|key| key.0).map_err(|error| error.code().as_str().to_owned())
    }

    const LINK: &str = "/b/k?X-Amz-Credential=rk_1/20261125/x/s3/aws4_request&X-Amz-Signature=0\
                        &X-Amz-SignedHeaders=host&X-Amz-Expires=60";

    #[test]
    fn a_link_does_nothing_else_than_it_was_signed_for() {
        assert_eq!(claim(LINK, &[("host", "x")]).as_deref(), Ok("rk_1"));
        let copy = [("host", "x"), ("x-amz-copy-source", "/b/secret")];
        assert_eq!(claim(LINK, &copy), Err("AccessDenied".to_owned()));
        let hash = [("host", "x"), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD")];
        assert_eq!(claim(LINK, &hash).as_deref(), Ok("rk_1"));
        let long = LINK.replace("Expires=60", "Expires=604801");
        assert_eq!(claim(&long, &[]), Err("AuthorizationQueryParametersError".to_owned()));
        let free = LINK.replace("=host", "=date");
        assert_eq!(claim(&free, &[]), Err("AccessDenied".to_owned()));
    }

    #[test]
    fn older_schemes_and_unsigned_requests_are_refused() {
        let v4 = "AWS4-HMAC-SHA256 Credential=rk_1/20261125/x/s3/aws4_request, \
                  SignedHeaders=host;x-amz-date, Signature=0";
        let date = ("x-amz-date", "20261125T000000Z");
        assert_eq!(claim("/", &[("authorization", v4), date]).as_deref(), Ok("rk_1"));
        let more = ("x-amz-meta-a", "b");
        let refused = |code: &str| Err(code.to_owned());
        assert_eq!(claim("/", &[("authorization", v4), date, more]), refused("AccessDenied"));
        assert_eq!(claim("/", &[]), refused("AccessDenied"));
        assert_eq!(claim("/", &[("authorization", "AWS a:b")]), refused("InvalidRequest"));
        assert_eq!(claim("/?AWSAccessKeyId=a&Signature=b", &[]), refused("InvalidRequest"));
        assert_eq!(claim(LINK, &[("authorization", v4)]), refused("AccessDenied"));
        let sts = v4.replace("/s3/", "/sts/");
        let refused = refused("AuthorizationHeaderMalformed");
        assert_eq!(claim("/", &[("authorization", &sts), date]), refused);
    }
}
