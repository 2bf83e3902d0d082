//! The merchant's authorization of a cart: a JWT, signed with ES256, with the hash of
//! the contents. `state.rs` reads the key from `signing_key_file`.

use std::{fmt, time::Duration};

use base64ct::{Base64UrlUnpadded, Encoding};
use jiff::Timestamp;
use kit::{Error, Result};
use p256::{
    ecdsa::{
        Signature, SigningKey, VerifyingKey,
        signature::{Signer as _, Verifier as _},
    },
    pkcs8::{DecodePrivateKey, EncodePublicKey, LineEnding},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{canonical, cart::Cart};

/// Short, because an authorization cannot be revoked.
pub const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The default audience of authorizations.
pub const DEFAULT_AUDIENCE: &str = "did:ap2:agent:payment_processor";

/// The id of the first key in a merchant's DID document.
pub fn default_key_id(merchant_id: &str) -> String {
    format!("{merchant_id}#key-1")
}

pub struct Signer {
    key: SigningKey,
    key_id: String,
    audience: String,
}

/// Never shows the key.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadKey;

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this is not a P-256 private key in PKCS#8 PEM; make one with: \
             openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        )
    }
}

impl std::error::Error for BadKey {}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    alg: String,
    kid: String,
    typ: String,
}

/// What an authorization says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The merchant, as is `sub`.
    pub iss: String,
    pub sub: String,
    pub aud: String,
    /// Seconds since 1970, as is `exp`.
    pub iat: i64,
    pub exp: i64,
    pub jti: String,
    /// [`canonical::digest`] of the contents.
    pub cart_hash: String,
}

impl Signer {
    /// `pem`: the text of a `PRIVATE KEY` file.
    pub fn from_pem(pem: &str, key_id: String, audience: String) -> Result<Self, BadKey> {
        Ok(Self {
            key: SigningKey::from_pkcs8_pem(pem.trim()).map_err(|_| BadKey)?,
            key_id,
            audience,
        })
    }

    /// The id of the key in the merchant's DID document.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The `PUBLIC KEY` that others verify with.
    pub fn public_pem(&self) -> Result<String> {
        self.key
            .verifying_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| Error::internal(error.to_string()))
    }

    /// The same as a JSON Web Key.
    pub fn public_jwk(&self) -> Value {
        let point = self.key.verifying_key().to_sec1_point(false);
        let coordinate =
            |bytes: Option<&[u8]>| Base64UrlUnpadded::encode_string(bytes.unwrap_or_default());
        json!({
            "kty": "EC",
            "crv": "P-256",
            "x": coordinate(point.x().map(|x| x.as_slice())),
            "y": coordinate(point.y().map(|y| y.as_slice())),
            "kid": self.key_id,
            "alg": "ES256",
            "use": "sig",
        })
    }

    pub(super) fn authorize(
        &self,
        cart: &Cart,
        contents: &Value,
        now: Timestamp,
    ) -> Result<String> {
        let latest = now.checked_add(LIFETIME).unwrap_or(Timestamp::MAX);
        self.sign(&Claims {
            iss: cart.merchant.id.clone(),
            sub: cart.merchant.id.clone(),
            aud: self.audience.clone(),
            iat: now.as_second(),
            exp: latest.min(cart.expires).as_second(),
            jti: kit::ids::random("", 26),
            cart_hash: canonical::digest(contents)?,
        })
    }

    fn sign(&self, claims: &Claims) -> Result<String> {
        let header = Header {
            alg: "ES256".into(),
            kid: self.key_id.clone(),
            typ: "JWT".into(),
        };
        let signed = format!("{}.{}", encode(&header)?, encode(claims)?);
        // The nonce is derived from key and message (RFC 6979); no random numbers are
        // needed.
        let signature: Signature = self.key.sign(signed.as_bytes());
        let signature = Base64UrlUnpadded::encode_string(&signature.to_bytes());
        Ok(format!("{signed}.{signature}"))
    }

    /// The claims of an authorization for exactly these contents, if it was signed with
    /// this key. Does not check whether it has expired.
    pub fn verify(&self, authorization: &str, contents: &Value) -> Option<Claims> {
        verify(self.key.verifying_key(), authorization, contents)
    }
}

