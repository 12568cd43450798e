//! Money, exactly: sums of costs never drift (CTX-7).

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Billionths in one unit of a currency.
const NANOS: f64 = 1e9;

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Billionths of the currency's unit.
    pub nanos: u64,
    /// The currency.
    pub currency: Currency,
}

impl Cost {
    /// An amount in units of its currency; none where that is negative, no number, or beyond what
    /// can be counted (18 thousand million).
    pub fn of(amount: f64, currency: Currency) -> Option<Self> {
        let nanos = (amount * NANOS).round();
        // Everything below 2^64 fits exactly as what it was rounded to.
        let fits = (0.0..18_446_744_073_709_549_568.0).contains(&nanos);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is within the range of u64"
        )]
        fits.then_some(Self {
            nanos: nanos as u64,
            currency,
        })
    }

    /// The amount in units of its currency.
    #[expect(
        clippy::cast_precision_loss,
        reason = "what is shown has no more digits than that"
    )]
    pub fn amount(self) -> f64 {
        self.nanos as f64 / NANOS
    }
}

/// A currency: its three letters (ISO 4217).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// The United States dollar.
    pub const USD: Currency = Currency(*b"USD");
}

/// The text is no currency: three upper-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a currency has three upper-case letters")]
pub struct NoCurrency;

impl FromStr for Currency {
    type Err = NoCurrency;

    fn from_str(text: &str) -> Result<Self, NoCurrency> {
        let letters: [u8; 3] = text.as_bytes().try_into().map_err(|_| NoCurrency)?;
        match letters.iter().all(u8::is_ascii_uppercase) {
            true => Ok(Self(letters)),
            false => Err(NoCurrency),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl TryFrom<String> for Currency {
    type Error = NoCurrency;

    fn try_from(text: String) -> Result<Self, NoCurrency> {
        text.parse()
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

impl JsonSchema for Currency {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Currency".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A currency: its three letters (ISO 4217).",
            "type": "string",
            "pattern": "^[A-Z]{3}$",
        })
    }
}

#[cfg(test)]
mod tests;
