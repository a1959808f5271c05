//! Schemas and configurations at random: whatever the protocol lets a provider declare, and what a program may say of
//! it.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value as Json, json};

/// A drawn schema of a type, with two configurations for it.
#[derive(Clone)]
pub struct Drawn {
    /// The schema's block, as engines print it.
    pub block: Json,
    /// A configuration, as JSON that engines read.
    pub first: Json,
    /// Another one.
    pub second: Json,
}

impl std::fmt::Debug for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { block, first, second } = self;
        write!(f, "\nschema {block}\nfirst {first}\nthen {second}\n")
    }
}

/// How an attribute may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Required,
    Optional,
    OptionalComputed,
    Computed,
}

#[derive(Debug, Clone)]
enum Shape {
    Plain(Json),
    Nested(&'static str, Vec<(String, Attribute)>),
}

#[derive(Debug, Clone)]
struct Attribute {
    shape: Shape,
    origin: Origin,
    sensitive: bool,
    write_only: bool,
}

#[derive(Debug, Clone)]
struct Block {
    attributes: Vec<(String, Attribute)>,
    blocks: Vec<(String, &'static str, Block)>,
}

/// A type: strings, numbers, truth values, and collections of them.
fn any_type() -> impl Strategy<Value = Json> {
    let leaf = select(vec![json!("string"), json!("number"), json!("bool")]);
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|ty| json!(["list", ty])),
            inner.clone().prop_map(|ty| json!(["set", ty])),
            inner.clone().prop_map(|ty| json!(["map", ty])),
            vec(inner.clone(), 1..3).prop_map(|types| json!(["tuple", types])),
            btree_map("[a-c]", inner, 1..3).prop_map(|types| json!(["object", types])),
        ]
    })
}

/// Names that mean something to a stand-in among those that do not.
fn names(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    let pool = [
        "arn",
        "cidr_block",
        "created_at",
        "etag",
        "a",
        "b",
        "c",
        "d",
        "ip_address",
        "name",
        "password",
        "policy",
        "region",
        "revision",
        "size",
        "status",
        "tags",
        "tags_all",
        "url",
        "zone",
    ];
    proptest::sample::subsequence(pool.map(str::to_owned).to_vec(), count)
}

fn origin() -> impl Strategy<Value = Origin> + Clone {
    select(vec![Origin::Required, Origin::Optional, Origin::OptionalComputed, Origin::Computed])
}

/// An attribute. `nested` is how much deeper it may go; what is only written has no place in a set.
fn attribute(nested: u32, in_set: bool) -> BoxedStrategy<Attribute> {
    let flags = (origin(), prop::bool::weighted(0.15), prop::bool::weighted(0.15));
    let finish = move |(shape, (origin, sensitive, write_only)): (Shape, (Origin, bool, bool))| Attribute {
        write_only: write_only
            && !in_set
            && matches!(origin, Origin::Required | Origin::Optional)
            && matches!(shape, Shape::Plain(_)),
        shape,
        origin,
        sensitive,
    };
    let plain = (any_type().prop_map(Shape::Plain), flags.clone()).prop_map(finish);
    if nested == 0 {
        return plain.boxed();
    }
    let nested = select(vec!["single", "list", "set", "map"]).prop_flat_map(move |nesting| {
        attributes(1..3, nested - 1, in_set || nesting == "set")
            .prop_map(move |attributes| Shape::Nested(nesting, attributes))
    });
    prop_oneof![3 => plain, 1 => (nested, flags).prop_map(finish)].boxed()
}

fn attributes(
    count: std::ops::Range<usize>,
    nested: u32,
    in_set: bool,
) -> BoxedStrategy<Vec<(String, Attribute)>> {
    names(count)
        .prop_flat_map(move |names| {
            let each: Vec<_> = names.iter().map(|_| attribute(nested, in_set)).collect();
            (Just(names), each).prop_map(|(names, attributes)| names.into_iter().zip(attributes).collect())
        })
        .boxed()
}

fn block(deeper: u32, in_set: bool, in_map: bool) -> BoxedStrategy<Block> {
    // Engines crash at lists within maps: fixtures/findings/map-of-blocks-crash.
    let nestings =
        if in_map { vec!["single", "group"] } else { vec!["single", "group", "list", "set", "map"] };
    let inner = if deeper == 0 {
        Just(Vec::new()).boxed()
    } else {
        let one = select(nestings).prop_flat_map(move |nesting| {
            block(deeper - 1, in_set || nesting == "set", in_map || nesting == "map")
                .prop_map(move |block| (nesting, block))
        });
        vec(one, 0..3).boxed()
    };
    (attributes(0..4, 1, in_set), inner)
        .prop_map(|(attributes, blocks)| {
            let named = blocks.into_iter().enumerate();
            let blocks = named.map(|(i, (nesting, block))| (format!("block_{i}"), nesting, block)).collect();
            Block { attributes, blocks }
        })
        .boxed()
}

