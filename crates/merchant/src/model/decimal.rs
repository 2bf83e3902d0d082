//! Exact decimal numbers.

use std::fmt;

use serde::de;
use serde_json::Value;

/// Why a value is not an amount or a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidNumber {
    NotANumber,
    Negative,
    NotWhole,
    TooLarge,
    /// A tax rate above 1.
    OverOne,
    /// A tax rate with more decimals than [`TaxRate::MAX_SCALE`].
    TooPrecise,
}

impl fmt::Display for InvalidNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "is not a decimal number such as 500 or 0.1",
            Self::Negative => "is negative",
            Self::NotWhole => "is not a whole number of yen",
            Self::TooLarge => "is more yen than can be written exactly",
            Self::OverOne => "is over 1; a rate of 10 % is written 0.1",
            Self::TooPrecise => "has more than 9 decimals",
        })
    }
}

impl std::error::Error for InvalidNumber {}

/// `digits / 10^scale`, without zeros at the end of the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    pub digits: i64,
    pub scale: u32,
}

impl Decimal {
    /// Plain decimals only: no exponents, no group separators, no `.5`.
    pub fn parse(text: &str) -> Result<Self, InvalidNumber> {
        let text = text.trim();
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match unsigned.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(InvalidNumber::NotANumber),
            None => (unsigned, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return Err(InvalidNumber::NotANumber);
        }
        let fraction = fraction.trim_end_matches('0');
        let scale = u32::try_from(fraction.len())
            .ok()
            .filter(|scale| *scale <= 18)
            .ok_or(InvalidNumber::TooPrecise)?;
        let mut digits = 0_i64;
        for byte in whole.bytes().chain(fraction.bytes()) {
            digits = digits
                .checked_mul(10)
                .and_then(|digits| digits.checked_add(i64::from(byte - b'0')))
                .ok_or(InvalidNumber::TooLarge)?;
        }
        Ok(Self {
            digits: if negative { -digits } else { digits },
            scale,
        })
    }

    pub fn from_json(value: &Value) -> Result<Self, InvalidNumber> {
        match value {
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Ok(Self::from(integer)),
                (None, Some(float)) => Self::from_float(float),
                (None, None) => Err(InvalidNumber::NotANumber),
            },
            Value::String(text) => Self::parse(&kit::text::narrow(text)),
            _ => Err(InvalidNumber::NotANumber),
        }
    }

    /// Uses the shortest digits of the double, so that 0.1 becomes one tenth.
    fn from_float(float: f64) -> Result<Self, InvalidNumber> {
        Self::parse(&float.to_string())
    }

    pub fn whole(self) -> Result<i64, InvalidNumber> {
        match self.scale {
            0 => Ok(self.digits),
            _ if self.digits < 0 => Err(InvalidNumber::Negative),
            _ => Err(InvalidNumber::NotWhole),
        }
    }
}

impl From<i64> for Decimal {
    fn from(digits: i64) -> Self {
        Self { digits, scale: 0 }
    }
}

/// Reads a number, which may be text in settings.
pub struct FromDecimal<F>(pub F);

impl<T, F: FnOnce(Decimal) -> Result<T, InvalidNumber>> FromDecimal<F> {
    fn read<E: de::Error>(
        self,
        decimal: Result<Decimal, InvalidNumber>,
        text: impl fmt::Display,
    ) -> Result<T, E> {
        decimal
            .and_then(self.0)
            .map_err(|invalid| E::custom(format!("`{text}` {invalid}")))
    }
}

impl<T, F: FnOnce(Decimal) -> Result<T, InvalidNumber>> de::Visitor<'_> for FromDecimal<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal number")
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<T, E> {
        self.read(Ok(Decimal::from(integer)), integer)
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<T, E> {
        let decimal = i64::try_from(integer).map_err(|_| InvalidNumber::TooLarge);
        self.read(decimal.map(Decimal::from), integer)
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<T, E> {
        self.read(Decimal::from_float(float), float)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        self.read(Decimal::parse(text), text)
    }
}