fn verify(key: &VerifyingKey, authorization: &str, contents: &Value) -> Option<Claims> {
    let (signed, signature) = authorization.rsplit_once('.')?;
    let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
    let signature = Signature::from_slice(&signature).ok()?;
    key.verify(signed.as_bytes(), &signature).ok()?;
    let (header, claims) = signed.split_once('.')?;
    let header: Header = decode(header)?;
    let claims: Claims = decode(claims)?;
    let same = header.alg == "ES256" && claims.cart_hash == canonical::digest(contents).ok()?;
    same.then_some(claims)
}

fn encode(part: &impl Serialize) -> Result<String> {
    let json = serde_json::to_vec(part).map_err(Error::internal)?;
    Ok(Base64UrlUnpadded::encode_string(&json))
}

fn decode<T: DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        formats::Format,
        testing::{cart, signer},
    };

    fn signed(now: &str) -> (Value, String) {
        let mut mandate = cart()
            .mandate(Format::Ap2, Some(&signer()), now.parse().unwrap())
            .unwrap();
        let Value::String(authorization) = mandate["merchant_authorization"].take() else {
            panic!("{mandate}");
        };
        (mandate["contents"].take(), authorization)
    }

    #[test]
    fn an_authorization_says_who_for_whom_and_how_long() {
        let (contents, authorization) = signed("2025-10-23T12:05:00.5Z");
        let claims = signer().verify(&authorization, &contents).unwrap();
        assert_eq!(claims.iss, "did:ap2:merchant:mugibo_merchant");
        assert_eq!(claims.sub, claims.iss);
        assert_eq!(claims.aud, DEFAULT_AUDIENCE);
        assert_eq!(claims.exp - claims.iat, 900);
        assert_eq!(claims.jti.len(), 26);
        assert_eq!(claims.cart_hash.len(), 64);
        let header: Value = decode(authorization.split('.').next().unwrap()).unwrap();
        assert_eq!(
            header,
            json!({
                "alg": "ES256",
                "kid": "did:ap2:merchant:mugibo_merchant#key-1",
                "typ": "JWT",
            })
        );
    }

    #[test]
    fn none_outlives_the_cart() {
        let (contents, authorization) = signed("2025-10-23T12:20:00Z");
        let claims = signer().verify(&authorization, &contents).unwrap();
        assert_eq!(claims.exp, cart().expires.as_second());
        let (_, another) = signed("2025-10-23T12:20:00Z");
        let another = signer().verify(&another, &contents).unwrap();
        assert_ne!(another.jti, claims.jti);
    }

    #[test]
    fn what_was_changed_is_not_authorized() {
        let (contents, authorization) = signed("2025-10-23T12:00:00Z");
        let verified = |authorization: &str, contents: &Value| {
            signer().verify(authorization, contents).is_some()
        };
        assert!(verified(&authorization, &contents));
        let mut cheaper = contents.clone();
        cheaper["payment_request"]["details"]["total"]["amount"]["value"] = json!(1.0);
        assert!(!verified(&authorization, &cheaper));
        let (_, other) = signed("2025-10-23T12:01:00Z");
        let (claims, rest) = (
            authorization.rsplit_once('.').unwrap().0,
            other.rsplit_once('.').unwrap().1,
        );
        assert!(!verified(&format!("{claims}.{rest}"), &contents));
        for broken in ["", ".", "..", "a.b.c", claims] {
            assert!(!verified(broken, &contents), "{broken}");
        }
    }

    #[test]
    fn both_formats_carry_it_beside_their_contents() {
        for format in Format::ALL {
            let now = cart().created;
            let mandate = cart().mandate(format, Some(&signer()), now).unwrap();
            let authorization = mandate["merchant_authorization"].as_str().unwrap();
            assert!(
                signer()
                    .verify(authorization, &mandate["contents"])
                    .is_some()
            );
            let unsigned = cart().mandate(format, None, now).unwrap();
            assert_eq!(unsigned.get("merchant_authorization"), None);
            assert_eq!(unsigned["contents"], mandate["contents"]);
        }
    }

    #[test]
    fn what_is_no_key_is_refused_and_a_key_is_not_shown() {
        for pem in [
            "",
            "key",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            let refused = Signer::from_pem(pem, String::new(), String::new()).unwrap_err();
            assert!(refused.to_string().contains("openssl genpkey"));
        }
        let shown = format!("{:?}", signer());
        assert!(
            shown.contains("#key-1") && !shown.contains("SigningKey"),
            "{shown}"
        );
        let public = signer().public_pem().unwrap();
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"), "{public}");
        assert_eq!(signer().public_jwk()["x"].as_str().unwrap().len(), 43);
    }
}
