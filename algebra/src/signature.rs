//! What resources and edges can be like: attributes with their values, and kinds of edges.
//!
//! Programs speak of them by number, so that a step stays a few bytes and a walk takes no memory. The names are those
//! of the one [`Signature::attributed`], the language of terms, graphs and rules; every other signature is a part of
//! it.

use std::sync::LazyLock;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u8);

        impl $name {
            /// The one with this number.
            pub const fn new(index: u8) -> Self {
                Self(index)
            }

            /// Its number.
            pub const fn index(self) -> u8 {
                self.0
            }

            /// Its number, to index tables with.
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

numbered! {
    /// A kind of edges, by its place in the signature.
    Kind
}

numbered! {
    /// An attribute of resources, by its place in the signature.
    AttributeId
}

numbered! {
    /// A value of an attribute, by its place among the attribute's values.
    ValueId
}

impl Kind {
    /// The kind of an edge whose kind is not said.
    pub const DEFAULT: Self = Self::REFS;
    /// `refs`
    pub const REFS: Self = Self(0);
    /// `pinned_refs`
    pub const PINNED_REFS: Self = Self(1);
    /// `depends_on`
    pub const DEPENDS_ON: Self = Self(2);
    /// `triggered_by`
    pub const TRIGGERED_BY: Self = Self(3);
    /// `triggered_by_label`
    pub const TRIGGERED_BY_LABEL: Self = Self(4);

    /// Whether it is the kind of an edge whose kind is not said.
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }
}

impl AttributeId {
    /// `label`
    pub const LABEL: Self = Self(0);
    /// `pin`
    pub const PIN: Self = Self(1);
    /// `create_before_destroy`
    pub const CREATE_BEFORE_DESTROY: Self = Self(2);
    /// `ignore_changes`
    pub const IGNORE_CHANGES: Self = Self(3);
}

impl ValueId {
    /// The value that a resource has when it is added.
    pub const DEFAULT: Self = Self(0);

    /// Whether it is the value that a resource has when it is added.
    pub const fn is_default(self) -> bool {
        self.0 == 0
    }
}

/// An attribute that every resource has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    name: String,
    values: Vec<String>,
}

impl Attribute {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values; the first is the default.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<ValueId> {
        place(&self.values, name).map(ValueId)
    }
}

/// The attributes of resources, and the kinds of edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    attributes: Vec<Attribute>,
    kinds: Vec<String>,
}

static ATTRIBUTED: LazyLock<Signature> = LazyLock::new(|| {
    let attribute = |name: &str, values: &[&str]| Attribute { name: name.to_owned(), values: owned(values) };
    Signature {
        attributes: vec![
            attribute("label", &["none", "a", "b", "c"]),
            attribute("pin", &["none", "a", "b"]),
            attribute("create_before_destroy", &["false", "true"]),
            attribute("ignore_changes", &["false", "true"]),
        ],
        kinds: owned(&["refs", "pinned_refs", "depends_on", "triggered_by", "triggered_by_label"]),
    }
});

static BARE: LazyLock<Signature> = LazyLock::new(|| Signature::part(&[], 1));

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn place(names: &[String], name: &str) -> Option<u8> {
    names.iter().position(|known| known == name).and_then(|place| u8::try_from(place).ok())
}

