//! How likely values and kinds are where they are drawn.

use rand::{Rng, RngExt};

use super::signature::{AttributeId, Kind, Signature, ValueId};

/// A weight for each value of each attribute, and for each kind: what is drawn is as likely as its weight is large. An
/// attribute with one value that weighs anything is left alone, and so are kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    attributes: Vec<Vec<u32>>,
    kinds: Vec<u32>,
}

static BARE: Weights = Weights { attributes: Vec::new(), kinds: Vec::new() };

impl Weights {
    /// Nothing to draw: the weights of the bare algebra.
    pub fn bare() -> &'static Self {
        &BARE
    }

    /// All values of an attribute are equally likely, and all kinds.
    pub fn even(signature: &Signature) -> Self {
        let attributes = signature.attributes().iter().map(|attribute| vec![1; attribute.values().len()]);
        Self { attributes: attributes.collect(), kinds: vec![1; signature.kinds().len()] }
    }

    /// Half of all values are defaults, and half of all edges have the default kind; the others are equally likely.
    pub fn half_default(signature: &Signature) -> Self {
        let halves = |count: usize| {
            let others = count.saturating_sub(1);
            let default = u32::try_from(others).expect("a few names").max(1);
            std::iter::once(default).chain(std::iter::repeat_n(1, others)).collect::<Vec<u32>>()
        };
        let attributes = signature.attributes().iter().map(|attribute| halves(attribute.values().len()));
        Self { attributes: attributes.collect(), kinds: halves(signature.kinds().len()) }
    }

    /// The same with these weights for the values of an attribute, the default first. There is one for each value.
    #[must_use]
    pub fn with_values(mut self, attribute: AttributeId, weights: &[u32]) -> Self {
        assert_eq!(self.attributes[attribute.at()].len(), weights.len(), "a weight for each value");
        self.attributes[attribute.at()] = weights.to_vec();
        self
    }

    /// The same with these weights for the kinds, the default first. There is one for each kind.
    #[must_use]
    pub fn with_kinds(mut self, weights: &[u32]) -> Self {
        assert_eq!(self.kinds.len(), weights.len(), "a weight for each kind");
        self.kinds = weights.to_vec();
        self
    }

    /// How many attributes there are weights for.
    pub fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    /// The attributes that have a choice of values.
    pub fn varied(&self) -> impl Iterator<Item = AttributeId> + '_ {
        (0..).map(AttributeId::new).zip(&self.attributes).filter(|(_, w)| is_choice(w)).map(|(id, _)| id)
    }

    /// Whether there is a choice of kinds.
    pub fn varies_kinds(&self) -> bool {
        is_choice(&self.kinds)
    }

    /// Draws a value; the default, without drawing, if there is no choice.
    pub fn value(&self, attribute: AttributeId, rng: &mut impl Rng) -> ValueId {
        ValueId::new(draw(&self.attributes[attribute.at()], None, rng))
    }

    /// Draws a value other than this one, for an attribute that has a choice.
    pub fn other_value(&self, attribute: AttributeId, than: ValueId, rng: &mut impl Rng) -> ValueId {
        ValueId::new(draw(&self.attributes[attribute.at()], Some(than.at()), rng))
    }

    /// Draws a kind; the default, without drawing, if there is no choice.
    pub fn kind(&self, rng: &mut impl Rng) -> Kind {
        Kind::new(draw(&self.kinds, None, rng))
    }

    /// Draws a kind other than this one, if there is a choice.
    pub fn other_kind(&self, than: Kind, rng: &mut impl Rng) -> Kind {
        Kind::new(draw(&self.kinds, Some(than.at()), rng))
    }
}

fn is_choice(weights: &[u32]) -> bool {
    weights.iter().filter(|&&weight| weight > 0).count() > 1
}

fn draw(weights: &[u32], except: Option<usize>, rng: &mut impl Rng) -> u8 {
    if !is_choice(weights) {
        return 0;
    }
    let weight = |at: usize| if Some(at) == except { 0 } else { u64::from(weights[at]) };
    let mut left = rng.random_range(0..(0..weights.len()).map(weight).sum::<u64>());
    let drawn = (0..weights.len()).find(|&at| {
        let here = left < weight(at);
        left = left.wrapping_sub(weight(at));
        here
    });
    u8::try_from(drawn.expect("less than the sum")).expect("a few names")
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn what_is_drawn_is_as_likely_as_its_weight_and_never_the_exception() {
        let label = AttributeId::new(0);
        let weights = Weights::even(Signature::attributed()).with_values(label, &[3, 0, 1, 4]);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0; 4];
        (0..8000).for_each(|_| counts[weights.value(label, &mut rng).at()] += 1);
        assert!(counts[1] == 0 && (2800..3200).contains(&counts[0]) && (3800..4200).contains(&counts[3]));
        for _ in 0..500 {
            let other = weights.other_value(label, ValueId::new(3), &mut rng);
            assert!([0, 2].contains(&other.index()), "{other:?}");
        }
    }

    #[test]
    fn without_a_choice_nothing_is_drawn() {
        let signature = Signature::attributed();
        let weights = Weights::half_default(signature).with_kinds(&[1, 0, 0, 0, 0]);
        let weights = weights.with_values(AttributeId::new(1), &[1, 0, 0]);
        assert!(!weights.varies_kinds());
        assert_eq!(weights.varied().map(AttributeId::index).collect::<Vec<_>>(), [0, 2, 3]);
        let (mut used, fresh) = (ChaCha8Rng::seed_from_u64(1), ChaCha8Rng::seed_from_u64(1));
        assert_eq!(weights.kind(&mut used), Kind::DEFAULT);
        assert_eq!(weights.value(AttributeId::new(1), &mut used), ValueId::DEFAULT);
        assert_eq!(used, fresh);
    }
}
