//! A ticket: what a booking shows at the gate, signed so that the gate can verify it
//! offline.
//!
//! It is a JSON Web Signature (RFC 7515) with Ed25519, in its compact form, so any JOSE
//! library reads it. It does not contain the reservation id: whoever photographs the QR
//! code must not be able to cancel the booking.

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::seat::Seat;

/// `ticket1` is the version of the format.
const HEADER: &str = r#"{"alg":"EdDSA","typ":"ticket1"}"#;
/// 128 bits: nobody finds a second booking with the same ticket id.
const ID_BYTES: usize = 16;

/// What a ticket says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Names the booking without revealing its id: see [`TicketKey::ticket_id`].
    #[serde(rename = "jti")]
    pub ticket_id: String,
    /// The version of the booking. A changed booking has a new ticket.
    #[serde(rename = "ver")]
    pub version: i64,
    #[serde(rename = "show")]
    pub show_id: String,
    /// Seconds since 1970, as is `ends`.
    #[serde(rename = "start")]
    pub starts: i64,
    #[serde(rename = "exp")]
    pub ends: i64,
    /// `C5,C6`
    seats: String,
}

impl Claims {
    pub fn new(ticket_id: String, version: i64, seats: &[Seat], show: TicketShow<'_>) -> Self {
        let names: Vec<String> = seats.iter().map(Seat::to_string).collect();
        Self {
            ticket_id,
            version,
            show_id: show.id.to_owned(),
            starts: show.starts_at.div_euclid(1_000),
            ends: show.ends_at.div_euclid(1_000),
            seats: names.join(","),
        }
    }

    pub fn seats(&self) -> Vec<Seat> {
        self.seats.split(',').filter_map(Seat::parse).collect()
    }
}

/// The screening of a ticket. Times are milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct TicketShow<'a> {
    pub id: &'a str,
    pub starts_at: i64,
    pub ends_at: i64,
}

/// Why a text is not a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotATicket {
    /// It does not have the form of a ticket.
    Unreadable,
    /// It has the form, but we did not sign it.
    Forged,
}

/// The cinema's key for tickets.
pub struct TicketKey {
    pair: Ed25519KeyPair,
    ids: hmac::Key,
}

impl TicketKey {
    /// A new secret for [`TicketKey::from_secret`]; `None` if the system has no random
    /// numbers.
    pub fn new_secret() -> Option<String> {
        let mut seed = [0; 32];
        SystemRandom::new().fill(&mut seed).ok()?;
        Some(Base64UrlUnpadded::encode_string(&seed))
    }

    pub fn from_secret(secret: &str) -> Option<Self> {
        let seed = Base64UrlUnpadded::decode_vec(secret).ok()?;
        // A key of its own, so that the two uses can't interfere.
        let ids = hmac::sign(
            &hmac::Key::new(hmac::HMAC_SHA256, &seed),
            b"ticket ids of the cinema",
        );
        Some(Self {
            pair: Ed25519KeyPair::from_seed_unchecked(&seed).ok()?,
            ids: hmac::Key::new(hmac::HMAC_SHA256, ids.as_ref()),
        })
    }

    /// The ticket id of a reservation. It is a keyed hash, because ids of imported
    /// reservations can be guessed.
    pub fn ticket_id(&self, reservation_id: &str) -> String {
        let hash = hmac::sign(&self.ids, reservation_id.as_bytes());
        let bytes = hash.as_ref().get(..ID_BYTES).unwrap_or_default();
        Base64UrlUnpadded::encode_string(bytes)
    }

    pub fn sign(&self, claims: &Claims) -> serde_json::Result<String> {
        let payload = serde_json::to_vec(claims)?;
        let mut text = Base64UrlUnpadded::encode_string(HEADER.as_bytes());
        text.push('.');
        text.push_str(&Base64UrlUnpadded::encode_string(&payload));
        let signature = self.pair.sign(text.as_bytes());
        text.push('.');
        text.push_str(&Base64UrlUnpadded::encode_string(signature.as_ref()));
        Ok(text)
    }

