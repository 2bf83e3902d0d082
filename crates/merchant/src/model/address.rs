//! Where to send things: the W3C's `ContactAddress` as payment protocols use it.

use std::collections::BTreeMap;

use kit::{Error, Result, Warning};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::errors;

/// In characters, of one field or one line.
pub const MAX_TEXT: usize = 200;
pub const MAX_LINES: usize = 10;
/// How many unknown fields the warnings name.
const MOST_WARNINGS: usize = 5;
/// In bytes of JSON, unknown fields included.
pub const MAX_BYTES: usize = 16 * 1024;

/// An address that is not empty. It keeps the form in which it was given, because the
/// flat mandate repeats it so. It is also stored in that form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Address {
    given: Map<String, Value>,
    fields: ContactAddress,
    /// Fields that no address has. Only the flat mandate repeats them.
    unknown: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactAddress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependent_locality: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sorting_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_line: Option<Vec<String>>,
}

impl Address {
    /// Reads `postalCode` as well as `postal_code`, and ignores unknown fields. `null`,
    /// `{}` and an address of blanks are `None`. An address with only unknown fields
    /// is an error.
    pub fn parse(address: &Value) -> Result<Option<Self>> {
        let given = match address {
            Value::Object(given) => given,
            Value::Null => return Ok(None),
            _ => return Err(errors::invalid_address(None, "is not an object")),
        };
        if address.to_string().len() > MAX_BYTES {
            return Err(errors::invalid_address(None, "is too long"));
        }
        if !printable(address) {
            return Err(errors::invalid_address(None, "has control characters"));
        }
        let mut seen: BTreeMap<String, &Value> = BTreeMap::new();
        let mut fields = ContactAddress::default();
        let mut unknown = Vec::new();
        for (name, value) in given {
            let plain = snake_case(name);
            if matches!(&*plain, "address_line" | "address" | "street") {
                fields.address_line = lines(name, value)?;
            } else if let Some(field) = fields.text(&plain) {
                *field = text(name, value)?;
            } else {
                if says_something(value) {
                    unknown.push(name.clone());
                }
                continue;
            }
            if seen
                .insert(plain, value)
                .is_some_and(|before| before != value)
            {
                let what = "is given twice with different values";
                return Err(errors::invalid_address(Some(name), what));
            }
        }
        if fields == ContactAddress::default() {
            if says_something(address) {
                return Err(errors::invalid_address(
                    None,
                    "has none of the known fields",
                ));
            }
            return Ok(None);
        }
        Ok(Some(Self {
            given: given.clone(),
            fields,
            unknown,
        }))
    }

    /// Refuses an address that names no place. Part of an address is enough: a customer
    /// may give the rest when paying.
    pub fn check_deliverable(&self) -> Result<()> {
        let fields = &self.fields;
        let is_place = fields.country.is_some()
            || fields.address_line.is_some()
            || fields.city.is_some()
            || fields.region.is_some()
            || fields.postal_code.is_some()
            || fields.dependent_locality.is_some();
        match is_place {
            true => Ok(()),
            false => Err(errors::invalid_address(
                None,
                "does not say where to deliver",
            )),
        }
    }

    pub fn given(&self) -> &Map<String, Value> {
        &self.given
    }

    pub fn fields(&self) -> &ContactAddress {
        &self.fields
    }

    /// Names the fields that are not part of an address, and a missing address line.
    pub fn warnings(&self) -> Vec<Warning> {
        let warning = |name: &String| {
            let field = format!("shipping_address.{}", kit::text::cut(name, 60).0);
            let message = format!("`{field}` is unknown; no parcel will have it on its label.");
            Warning::new("UNKNOWN_ARGUMENT", message).detail("field", field)
        };
        let incomplete = self.fields.address_line.is_none().then(|| {
            let message =
                "shipping_address has no addressLine; nothing can be delivered without it.";
            Warning::new("INCOMPLETE_ADDRESS", message)
        });
        let unknown = self.unknown.iter().take(MOST_WARNINGS).map(warning);
        unknown.chain(incomplete).collect()
    }
}

impl TryFrom<Value> for Address {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        Self::parse(&value)?.ok_or_else(|| errors::invalid_address(None, "is empty"))
    }
}

impl From<Address> for Value {
    fn from(address: Address) -> Self {
        Self::Object(address.given)
    }
}

impl ContactAddress {
    fn text(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "city" => &mut self.city,
            "country" => &mut self.country,
            "dependent_locality" => &mut self.dependent_locality,
            "organization" | "company" => &mut self.organization,
            // The W3C's own name for it is `phone`.
            "phone_number" | "phone" | "tel" => &mut self.phone_number,
            "postal_code" | "postcode" | "zip" | "zip_code" => &mut self.postal_code,
            "recipient" | "name" => &mut self.recipient,
            "region" | "state" | "prefecture" => &mut self.region,
            "sorting_code" => &mut self.sorting_code,
            _ => return None,
        })
    }
}

/// `postal_code` for `postalCode`.
pub(super) fn snake_case(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            plain.push('_');
        }
        plain.push(letter.to_ascii_lowercase());
    }
    plain
}

