//! Numbers of any size, kept as canonical decimal text: what they are for is comparison and transport, not arithmetic.

use std::fmt;

/// The longest number that is accepted. An engine computes with 512 bits, about 155 decimal digits.
const MAX_DIGITS: usize = 1024;

/// A number. Two numbers given in different ways (`1`, `1.0`) are equal when they are written the same way canonically:
/// integers that fit 64 bits and floats always are; longer decimals are compared as they were written.
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
    /// From decimal text. `None` if it is not a number.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_DIGITS || !is_decimal(text) {
            return None;
        }
        if let Ok(int) = text.parse::<i64>() {
            return Some(int.into());
        }
        let float: f64 = text.parse().ok()?;
        // Only a float that says exactly the same is one; anything else stays text.
        if float.is_finite() && float.to_string() == text {
            return Self::from_float(float);
        }
        Some(Self(text.to_owned()))
    }

    /// From a float. `None` for what is not a number or not finite.
    pub fn from_float(float: f64) -> Option<Self> {
        float.is_finite().then(|| {
            if float.fract() == 0.0 && float.abs() < 9.0e15 {
                Self((float as i64).to_string())
            } else {
                Self(float.to_string())
            }
        })
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
        match self.0.parse::<f64>() {
            Ok(float) if float.is_finite() && float.to_string() == self.0 => Wire::Float(float),
            _ => Wire::Text(&self.0),
        }
    }
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
    use super::*;

    #[test]
    fn the_same_number_written_in_two_ways_is_equal() {
        assert_eq!(Number::parse("1"), Number::from_float(1.0));
        assert_eq!(Number::parse("0.5"), Number::from_float(0.5));
        assert_eq!(Number::parse("-7"), Some(Number::from(-7)));
    }

    #[test]
    fn a_number_too_long_for_a_float_travels_as_text() {
        let long = "123456789012345678901234567890.5";
        assert_eq!(Number::parse(long).unwrap().wire(), Wire::Text(long));
        assert_eq!(Number::parse("0.1").unwrap().wire(), Wire::Float(0.1));
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
