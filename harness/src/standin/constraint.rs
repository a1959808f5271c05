//! Versions of providers, and the constraints that programs put on them: `~> 5.0`, `>= 4.9, < 6.0, != 5.2.1`.

use std::fmt::{self, Display};
use std::str::FromStr;

use semver::Version;

/// The version of a provider of which nothing is known: one that `>=` allows.
pub const UNKNOWN_VERSION: Version = Version::new(99, 0, 0);

/// A version as programs write it, in which numbers may be missing: `5`, `v5.31`, `5.31.0-beta1`.
pub fn version(text: &str) -> Option<Version> {
    parts(text).map(|(version, _)| version)
}

/// A version, and how many of its three numbers were written.
fn parts(text: &str) -> Option<(Version, usize)> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let written = numbers.split('.').count();
    let missing = match written {
        1 => ".0.0",
        2 => ".0",
        3 => "",
        _ => return None,
    };
    Version::parse(&format!("{numbers}{missing}{rest}")).ok().map(|version| (version, written))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// At least this, and only the last number that was written may grow.
    Pessimistic,
}

/// The longer ones first: one may begin as another does.
const RELATIONS: [(&str, Relation); 7] = [
    ("~>", Relation::Pessimistic),
    (">=", Relation::GreaterOrEqual),
    ("<=", Relation::LessOrEqual),
    ("!=", Relation::NotEqual),
    (">", Relation::Greater),
    ("<", Relation::Less),
    ("=", Relation::Equal),
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    relation: Relation,
    version: Version,
    written: usize,
}

impl Bound {
    fn allows(&self, version: &Version) -> bool {
        match self.relation {
            Relation::Equal => *version == self.version,
            Relation::NotEqual => *version != self.version,
            Relation::Greater => *version > self.version,
            Relation::GreaterOrEqual => *version >= self.version,
            Relation::Less => *version < self.version,
            Relation::LessOrEqual => *version <= self.version,
            Relation::Pessimistic => {
                *version >= self.version
                    && match self.written {
                        1 | 2 => version.major == self.version.major,
                        _ => (version.major, version.minor) == (self.version.major, self.version.minor),
                    }
            }
        }
    }

    /// Versions near to it, of which one may be allowed.
    fn candidates(&self) -> Vec<Version> {
        let Version { major, minor, patch, .. } = self.version;
        let mut near = vec![self.version.clone(), Version::new(major, minor, patch + 1)];
        near.extend([Version::new(major, minor + 1, 0), Version::new(major + 1, 0, 0)]);
        near.extend(major.checked_sub(1).map(|major| Version::new(major, 0, 0)));
        near.extend(minor.checked_sub(1).map(|minor| Version::new(major, minor, 0)));
        near.extend(patch.checked_sub(1).map(|patch| Version::new(major, minor, patch)));
        near
    }
}

/// What a version has to be: all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints(Vec<Bound>, String);

/// A text that is no constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version constraint; write one such as `~> 5.0` or `>= 4.9, < 6.0`")]
pub struct ConstraintError(String);

impl Constraints {
    /// Whether a version is allowed. One before a release is allowed only if it is named.
    pub fn allow(&self, version: &Version) -> bool {
        let is_named =
            || self.0.iter().any(|bound| bound.relation == Relation::Equal && bound.version == *version);
        self.0.iter().all(|bound| bound.allows(version)) && (version.pre.is_empty() || is_named())
    }

    /// Adds other ones, which have to hold as well.
    pub fn add(&mut self, other: Self) {
        self.1 = match (self.1.as_str(), other.1.as_str()) {
            ("", text) | (text, "") => text.to_owned(),
            (one, other) if one == other => one.to_owned(),
            (one, other) => format!("{one}, {other}"),
        };
        self.0.extend(other.0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A version that is allowed: the lowest of those that come to mind; none if nothing does.
    pub fn pick(&self) -> Option<Version> {
        if self.is_empty() {
            return Some(UNKNOWN_VERSION);
        }
        let near = self.0.iter().flat_map(Bound::candidates);
        near.filter(|version| self.allow(version)).min()
    }
}

impl Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.1)
    }
}

impl FromStr for Constraints {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let error = || ConstraintError(text.to_owned());
        let mut bounds = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (relation, rest) = RELATIONS
                .iter()
                .find_map(|(sign, relation)| Some((*relation, part.strip_prefix(sign)?)))
                .unwrap_or((Relation::Equal, part));
            let (version, written) = parts(rest).ok_or_else(error)?;
            bounds.push(Bound { relation, version, written });
        }
        Ok(Self(bounds, text.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allows(constraint: &str, given: &str) -> bool {
        constraint.parse::<Constraints>().unwrap().allow(&version(given).unwrap())
    }

    #[test]
    fn relations_mean_what_engines_take_them_for() {
        let cases = [
            ("~> 5.0", "5.31.2", true),
            ("~> 5.0", "6.0.0", false),
            ("~> 5.31.0", "5.31.9", true),
            ("~> 5.31.0", "5.32.0", false),
            ("~> 5", "6.1.0", false),
            (">= 4.9, < 6.0", "5.99.0", true),
            (">= 4.9, < 6.0", "6.0.0", false),
            ("5.2", "5.2.0", true),
            ("= 5.2.1", "5.2.0", false),
            ("!= 5.2.1", "5.2.1", false),
            ("> 1.0.0", "1.0.0", false),
            ("<=1.0.0", "1.0.0", true),
            (">= 1.0.0", "2.0.0-beta1", false),
            ("2.0.0-beta1", "2.0.0-beta1", true),
        ];
        for (constraint, version, expected) in cases {
            assert_eq!(allows(constraint, version), expected, "{constraint} and {version}");
        }
        for text in ["", "~>", "5.x", ">= 1 2", "=> 1.0", "1.2.3.4"] {
            assert!(text.parse::<Constraints>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_version_that_is_allowed_is_found() {
        let pick =
            |text: &str| text.parse::<Constraints>().unwrap().pick().map(|version| version.to_string());
        assert_eq!(pick(">= 3.0").unwrap(), "3.0.0");
        assert_eq!(pick("~> 5.31").unwrap(), "5.31.0");
        assert_eq!(pick("< 4.0").unwrap(), "3.0.0");
        assert_eq!(pick(">= 3.0, != 3.0.0").unwrap(), "3.0.1");
        assert_eq!(pick("> 2.1.0, < 2.2.0").unwrap(), "2.1.1");
        assert_eq!(pick("> 2.0.0, < 1.0.0"), None);
        assert_eq!(Constraints::default().pick(), Some(UNKNOWN_VERSION));
        let mut both: Constraints = "~> 5.0".parse().unwrap();
        both.add(">= 5.20".parse().unwrap());
        assert_eq!(
            (both.pick().unwrap().to_string(), both.to_string()),
            ("5.20.0".into(), "~> 5.0, >= 5.20".into())
        );
    }

    proptest! {
        #[test]
        fn what_is_picked_is_allowed_and_a_single_bound_allows_something(
            sign in 0..RELATIONS.len(),
            numbers in prop::collection::vec(0u64..30, 1..=3),
        ) {
            let version: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let text = format!("{} {}", RELATIONS[sign].0, version.join("."));
            let constraints: Constraints = text.parse().unwrap();
            match constraints.pick() {
                Some(picked) => prop_assert!(constraints.allow(&picked)),
                None => prop_assert!(RELATIONS[sign].0 == "<" && numbers.iter().all(|number| *number == 0)),
            }
        }
    }
}