fn text(name: &str, value: &Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.chars().count() <= MAX_TEXT => {
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
        Value::String(_) => Err(errors::invalid_address(
            Some(name),
            &format!("is longer than {MAX_TEXT} characters"),
        )),
        _ => Err(errors::invalid_address(Some(name), "is not text")),
    }
}

fn lines(name: &str, value: &Value) -> Result<Option<Vec<String>>> {
    let given = match value {
        Value::Array(lines) => lines.as_slice(),
        one => std::slice::from_ref(one),
    };
    if given.len() > MAX_LINES {
        let what = format!("has more than {MAX_LINES} lines");
        return Err(errors::invalid_address(Some(name), &what));
    }
    let mut lines = Vec::with_capacity(given.len());
    for line in given {
        lines.extend(text(name, line)?);
    }
    Ok(Some(lines).filter(|lines| !lines.is_empty()))
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(members) => members.values().any(says_something),
    }
}

/// Databases refuse NUL, and no address has the other control characters. Line breaks
/// are allowed.
fn printable(value: &Value) -> bool {
    let fine =
        |text: &str| !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    match value {
        Value::String(text) => fine(text),
        Value::Array(items) => items.iter().all(printable),
        Value::Object(members) => members
            .iter()
            .all(|(name, value)| fine(name) && printable(value)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(address: Value) -> Value {
        let address = Address::parse(&address).unwrap().unwrap();
        serde_json::to_value(address.fields()).unwrap()
    }

    #[test]
    fn both_spellings_are_one_address() {
        let camel = json!({
            "recipient": "山田太郎", "addressLine": ["東京都渋谷区1-2-3"], "city": "渋谷区",
            "country": "JP", "postalCode": "150-0001", "dependentLocality": "神宮前",
            "organization": "窓口", "phoneNumber": "03-0000-0000", "region": "東京都",
            "sortingCode": "1",
        });
        let snake = json!({
            "recipient": "山田太郎", "address_line": ["東京都渋谷区1-2-3"], "city": "渋谷区",
            "country": "JP", "postal_code": "150-0001", "dependent_locality": "神宮前",
            "organization": "窓口", "phone_number": "03-0000-0000", "region": "東京都",
            "sorting_code": "1",
        });
        assert_eq!(fields(camel.clone()), snake);
        assert_eq!(fields(snake.clone()), snake);
        let kept = Address::parse(&camel).unwrap().unwrap();
        assert_eq!(Value::Object(kept.given().clone()), camel);
        let again: Address = serde_json::from_value(serde_json::to_value(&kept).unwrap()).unwrap();
        assert_eq!(again, kept);
    }

    #[test]
    fn what_is_left_open_is_left_out() {
        assert_eq!(
            fields(json!({
                "phone": " 03 ", "region": null, "city": " ", "addressLine": "渋谷区1-2-3",
                "note": { "floor": 3 }, "postalCode": "1", "postal_code": "1",
            })),
            json!({ "phone_number": "03", "postal_code": "1", "address_line": ["渋谷区1-2-3"] })
        );
        for none in [
            json!(null),
            json!({}),
            json!({ "city": null, "addressLine": [""] }),
            json!({ "note": " ", "more": [null, {}] }),
        ] {
            assert_eq!(Address::parse(&none).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (address, field) in [
            (json!("Tokyo"), json!(null)),
            (json!([]), json!(null)),
            (json!({ "planet": "Mars", "note": "1-2-3" }), json!(null)),
            (json!({ "city": 1 }), json!("city")),
            (json!({ "postalCode": 1_500_001 }), json!("postalCode")),
            (json!({ "city": "x".repeat(MAX_TEXT + 1) }), json!("city")),
            (json!({ "addressLine": [["x"]] }), json!("addressLine")),
            (
                json!({ "addressLine": vec!["x"; MAX_LINES + 1] }),
                json!("addressLine"),
            ),
            (
                json!({ "postalCode": "1", "postal_code": "2" }),
                json!("postal_code"),
            ),
            (json!({ "city": "a\u{0}" }), json!(null)),
            (
                json!({ "city": "x", "note": { "a": ["\u{1b}[2J"] } }),
                json!(null),
            ),
            (
                json!({ "city": "x", "note": "x".repeat(MAX_BYTES) }),
                json!(null),
            ),
        ] {
            let refused = Address::parse(&address).unwrap_err();
            assert_eq!(refused.code, "INVALID_ADDRESS", "{address}");
            assert_eq!(refused.details.unwrap()["field"], field, "{address}");
        }
    }

    #[test]
    fn a_refused_address_says_what_is_wrong() {
        let long = "x".repeat(MAX_TEXT + 1);
        for (city, what) in [
            (json!(1), "shipping_address.city is not text.".to_owned()),
            (
                json!(long),
                format!("shipping_address.city is longer than {MAX_TEXT} characters."),
            ),
        ] {
            let refused = Address::parse(&json!({ "city": city })).unwrap_err();
            assert_eq!(refused.message, what);
        }
    }
}
