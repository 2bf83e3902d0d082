//! Writes a message of OTLP, as protobuf or as JSON. The two say the same, so that
//! `traces` and `metrics` describe each message once.

use crate::environment::Encoding;

/// A field: its number in protobuf, its name in JSON.
#[derive(Debug, Clone, Copy)]
pub struct Field(pub u32, pub &'static str);

pub trait Message {
    fn text(&mut self, field: Field, value: &str);
    /// An id: bytes in protobuf, hexadecimal in JSON.
    fn id(&mut self, field: Field, value: &[u8]);
    /// Of 64 bits, always the same length.
    fn fixed(&mut self, field: Field, value: u64);
    fn fixed_list(&mut self, field: Field, values: &[u64]);
    fn double(&mut self, field: Field, value: f64);
    fn double_list(&mut self, field: Field, values: &[f64]);
    /// A small number, or a value of an enumeration.
    fn number(&mut self, field: Field, value: u32);
    fn flag(&mut self, field: Field, value: bool);
    fn message(&mut self, field: Field, write: &mut dyn FnMut(&mut dyn Message));
    /// `write` is called for each of `count` messages.
    fn messages(
        &mut self,
        field: Field,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Message),
    );
}

pub fn encoded(encoding: Encoding, write: impl FnOnce(&mut dyn Message)) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => {
            let mut message = Protobuf::default();
            write(&mut message);
            message.0
        }
        Encoding::Json => {
            let mut message = Json("{".into());
            write(&mut message);
            message.0.push('}');
            message.0.into_bytes()
        }
    }
}

#[derive(Default)]
struct Protobuf(Vec<u8>);

/// How a value is laid out.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
}

impl Protobuf {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: Field, wire: Wire) {
        self.varint(u64::from(field.0) << 3 | wire as u64);
    }

    fn bytes(&mut self, field: Field, value: &[u8]) {
        self.tag(field, Wire::Length);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }
}

impl Message for Protobuf {
    fn text(&mut self, field: Field, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    fn id(&mut self, field: Field, value: &[u8]) {
        self.bytes(field, value);
    }

    fn fixed(&mut self, field: Field, value: u64) {
        self.tag(field, Wire::Fixed64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn fixed_list(&mut self, field: Field, values: &[u64]) {
        let packed: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.bytes(field, &packed);
    }

    fn double(&mut self, field: Field, value: f64) {
        self.fixed(field, value.to_bits());
    }

    fn double_list(&mut self, field: Field, values: &[f64]) {
        let packed: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.bytes(field, &packed);
    }

    fn number(&mut self, field: Field, value: u32) {
        self.tag(field, Wire::Varint);
        self.varint(value.into());
    }

    fn flag(&mut self, field: Field, value: bool) {
        self.number(field, value.into());
    }

    fn message(&mut self, field: Field, write: &mut dyn FnMut(&mut dyn Message)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn messages(
        &mut self,
        field: Field,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Message),
    ) {
        for at in 0..count {
            self.message(field, &mut |inner| write(at, inner));
        }
    }
}

struct Json(String);

impl Json {
    fn name(&mut self, field: Field) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push_str(&format!("\"{}\":", field.1));
    }

    fn list<T>(&mut self, field: Field, values: &[T], shown: impl Fn(&T) -> String) {
        let values: Vec<String> = values.iter().map(shown).collect();
        self.name(field);
        self.0.push_str(&format!("[{}]", values.join(",")));
    }

    fn object(&mut self, write: &mut dyn FnMut(&mut dyn Message)) {
        self.0.push('{');
        write(self);
        self.0.push('}');
    }
}

/// JSON has no infinity.
fn shown(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        format!("\"{}\"", infinity(value))
    }
}

fn infinity(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

impl Message for Json {
    fn text(&mut self, field: Field, value: &str) {
        self.name(field);
        self.0.push_str(&serde_json::Value::from(value).to_string());
    }

    fn id(&mut self, field: Field, value: &[u8]) {
        self.name(field);
        self.0
            .push_str(&format!("\"{}\"", desk::digest::hex(value)));
    }

    fn fixed(&mut self, field: Field, value: u64) {
        self.name(field);
        self.0.push_str(&format!("\"{value}\""));
    }

    fn fixed_list(&mut self, field: Field, values: &[u64]) {
        self.list(field, values, |value| format!("\"{value}\""));
    }

    fn double(&mut self, field: Field, value: f64) {
        self.name(field);
        self.0.push_str(&shown(value));
    }

    fn double_list(&mut self, field: Field, values: &[f64]) {
        self.list(field, values, |value| shown(*value));
    }

    fn number(&mut self, field: Field, value: u32) {
        self.name(field);
        self.0.push_str(&value.to_string());
    }

    fn flag(&mut self, field: Field, value: bool) {
        self.name(field);
        self.0.push_str(&value.to_string());
    }

    fn message(&mut self, field: Field, write: &mut dyn FnMut(&mut dyn Message)) {
        self.name(field);
        self.object(write);
    }

    fn messages(
        &mut self,
        field: Field,
        count: usize,
        write: &mut dyn FnMut(usize, &mut dyn Message),
    ) {
        self.name(field);
        self.0.push('[');
        for at in 0..count {
            if at > 0 {
                self.0.push(',');
            }
            self.object(&mut |inner| write(at, inner));
        }
        self.0.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(message: &mut dyn Message) {
        message.text(Field(1, "name"), "窓\"");
        message.id(Field(2, "id"), &[0xab, 0x01]);
        message.fixed(Field(3, "time"), 300);
        message.double(Field(4, "value"), 1.5);
        message.number(Field(16, "kind"), 300);
        message.flag(Field(5, "flag"), true);
        message.messages(Field(6, "inner"), 2, &mut |at, inner| {
            inner.fixed_list(Field(1, "list"), &[at as u64]);
        });
        message.message(Field(7, "empty"), &mut |_| {});
    }

    #[test]
    fn both_encodings_have_every_field() {
        let json = encoded(Encoding::Json, write);
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let expected = serde_json::json!({
            "name": "窓\"", "id": "ab01", "time": "300", "value": 1.5, "kind": 300,
            "flag": true, "inner": [{ "list": ["0"] }, { "list": ["1"] }], "empty": {},
        });
        assert_eq!(json, expected);
        let protobuf = encoded(Encoding::Protobuf, write);
        let mut expected = vec![0x0a, 4];
        expected.extend_from_slice("窓\"".as_bytes());
        expected.extend_from_slice(&[0x12, 2, 0xab, 0x01, 0x19]);
        expected.extend_from_slice(&300_u64.to_le_bytes());
        expected.push(0x21);
        expected.extend_from_slice(&1.5_f64.to_le_bytes());
        expected.extend_from_slice(&[0x80, 0x01, 0xac, 0x02, 0x28, 1]);
        for at in 0..2_u64 {
            expected.extend_from_slice(&[0x32, 10, 0x0a, 8]);
            expected.extend_from_slice(&at.to_le_bytes());
        }
        expected.extend_from_slice(&[0x3a, 0]);
        assert_eq!(protobuf, expected);
    }
}