impl Signature {
    /// No attributes and one kind of edges: a graph is a set of resources and a set of edges.
    pub fn bare() -> &'static Self {
        &BARE
    }

    /// All attributes and kinds there are: what campaigns use, and what terms, graph JSON and rules speak of.
    pub fn attributed() -> &'static Self {
        &ATTRIBUTED
    }

    /// A part of the attributed one: so many values of each of its first attributes, and so many of its kinds.
    pub fn part(values: &[usize], kinds: usize) -> Self {
        let attributes = ATTRIBUTED.attributes.iter().zip(values).map(|(attribute, &count)| Attribute {
            name: attribute.name.clone(),
            values: attribute.values[..count].to_vec(),
        });
        Self { attributes: attributes.collect(), kinds: ATTRIBUTED.kinds[..kinds].to_vec() }
    }

    /// Whether it has no attributes and one kind of edges.
    pub fn is_bare(&self) -> bool {
        self.attributes.is_empty() && self.kinds.len() == 1
    }

    /// The attributes.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The kinds of edges; the first is the default.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<AttributeId> {
        let at = self.attributes.iter().position(|attribute| attribute.name == name)?;
        u8::try_from(at).ok().map(AttributeId)
    }

    /// The kind of this name.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        place(&self.kinds, name).map(Kind)
    }

    /// What an attribute is called.
    pub fn attribute_name(&self, attribute: AttributeId) -> &str {
        &self.attributes[attribute.at()].name
    }

    /// What a value of an attribute is called.
    pub fn value_name(&self, attribute: AttributeId, value: ValueId) -> &str {
        &self.attributes[attribute.at()].values[value.at()]
    }

    /// What a kind is called.
    pub fn kind_name(&self, kind: Kind) -> &str {
        &self.kinds[kind.at()]
    }

    /// How many values an attribute has; none if there is no such attribute.
    pub fn value_count(&self, attribute: AttributeId) -> usize {
        self.attributes.get(attribute.at()).map_or(0, |attribute| attribute.values.len())
    }

    /// All attributes, each with all its values.
    pub fn values(&self) -> impl Iterator<Item = (AttributeId, ValueId)> + '_ {
        let attributes = self.attributes.iter().zip(0..);
        attributes.flat_map(|(attribute, at)| {
            (0..).map(ValueId).take(attribute.values.len()).map(move |value| (AttributeId(at), value))
        })
    }

    /// All kinds, by number.
    pub fn kind_numbers(&self) -> impl Iterator<Item = Kind> + Clone + use<> {
        (0..).map(Kind).take(self.kinds.len())
    }

    /// In how many states a resource can be.
    pub fn states(&self) -> usize {
        self.attributes.iter().map(|attribute| attribute.values.len()).product()
    }

    /// How many graphs there are over so many resources, unless they are too many to count: over `n` resources with
    /// `d` states and `k` kinds, the sum over `m` of C(n, m) · d^m · (k+1)^(m(m−1)/2).
    pub fn graphs(&self, resources: u32) -> Option<u128> {
        let (states, edge_states) = (self.states() as u128, self.kinds.len() as u128 + 1);
        let mut choices = 1u128;
        let mut sum = 0u128;
        for present in 0..=resources {
            let pairs = present.checked_mul(present.saturating_sub(1))? / 2;
            let graphs = states.checked_pow(present)?.checked_mul(edge_states.checked_pow(pairs)?)?;
            sum = sum.checked_add(choices.checked_mul(graphs)?)?;
            choices = choices.checked_mul(u128::from(resources - present))? / u128::from(present + 1);
        }
        Some(sum)
    }

    /// The problem with the name of an attribute that there is none of.
    pub(super) fn no_attribute(&self, name: &str) -> String {
        let names: Vec<&str> = self.attributes.iter().map(Attribute::name).collect();
        format!("`{name}` is not an attribute; there are {}", listed(&names))
    }

    /// The problem with the name of a value that an attribute does not have.
    pub(super) fn no_value(&self, attribute: AttributeId, name: &str) -> String {
        let attribute = &self.attributes[attribute.at()];
        let names: Vec<&str> = attribute.values.iter().map(String::as_str).collect();
        format!("`{name}` is not a value of {}; there are {}", attribute.name, listed(&names))
    }

    /// The problem with the name of a kind that there is none of.
    pub(super) fn no_kind(&self, name: &str) -> String {
        let names: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        format!("`{name}` is not a kind of edges; there are {}", listed(&names))
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_signature_counts_the_graphs_of_the_bare_algebra() {
        let counts: Vec<u128> = (0..=7).filter_map(|resources| Signature::bare().graphs(resources)).collect();
        assert_eq!(counts, [1, 2, 5, 18, 113, 1_450, 40_069, 2_350_602]);
        assert_eq!(Signature::bare().graphs(100), None);
    }

    #[test]
    fn attributes_and_kinds_multiply_the_graphs() {
        assert_eq!(Signature::part(&[2], 2).graphs(4), Some(12_609));
        let attributed = Signature::attributed();
        assert_eq!((attributed.states(), attributed.kinds().len()), (48, 5));
        assert_eq!(attributed.graphs(2), Some(1 + 2 * 48 + 48 * 48 * 6));
    }

    #[test]
    fn constants_go_by_their_names() {
        let signature = Signature::attributed();
        let attributes = [
            AttributeId::LABEL,
            AttributeId::PIN,
            AttributeId::CREATE_BEFORE_DESTROY,
            AttributeId::IGNORE_CHANGES,
        ];
        let names = attributes.map(|attribute| signature.attribute_name(attribute));
        assert_eq!(names, ["label", "pin", "create_before_destroy", "ignore_changes"]);
        let kinds =
            [Kind::REFS, Kind::PINNED_REFS, Kind::DEPENDS_ON, Kind::TRIGGERED_BY, Kind::TRIGGERED_BY_LABEL];
        let names = kinds.map(|kind| signature.kind_name(kind));
        assert_eq!(names, ["refs", "pinned_refs", "depends_on", "triggered_by", "triggered_by_label"]);
    }

    #[test]
    fn names_and_numbers_belong_together() {
        let signature = Signature::attributed();
        for (attribute, value) in signature.values() {
            assert_eq!(signature.attribute(signature.attribute_name(attribute)), Some(attribute));
            let name = signature.value_name(attribute, value);
            assert_eq!(signature.attributes()[attribute.at()].value(name), Some(value));
        }
        for kind in signature.kind_numbers() {
            assert_eq!(signature.kind(signature.kind_name(kind)), Some(kind));
        }
    }
}
