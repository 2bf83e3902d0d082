//! Whole yen, without floating-point arithmetic: a JSON number becomes a decimal by
//! its digits, and an amount becomes `1980.0` only when it is written.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::decimal::{Decimal, FromDecimal, InvalidNumber};

/// An amount from 0 to [`Yen::MAX`], so that every JSON reader sees it exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Yen(i64);

impl Yen {
    pub const ZERO: Self = Self(0);
    /// Ninety trillion: its hundredths fit the 53 bits of a double, so every reader
    /// sees `price_jpy` and `price_cents` exactly.
    pub const MAX: Self = Self(((1 << 53) - 1) / 100);

    pub const fn new(yen: i64) -> Result<Self, InvalidNumber> {
        match yen {
            ..0 => Err(InvalidNumber::Negative),
            0..=90_071_992_547_409 => Ok(Self(yen)),
            _ => Err(InvalidNumber::TooLarge),
        }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// `price_cents` counts hundredths of a yen. Only whole hundreds are valid.
    pub const fn from_cents(cents: i64) -> Result<Self, InvalidNumber> {
        match (cents / 100, cents % 100) {
            (yen, 0) => Self::new(yen),
            _ if cents < 0 => Err(InvalidNumber::Negative),
            _ => Err(InvalidNumber::NotWhole),
        }
    }

    pub const fn cents(self) -> i64 {
        self.0 * 100
    }

    /// A `price_jpy`: `1980`, `1980.0` or `"1980.0"`.
    pub fn from_json(value: &Value) -> Result<Self, InvalidNumber> {
        Decimal::from_json(value)?.whole().and_then(Self::new)
    }

    /// A `price_cents`: `198000`, also as text.
    pub fn from_json_cents(value: &Value) -> Result<Self, InvalidNumber> {
        Self::from_cents(Decimal::from_json(value)?.whole()?)
    }

    /// `None` beyond [`Yen::MAX`].
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::new(self.0.checked_add(other.0)?).ok()
    }

    /// `None` beyond [`Yen::MAX`] and for a negative quantity.
    pub fn checked_mul(self, quantity: i64) -> Option<Self> {
        Self::new(self.0.checked_mul(quantity)?).ok()
    }
}

impl FromStr for Yen {
    type Err = InvalidNumber;

    fn from_str(text: &str) -> Result<Self, InvalidNumber> {
        Decimal::parse(text)?.whole().and_then(Self::new)
    }
}

impl fmt::Display for Yen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Written as `1980.0`: clients of the document expect a float.
impl Serialize for Yen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Exact: no amount is over 2^53.
        serializer.serialize_f64(self.0 as f64)
    }
}

impl<'de> Deserialize<'de> for Yen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FromDecimal(|decimal: Decimal| {
            decimal.whole().and_then(Self::new)
        }))
    }
}

impl JsonSchema for Yen {
    fn schema_name() -> Cow<'static, str> {
        "Yen".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

/// A share from 0 to 1, exact: 0.1 is one tenth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaxRate {
    digits: u64,
    scale: u32,
}

impl TaxRate {
    pub const MAX_SCALE: u32 = 9;
    pub const TEN_PERCENT: Self = Self {
        digits: 1,
        scale: 1,
    };

    /// Cannot overflow: the rate is at most 1, so the tax is at most `amount`.
    pub fn of(self, amount: Yen, rounding: Rounding) -> Yen {
        let unit = 10_i128.pow(self.scale);
        let exact = i128::from(amount.0) * i128::from(self.digits);
        let (whole, rest) = (exact / unit, exact % unit);
        let up = match rounding {
            Rounding::Floor => false,
            Rounding::HalfUp => rest * 2 >= unit,
            Rounding::Ceil => rest > 0,
        };
        Yen(i64::try_from(whole + i128::from(up)).unwrap_or(amount.0))
    }

    fn from_decimal(decimal: Decimal) -> Result<Self, InvalidNumber> {
        let digits = u64::try_from(decimal.digits).map_err(|_| InvalidNumber::Negative)?;
        if digits > 10_u64.saturating_pow(decimal.scale) {
            return Err(InvalidNumber::OverOne);
        }
        if decimal.scale > Self::MAX_SCALE {
            return Err(InvalidNumber::TooPrecise);
        }
        Ok(Self {
            digits,
            scale: decimal.scale,
        })
    }
}

impl FromStr for TaxRate {
    type Err = InvalidNumber;

    fn from_str(text: &str) -> Result<Self, InvalidNumber> {
        Self::from_decimal(Decimal::parse(text)?)
    }
}

impl fmt::Display for TaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u64.pow(self.scale);
        let (whole, rest) = (self.digits / unit, self.digits % unit);
        match self.scale as usize {
            0 => write!(f, "{whole}"),
            width => write!(f, "{whole}.{rest:0width$}"),
        }
    }
}

impl Serialize for TaxRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A double with at most 10 digits is written with exactly these digits.
        serializer.serialize_f64(self.to_string().parse().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for TaxRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FromDecimal(Self::from_decimal))
    }
}

impl JsonSchema for TaxRate {
    fn schema_name() -> Cow<'static, str> {
        "TaxRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

/// How a fraction of a yen in the tax is rounded: down, as most shops in Japan do;
/// half a yen and more up; or always up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    #[default]
    Floor,
    HalfUp,
    Ceil,
}

