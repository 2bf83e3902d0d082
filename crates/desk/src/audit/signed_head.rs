//! Signs heads with a key of this installation.
//!
//! The signature is a JSON Web Signature (RFC 7515) with Ed25519 in its compact form,
//! whose payload is the head. So any JOSE library checks it with the public key.

use base64ct::{Base64UrlUnpadded, Encoding};
use kit::{Error, Result};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::trail_head::TrailHead;
use crate::{digest::sha256, state::Secret};

/// `audit-head1` is the version of the format.
const KIND: &str = "audit-head1";

/// A head as it is stored elsewhere, perhaps signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredHead {
    #[serde(flatten)]
    pub head: TrailHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    alg: String,
    typ: String,
    kid: String,
}

/// The key with which this installation signs heads.
pub struct HeadKey(Ed25519KeyPair);

/// What others need to check the signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicHeadKey(Vec<u8>);

impl HeadKey {
    /// Derived from the secret, so all desks on the same data have the same key.
    pub fn of(secret: &Secret) -> Result<Self> {
        let seed = secret.mac("audit heads", b"Ed25519");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
        pair.map(Self)
            .map_err(|_| Error::internal("no key for heads can be derived"))
    }

    pub fn public(&self) -> PublicHeadKey {
        PublicHeadKey(self.0.public_key().as_ref().to_vec())
    }

    pub fn sign(&self, head: TrailHead) -> Result<StoredHead> {
        let header = Header {
            alg: "EdDSA".into(),
            typ: KIND.into(),
            kid: self.public().id(),
        };
        self.sign_as(&header, head)
    }

    fn sign_as(&self, header: &Header, head: TrailHead) -> Result<StoredHead> {
        let mut text = encoded(header)?;
        text.push('.');
        text.push_str(&encoded(&head)?);
        let signature = self.0.sign(text.as_bytes());
        text.push('.');
        text.push_str(&Base64UrlUnpadded::encode_string(signature.as_ref()));
        Ok(StoredHead {
            head,
            signature: Some(text),
        })
    }
}

fn encoded(value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_vec(value).map_err(Error::internal)?;
    Ok(Base64UrlUnpadded::encode_string(&json))
}

impl PublicHeadKey {
    /// Names the key.
    pub fn id(&self) -> String {
        let digest = sha256(&self.0);
        digest.get(..16).unwrap_or_default().to_owned()
    }

    /// As a JSON Web Key (RFC 8037).
    pub fn jwk(&self) -> Value {
        json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "x": Base64UrlUnpadded::encode_string(&self.0),
            "alg": "EdDSA",
            "use": "sig",
            "kid": self.id(),
        })
    }

    pub fn of_jwk(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Jwk {
            kty: String,
            crv: String,
            x: String,
        }
        let jwk: Option<Jwk> = serde_json::from_str(text).ok();
        let is_ours = |jwk: &Jwk| jwk.kty == "OKP" && jwk.crv == "Ed25519";
        let key = jwk.filter(is_ours).and_then(|jwk| {
            let key = Base64UrlUnpadded::decode_vec(&jwk.x).ok()?;
            (key.len() == 32).then_some(Self(key))
        });
        key.ok_or_else(|| {
            Error::new(
                "INVALID_HEAD_KEY",
                "The file is not a public key for heads.",
            )
            .next("Write one with: madoguchi audit head --public-key > FILE")
        })
    }

    /// Checks that this key signed exactly this head.
    pub fn check(&self, stored: &StoredHead) -> Result<()> {
        let Some(signature) = &stored.signature else {
            return Err(refused(stored, "it is not signed"));
        };
        let parts = || {
            let (signed, signature) = signature.rsplit_once('.')?;
            let (header, payload) = signed.split_once('.')?;
            let header = Base64UrlUnpadded::decode_vec(header).ok()?;
            let header: Header = serde_json::from_slice(&header).ok()?;
            let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
            let head: TrailHead = serde_json::from_slice(&payload).ok()?;
            let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
            let is_known = header.alg == "EdDSA" && header.typ == KIND;
            is_known.then_some((header, signed, head, signature))
        };
        let (header, signed, head, signature) =
            parts().ok_or_else(|| refused(stored, "its signature can't be read"))?;
        if header.kid != self.id() {
            let what = format!(
                "it is signed with the key {}, and this key is {}",
                header.kid,
                self.id()
            );
            return Err(refused(stored, &what));
        }
        UnparsedPublicKey::new(&ED25519, &self.0)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| refused(stored, "its signature is wrong"))?;
        match head == stored.head {
            true => Ok(()),
            false => Err(refused(stored, "it is not the head that was signed")),
        }
    }
}

