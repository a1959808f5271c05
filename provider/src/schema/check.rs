//! What values have to fulfil, and what is said where they do not.

use regex::Regex;

use crate::value::{Object, Value};

/// A condition on an attribute's value. A value that is null or not known yet fulfils all of them.
#[derive(Debug, Clone)]
pub enum Check {
    /// It is one of these.
    OneOf(Vec<Value>),
    /// It is a number between these, which may be left out.
    Between(Option<f64>, Option<f64>),
    /// It is a text of at least and at most so many characters.
    Length(Option<usize>, Option<usize>),
    /// It is a text that this expression matches.
    Pattern(Regex),
    /// These attributes are not set beside it.
    ConflictsWith(Vec<String>),
    /// Its texts are ids of objects of one of these types.
    RefersTo(Vec<String>),
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Check {
    /// What is wrong with a value, as a sentence without the value itself: it may be a secret.
    pub fn broken_by(&self, value: &Value, object: &Object) -> Option<String> {
        if matches!(value, Value::Null) || !value.is_wholly_known() {
            return None;
        }
        match self {
            Self::OneOf(values) => (!values.contains(value)).then(|| {
                let values: Vec<_> =
                    values.iter().map(|value| crate::value::json::encode(value).to_string()).collect();
                format!("It must be one of {}.", values.join(", "))
            }),
            Self::Between(low, high) => {
                let Value::Number(number) = value else { return None };
                let number: f64 = number.to_string().parse().ok()?;
                let fits = low.is_none_or(|low| low <= number) && high.is_none_or(|high| number <= high);
                (!fits).then(|| format!("It must be {}.", between(low.as_ref(), high.as_ref())))
            }
            Self::Length(low, high) => {
                let length = value.as_str()?.chars().count();
                let fits = low.is_none_or(|low| low <= length) && high.is_none_or(|high| length <= high);
                (!fits).then(|| format!("Its length must be {}.", between(low.as_ref(), high.as_ref())))
            }
            Self::Pattern(pattern) => {
                (!pattern.is_match(value.as_str()?)).then(|| format!("It must match {}.", pattern.as_str()))
            }
            Self::ConflictsWith(others) => {
                let set = |name: &&String| object.get(*name).is_some_and(|value| *value != Value::Null);
                others.iter().find(set).map(|other| format!("It cannot be set together with {other:?}."))
            }
            // Whether an id is of the right type shows in the world, when the object is created.
            Self::RefersTo(_) => None,
        }
    }
}

fn between<T: std::fmt::Display>(low: Option<&T>, high: Option<&T>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("between {low} and {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "any".to_owned(),
    }
}
