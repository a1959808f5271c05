//! Numbers of any size, kept as canonical decimal text: what they are for is comparison and transport, not arithmetic.

use std::fmt;

/// The longest number that is accepted: the exact decimals of any float fit. An engine computes with 512 bits, about
/// 155 decimal digits.
const MAX_LENGTH: usize = 1100;
/// The same without zeros at either end. A float has at most 767.
const MAX_DIGITS: usize = 1000;

/// A number, exactly. However it was given (`1`, `1.0`, `10e-1`, a float), the same number is kept as the same text.
///
/// A float stands for its exact decimals, as it does for engines: they send 0.1 as text, because no float is 0.1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(String);

/// How a number travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Wire<'a> {
    /// As an integer.
    Int(i64),
    /// As a float, exactly.
    Float(f64),
    /// As decimal text.
    Text(&'a str),
}

impl Number {
    /// From decimal text. `None` if it is not a number, or one of a size that no engine computes with.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH || !is_decimal(text) {
            return None;
        }
        canonical(text).map(Self)
    }

    /// From a float. `None` for what is not a number or not finite.
    pub fn from_float(float: f64) -> Option<Self> {
        // The smallest float has 1074 decimals.
        let places = if float.fract() == 0.0 { 0 } else { 1074 };
        float.is_finite().then(|| Self::parse(&format!("{float:.places$}"))).flatten()
    }

    /// The number as an integer of 64 bits, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The form in which the number travels.
    pub fn wire(&self) -> Wire<'_> {
        if let Some(int) = self.as_i64() {
            return Wire::Int(int);
        }
        match self.0.parse() {
            Ok(float) if Self::from_float(float).as_ref() == Some(self) => Wire::Float(float),
            _ => Wire::Text(&self.0),
        }
    }

    /// The number as JSON: a JSON number where that reads back as the same one, else decimal text.
    pub fn to_json(&self) -> serde_json::Value {
        if let Some(int) = self.as_i64() {
            return int.into();
        }
        let float = self.0.parse().ok().and_then(serde_json::Number::from_f64);
        match float {
            Some(float) if Self::parse(&float.to_string()).as_ref() == Some(self) => float.into(),
            _ => self.0.as_str().into(),
        }
    }
}

/// The one way to write a number: no sign but a minus, no zeros that say nothing, an exponent only where the
/// digits would be too many.
fn canonical(text: &str) -> Option<String> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let exponent = i64::from(exponent.parse::<i32>().ok()?) - fraction.len() as i64
        + (digits.len() - significant.len()) as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    let places = usize::try_from(exponent.unsigned_abs()).ok()?;
    let length = if exponent >= 0 { significant.len() + places } else { significant.len().max(places) };
    Some(if significant.len() > MAX_DIGITS {
        return None;
    } else if length > MAX_LENGTH - 3 {
        format!("{sign}{significant}e{exponent}")
    } else if exponent >= 0 {
        format!("{sign}{significant}{}", "0".repeat(places))
    } else if places < significant.len() {
        let (whole, fraction) = significant.split_at(significant.len() - places);
        format!("{sign}{whole}.{fraction}")
    } else {
        format!("{sign}0.{}{significant}", "0".repeat(places - significant.len()))
    })
}

fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(mantissa),
    };
    mantissa_ok
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(int.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_same_number_written_in_two_ways_is_equal() {
        assert_eq!(Number::parse("1"), Number::from_float(1.0));
        assert_eq!(Number::parse("0.5"), Number::from_float(0.5));
        assert_eq!(Number::parse("-7"), Some(Number::from(-7)));
        for same in ["1.50", "+1.5", "15e-1", "0.15E+1", "0001.5", "1.5e0"] {
            assert_eq!(Number::parse(same), Number::from_float(1.5), "{same}");
        }
        for zero in ["0", "-0", "0.0", "0e5", "-0.00e-7"] {
            assert_eq!(Number::parse(zero), Some(Number::from(0)), "{zero}");
        }
    }

    #[test]
    fn a_float_stands_for_its_exact_decimals() {
        let tenth = "0.1000000000000000055511151231257827021181583404541015625";
        assert_eq!(Number::from_float(0.1), Number::parse(tenth));
        assert_eq!(Number::from_float(1e23), Number::parse("99999999999999991611392"));
        assert_eq!(Number::from_float(f64::MIN_POSITIVE).unwrap().wire(), Wire::Float(f64::MIN_POSITIVE));
        assert_eq!(Number::from_float(5e-324).unwrap().wire(), Wire::Float(5e-324));
        assert_eq!(Number::from_float(f64::MAX).unwrap().wire(), Wire::Float(f64::MAX));
    }

    #[test]
    fn a_number_with_a_large_exponent_stays_small() {
        let number = Number::parse("12e1000000").unwrap();
        assert_eq!(number.to_string(), "12e1000000");
        assert_eq!(number.wire(), Wire::Text("12e1000000"));
        assert_eq!(Number::parse("1e99999999999"), None);
    }

    proptest! {
        #[test]
        fn any_float_survives_the_wire_and_json(float in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
            let number = Number::from_float(float).unwrap();
            let back = match number.wire() {
                Wire::Int(int) => Number::from(int),
                Wire::Float(float) => Number::from_float(float).unwrap(),
                Wire::Text(text) => return Err(TestCaseError::fail(format!("{float} travels as {text}"))),
            };
            prop_assert_eq!(&back, &number);
            let json = match number.to_json() {
                serde_json::Value::String(text) => text,
                json => json.to_string(),
            };
            prop_assert_eq!(Number::parse(&json), Some(number));
        }

        #[test]
        fn a_number_reads_back_as_it_was_written(text in "[-+]?[0-9]{1,30}([.][0-9]{1,30})?([eE][-+]?[0-9]{1,4})?") {
            let number = Number::parse(&text).unwrap();
            prop_assert_eq!(Number::parse(&number.to_string()), Some(number));
        }
    }

    #[test]
    fn a_number_too_long_for_a_float_travels_as_text() {
        let long = "123456789012345678901234567890.5";
        assert_eq!(Number::parse(long).unwrap().wire(), Wire::Text(long));
        assert_eq!(Number::parse("0.1").unwrap().wire(), Wire::Text("0.1"));
        assert_eq!(Number::parse("0.5").unwrap().wire(), Wire::Float(0.5));
    }

    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["", "-", "1.", ".5", "1e", "inf", "NaN", "0x10", "1 2", "١"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::from_float(f64::NAN), None);
        assert_eq!(Number::from_float(f64::INFINITY), None);
    }
}