fn refused(stored: &StoredHead, what: &str) -> Error {
    Error::new(
        "HEAD_REFUSED",
        format!("The head of {} can't be used: {what}.", stored.head.at),
    )
    .next("Name the public key of the installation that signed it with --key FILE.")
}

/// Reads heads: one, or one on each line.
pub fn parse_heads(text: &str) -> Result<Vec<StoredHead>> {
    let heads = serde_json::Deserializer::from_str(text).into_iter::<StoredHead>();
    let heads: std::result::Result<Vec<_>, _> = heads.collect();
    match heads {
        Ok(heads) if !heads.is_empty() && heads.iter().all(|it| it.head.is_whole()) => Ok(heads),
        _ => Err(Error::new(
            "HEAD_UNREADABLE",
            "The file does not contain heads of an audit trail.",
        )
        .next("Write one with: madoguchi audit head --sign > FILE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::record::Head;

    fn head() -> TrailHead {
        let mut head = TrailHead {
            at: "2026-11-16T00:00:00.000Z".into(),
            hash: String::new(),
            checkpoints: None,
            segments: vec![Head {
                segment: "one".into(),
                seq: 3,
                hash: "ab".into(),
            }],
        };
        head.hash = super::super::trail_head::digest(None, &head.segments).unwrap();
        head
    }

    #[test]
    fn a_signed_head_is_accepted_only_as_it_was_signed_and_with_its_key() {
        let key = HeadKey::of(&Secret::random()).unwrap();
        let signed = key.sign(head()).unwrap();
        let text = serde_json::to_string(&signed).unwrap();
        let twice = parse_heads(&format!("{text}\n{text}\n")).unwrap();
        assert_eq!(twice, [signed.clone(), signed.clone()]);
        let public = PublicHeadKey::of_jwk(&key.public().jwk().to_string()).unwrap();
        assert_eq!(public, key.public());
        public.check(&signed).unwrap();
        let said = |stored: &StoredHead, key: &PublicHeadKey| key.check(stored).unwrap_err().text();

        let mut changed = signed.clone();
        changed.head.at = "2026-11-15T00:00:00.000Z".into();
        assert!(said(&changed, &public).contains("not the head that was signed"));
        let mut forged = signed.clone();
        let text = forged.signature.take().unwrap();
        assert!(said(&forged, &public).contains("not signed"));
        let other = HeadKey::of(&Secret::random()).unwrap();
        assert!(said(&signed, &other.public()).contains("and this key is"));
        let last = text.rfind('.').unwrap();
        let of_others = other.sign(head()).unwrap().signature.unwrap();
        let at = of_others.rfind('.').unwrap();
        forged.signature = Some(format!("{}{}", &text[..last], &of_others[at..]));
        assert!(said(&forged, &public).contains("its signature is wrong"));
    }

    /// What the key signs for another purpose, or in another way, is no signed head.
    #[test]
    fn a_signature_of_another_kind_is_refused() {
        let key = HeadKey::of(&Secret::random()).unwrap();
        for (alg, typ) in [("EdDSA", "JWT"), ("none", KIND)] {
            let header = Header {
                alg: alg.into(),
                typ: typ.into(),
                kid: key.public().id(),
            };
            let signed = key.sign_as(&header, head()).unwrap();
            let refused = key.public().check(&signed).unwrap_err().text();
            assert!(refused.contains("can't be read"), "{alg} {typ}: {refused}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_head_is_refused() {
        let mut changed = head();
        changed.segments[0].seq = 2;
        let changed = serde_json::to_string(&changed).unwrap();
        for text in ["", "{}", "[]", "head", &changed] {
            assert!(parse_heads(text).is_err(), "{text}");
        }
    }
}