impl FromStr for Rounding {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "floor" => Ok(Self::Floor),
            "half_up" => Ok(Self::HalfUp),
            "ceil" => Ok(Self::Ceil),
            _ => Err("is none of floor, half_up and ceil"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn yen(amount: i64) -> Yen {
        Yen::new(amount).unwrap()
    }

    #[test]
    fn settings_are_read_as_decimals() {
        for text in ["500", "500.0", "500.00", " 500 "] {
            assert_eq!(text.parse(), Ok(yen(500)), "{text}");
        }
        for (text, why) in [
            ("", InvalidNumber::NotANumber),
            ("yen", InvalidNumber::NotANumber),
            ("500.", InvalidNumber::NotANumber),
            (".5", InvalidNumber::NotANumber),
            ("5e2", InvalidNumber::NotANumber),
            ("5,000", InvalidNumber::NotANumber),
            ("+500", InvalidNumber::NotANumber),
            ("NaN", InvalidNumber::NotANumber),
            ("-1", InvalidNumber::Negative),
            ("-0.5", InvalidNumber::Negative),
            ("500.5", InvalidNumber::NotWhole),
            ("90071992547410", InvalidNumber::TooLarge),
            ("99999999999999999999999", InvalidNumber::TooLarge),
        ] {
            assert_eq!(text.parse::<Yen>(), Err(why), "{text}");
        }
    }

    #[test]
    fn prices_come_in_yen_or_hundredths() {
        assert_eq!(Yen::from_json(&json!(1980)), Ok(yen(1980)));
        assert_eq!(Yen::from_json(&json!(1980.0)), Ok(yen(1980)));
        assert_eq!(Yen::from_json(&json!("１９８０.0")), Ok(yen(1980)));
        assert_eq!(Yen::from_json(&json!(1980.5)), Err(InvalidNumber::NotWhole));
        assert_eq!(Yen::from_json(&json!(null)), Err(InvalidNumber::NotANumber));
        assert_eq!(Yen::from_json_cents(&json!(198_000)), Ok(yen(1980)));
        assert_eq!(Yen::from_json_cents(&json!("198000")), Ok(yen(1980)));
        for (cents, why) in [
            (198_050, InvalidNumber::NotWhole),
            (-100, InvalidNumber::Negative),
            (-50, InvalidNumber::Negative),
            (i64::MAX, InvalidNumber::NotWhole),
            (i64::MAX - 7, InvalidNumber::TooLarge),
        ] {
            assert_eq!(Yen::from_cents(cents), Err(why), "{cents}");
        }
        assert_eq!(yen(1980).cents(), 198_000);
        assert_eq!(Yen::MAX.cents(), 9_007_199_254_740_900);
    }

    #[test]
    fn amounts_are_written_with_one_decimal_and_read_back() {
        for (amount, text) in [
            (yen(0), "0.0"),
            (yen(1980), "1980.0"),
            (Yen::MAX, "90071992547409.0"),
        ] {
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
            assert_eq!(serde_json::from_str::<Yen>(text).unwrap(), amount);
        }
        assert_eq!(serde_json::from_str::<Yen>("\"500.0\"").unwrap(), yen(500));
        let refused = serde_json::from_str::<Yen>("0.5").unwrap_err().to_string();
        assert!(refused.starts_with("`0.5` is not a whole"), "{refused}");
    }

    #[test]
    fn arithmetic_stops_at_the_largest_amount() {
        assert_eq!(Yen::MAX.checked_add(yen(1)), None);
        assert_eq!(yen(1).checked_add(yen(2)), Some(yen(3)));
        assert_eq!(Yen::MAX.checked_mul(2), None);
        assert_eq!(Yen::MAX.checked_mul(i64::MAX), None);
        assert_eq!(yen(1980).checked_mul(2), Some(yen(3960)));
        assert_eq!(yen(1980).checked_mul(-2), None);
    }

    #[test]
    fn rates_are_exact() {
        let rate = |text: &str| text.parse::<TaxRate>();
        assert_eq!(rate("0.1"), Ok(TaxRate::TEN_PERCENT));
        assert_eq!(rate("0.10"), rate("0.1"));
        for text in ["0", "1", "0.08", "0.105", "0.000000001"] {
            assert_eq!(rate(text).unwrap().to_string(), text);
            let json = serde_json::to_string(&rate(text).unwrap()).unwrap();
            assert_eq!(
                serde_json::from_str::<TaxRate>(&json).unwrap(),
                rate(text).unwrap()
            );
        }
        assert_eq!(rate("10"), Err(InvalidNumber::OverOne));
        assert_eq!(rate("1.01"), Err(InvalidNumber::OverOne));
        assert_eq!(rate("-0.1"), Err(InvalidNumber::Negative));
        assert_eq!(rate("10%"), Err(InvalidNumber::NotANumber));
        assert_eq!(rate("0.0000000001"), Err(InvalidNumber::TooPrecise));
    }

    #[test]
    fn tax_is_rounded_as_asked() {
        let tax = |amount, rounding| TaxRate::TEN_PERCENT.of(yen(amount), rounding).get();
        for (amount, floor, half_up, ceil) in
            [(0, 0, 0, 0), (10, 1, 1, 1), (14, 1, 1, 2), (15, 1, 2, 2)]
        {
            assert_eq!(tax(amount, Rounding::Floor), floor, "{amount}");
            assert_eq!(tax(amount, Rounding::HalfUp), half_up, "{amount}");
            assert_eq!(tax(amount, Rounding::Ceil), ceil, "{amount}");
        }
        let whole: TaxRate = "1".parse().unwrap();
        assert_eq!(whole.of(Yen::MAX, Rounding::Ceil), Yen::MAX);
        assert_eq!("half_up".parse(), Ok(Rounding::HalfUp));
        assert!("up".parse::<Rounding>().is_err());
    }
}