    pub fn verify(&self, text: &str) -> Result<Claims, NotATicket> {
        let parts = || {
            let (signed, signature) = text.rsplit_once('.')?;
            let (header, payload) = signed.split_once('.')?;
            let header = Base64UrlUnpadded::decode_vec(header).ok()?;
            let payload = Base64UrlUnpadded::decode_vec(payload).ok()?;
            let claims = serde_json::from_slice::<Claims>(&payload).ok()?;
            let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
            let is_whole = header == HEADER.as_bytes() && signature.len() == 64;
            is_whole.then_some((signed, claims, signature))
        };
        let (signed, claims, signature) = parts().ok_or(NotATicket::Unreadable)?;
        UnparsedPublicKey::new(&ED25519, self.pair.public_key())
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| NotATicket::Forged)?;
        Ok(claims)
    }

    /// The public key as a JSON Web Key (RFC 8037).
    pub fn public_jwk(&self) -> Value {
        json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "x": Base64UrlUnpadded::encode_string(self.pair.public_key().as_ref()),
            "alg": "EdDSA",
            "use": "sig",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> TicketKey {
        TicketKey::from_secret(&TicketKey::new_secret().unwrap()).unwrap()
    }

    fn claims(key: &TicketKey) -> Claims {
        let seats = ["C5", "C6"].map(|seat| Seat::parse(seat).unwrap());
        let show = TicketShow {
            id: "S1",
            starts_at: 1_794_830_400_000,
            ends_at: 1_794_838_200_000,
        };
        Claims::new(key.ticket_id("rsv_secret"), 1, &seats, show)
    }

    #[test]
    fn a_ticket_survives_the_way_to_the_gate() {
        let key = key();
        let claims = claims(&key);
        let text = key.sign(&claims).unwrap();
        assert_eq!(key.verify(&text), Ok(claims.clone()));
        assert_eq!(claims.seats().len(), 2);
        assert!(text.len() < 300, "{text}");
    }

    #[test]
    fn the_secret_decides_the_key_and_the_ids() {
        let secret = TicketKey::new_secret().unwrap();
        let [one, other] = [0, 1].map(|_| TicketKey::from_secret(&secret).unwrap());
        let text = one.sign(&claims(&one)).unwrap();
        assert!(other.verify(&text).is_ok());
        assert_eq!(one.ticket_id("rsv_1"), other.ticket_id("rsv_1"));
        assert_ne!(one.ticket_id("rsv_1"), one.ticket_id("rsv_2"));
        assert_ne!(one.ticket_id("rsv_1"), key().ticket_id("rsv_1"));
        assert!(TicketKey::from_secret("short").is_none());
    }

    #[test]
    fn changed_and_foreign_tickets_are_refused() {
        let (ours, theirs) = (key(), key());
        let text = ours.sign(&claims(&ours)).unwrap();
        let signature = text.rsplit_once('.').unwrap().1;
        let mut more = claims(&ours);
        more.seats.push_str(",C7");
        let changed = ours.sign(&more).unwrap();
        let changed = format!("{}.{signature}", changed.rsplit_once('.').unwrap().0);
        let foreign = theirs.sign(&claims(&ours)).unwrap();
        let cut = text.get(..text.len() - 4).unwrap().to_owned();
        for (text, reason) in [
            (changed, NotATicket::Forged),
            (foreign, NotATicket::Forged),
            (cut, NotATicket::Unreadable),
            (text.replace('.', ""), NotATicket::Unreadable),
            (String::new(), NotATicket::Unreadable),
            ("a.b.c".to_owned(), NotATicket::Unreadable),
            (text + "!", NotATicket::Unreadable),
        ] {
            assert_eq!(ours.verify(&text), Err(reason), "{text}");
        }
    }
}