impl Attribute {
    fn schema(&self) -> Json {
        let mut json = Map::new();
        match &self.shape {
            Shape::Plain(ty) => json.insert("type".to_owned(), ty.clone()),
            Shape::Nested(nesting, attributes) => {
                let nested = json!({"attributes": schemas(attributes), "nesting_mode": nesting});
                json.insert("nested_type".to_owned(), nested)
            }
        };
        let flags = [
            ("required", self.origin == Origin::Required),
            ("optional", matches!(self.origin, Origin::Optional | Origin::OptionalComputed)),
            ("computed", matches!(self.origin, Origin::Computed | Origin::OptionalComputed)),
            ("sensitive", self.sensitive),
            ("write_only", self.write_only),
        ];
        json.extend(
            flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name.to_owned(), true.into())),
        );
        json.into()
    }

    /// A value for it; null where the program leaves it out.
    fn value(&self, reference: Option<&'static str>) -> BoxedStrategy<Json> {
        let given = match &self.shape {
            Shape::Plain(ty) => value_of(ty, reference),
            Shape::Nested(nesting, attributes) => nested_value(nesting, object(attributes, reference)),
        };
        match self.origin {
            Origin::Required => given,
            Origin::Computed => Just(Json::Null).boxed(),
            Origin::Optional | Origin::OptionalComputed => prop_oneof![Just(Json::Null), given].boxed(),
        }
    }
}

fn schemas(attributes: &[(String, Attribute)]) -> Json {
    attributes
        .iter()
        .map(|(name, attribute)| (name.clone(), attribute.schema()))
        .collect::<Map<_, _>>()
        .into()
}

fn value_of(ty: &Json, reference: Option<&'static str>) -> BoxedStrategy<Json> {
    let inner = |ty: &Json| value_of(ty, reference);
    match (ty.as_str(), ty.get(0).and_then(Json::as_str), ty.get(1)) {
        (Some("string"), ..) => {
            let text = "[a-z0-9 ]{0,6}".prop_map(Json::from);
            match reference {
                Some(reference) => prop_oneof![3 => text, 1 => Just(Json::from(reference))].boxed(),
                None => text.boxed(),
            }
        }
        (Some("number"), ..) => prop_oneof![(-9i64..9).prop_map(Json::from), Just(json!(0.5))].boxed(),
        (Some(_), ..) => any::<bool>().prop_map(Json::from).boxed(),
        (_, Some("map"), Some(ty)) => btree_map("[a-c]", inner(ty), 0..3).prop_map(|map| json!(map)).boxed(),
        (_, Some("tuple"), Some(Json::Array(types))) => {
            types.iter().map(inner).collect::<Vec<_>>().prop_map(Json::from).boxed()
        }
        (_, Some("object"), Some(Json::Object(types))) => {
            let names: Vec<_> = types.keys().cloned().collect();
            let values: Vec<_> = types.values().map(inner).collect();
            values.prop_map(move |values| Json::Object(names.iter().cloned().zip(values).collect())).boxed()
        }
        (_, _, Some(ty)) => vec(inner(ty), 0..3).prop_map(Json::from).boxed(),
        _ => unreachable!("{ty} is a type"),
    }
}

/// Objects in a nested attribute.
fn nested_value(nesting: &str, object: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    match nesting {
        "single" => object,
        "map" => btree_map("[a-c]", object, 0..3).prop_map(|map| json!(map)).boxed(),
        _ => vec(object, 0..3).prop_map(Json::from).boxed(),
    }
}

fn object(attributes: &[(String, Attribute)], reference: Option<&'static str>) -> BoxedStrategy<Json> {
    let names: Vec<_> = attributes.iter().map(|(name, _)| name.clone()).collect();
    let values: Vec<_> = attributes.iter().map(|(_, attribute)| attribute.value(reference)).collect();
    values
        .prop_map(move |values| {
            let set = names.iter().cloned().zip(values).filter(|(_, value)| !value.is_null());
            Json::Object(set.collect())
        })
        .boxed()
}

impl Block {
    fn schema(&self) -> Json {
        let blocks = self.blocks.iter().map(|(name, nesting, block)| {
            (name.clone(), json!({"nesting_mode": nesting, "block": block.schema()}))
        });
        json!({"attributes": schemas(&self.attributes), "block_types": blocks.collect::<Map<_, _>>()})
    }

    fn configuration(&self, reference: Option<&'static str>) -> BoxedStrategy<Json> {
        let names: Vec<_> = self.blocks.iter().map(|(name, ..)| name.clone()).collect();
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|(_, nesting, block)| match *nesting {
                // An engine takes a group that is left out for one without anything in it.
                "single" | "group" => block.configuration(reference),
                // Engines want a label in a map of blocks.
                "map" => btree_map("[a-c]", block.configuration(reference), 1..3)
                    .prop_map(|map| json!(map))
                    .boxed(),
                _ => vec(block.configuration(reference), 0..3).prop_map(Json::from).boxed(),
            })
            .collect();
        (object(&self.attributes, reference), blocks)
            .prop_map(move |(attributes, blocks)| {
                let Json::Object(mut object) = attributes else { unreachable!("it is an object") };
                object.extend(names.iter().cloned().zip(blocks));
                Json::Object(object)
            })
            .boxed()
    }

    /// The block with what makes its objects referable: an id.
    fn with_id(mut self) -> Self {
        let id = Attribute {
            shape: Shape::Plain(json!("string")),
            origin: Origin::Computed,
            sensitive: false,
            write_only: false,
        };
        self.attributes.push(("id".to_owned(), id));
        self
    }
}

/// A schema with configurations, which may refer to another object by this expression.
pub fn drawn(reference: Option<&'static str>) -> impl Strategy<Value = Drawn> {
    block(2, false, false).prop_map(Block::with_id).prop_flat_map(move |block| {
        let schema = block.schema();
        (block.configuration(reference), block.configuration(reference))
            .prop_map(move |(first, second)| Drawn { block: schema.clone(), first, second })
    })
}
