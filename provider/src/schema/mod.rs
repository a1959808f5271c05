//! Schemas: what attributes and blocks an object has, who sets them, and what becomes of the object when they change.
//!
//! The same form serves the mock's own types, types from a file, and the schema of a provider that is stood in for.

mod check;

use std::collections::BTreeMap;

pub use check::Check;

use crate::value::{Type, Value};

/// Who sets an attribute. An attribute that is optional and computed is the provider's where the program leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The program must.
    Required,
    /// The program may.
    Optional,
    /// The program may, and otherwise the provider does.
    OptionalComputed,
    /// The provider does.
    Computed,
}

impl Origin {
    /// Whether the value may come from the provider.
    pub fn is_computed(self) -> bool {
        matches!(self, Self::Computed | Self::OptionalComputed)
    }

    /// Whether the program may leave it out although it could set it.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::OptionalComputed)
    }
}

/// What a changed attribute means for its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnChange {
    /// The object is updated in place.
    #[default]
    Update,
    /// The object is replaced by a new one.
    Replace,
}

/// How the provider computes an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// A value that fits its name and type, once: it stays as long as the object lives.
    Once,
    /// The same, anew with every change of the object.
    EachChange,
    /// The object's id.
    Id,
    /// 1 for a new object, one more with every change.
    Revision,
    /// Always this value, which is known when a change is planned.
    Constant(Value),
    /// Always this value, which is known when a change is done.
    Value(Value),
    /// The value of another attribute of the object.
    CopyOf(String),
    /// A text with the values of other attributes in it, such as `arn:cloud:disk/{id}`.
    Format(Vec<Piece>),
    /// One state after the other: each with the number of reads after which the next begins.
    States(Vec<(u64, String)>),
}

impl Rule {
    /// Whether the value is another after every change.
    pub fn changes_each_time(&self) -> bool {
        matches!(self, Self::EachChange | Self::Revision)
    }
}

/// A part of a formatted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it is.
    Text(String),
    /// The value of an attribute of the object.
    Attribute(String),
}

/// What an attribute holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A value of a type.
    Plain(Type),
    /// Objects with attributes of their own.
    Nested(Nesting, Vec<Attribute>),
}

/// How objects stand in an attribute, or blocks in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// One, or none.
    Single,
    /// One that is always there; blocks only.
    Group,
    /// Several in order.
    List,
    /// Several without order.
    Set,
    /// Several by name.
    Map,
}

impl Nesting {
    /// The type of the whole, given that of one of its objects.
    pub fn of(self, object: Type) -> Type {
        match self {
            Self::Single | Self::Group => object,
            Self::List => Type::List(Box::new(object)),
            Self::Set => Type::Set(Box::new(object)),
            Self::Map => Type::Map(Box::new(object)),
        }
    }
}

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub shape: Shape,
    /// Who sets it.
    pub origin: Origin,
    /// What its change means.
    pub on_change: OnChange,
    /// How it is computed, where it is.
    pub rule: Rule,
    /// The value that it has where the program leaves it out.
    pub default: Option<Value>,
    /// What its value has to fulfil.
    pub checks: Vec<Check>,
    /// Whether the texts in it are ids of objects that this one depends on.
    pub refers: bool,
    /// Whether people may not see it.
    pub sensitive: bool,
    /// Whether it is only ever sent, and never kept.
    pub write_only: bool,
    /// Whether it should not be used any more.
    pub deprecated: bool,
    /// Documentation that engines show to their users.
    pub description: String,
}

impl Attribute {
    /// An attribute whose change is an update, and that is plain in every other respect.
    pub fn new(name: impl Into<String>, shape: Shape, origin: Origin) -> Self {
        Self {
            name: name.into(),
            shape,
            origin,
            on_change: OnChange::Update,
            rule: Rule::Once,
            default: None,
            checks: Vec::new(),
            refers: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            description: String::new(),
        }
    }

    /// Whether people may not see it, or a part of it.
    fn has_secrets(&self) -> bool {
        let within = matches!(&self.shape, Shape::Nested(_, inner) if inner.iter().any(Self::has_secrets));
        self.sensitive || self.write_only || within
    }

    /// The type of its value.
    pub fn ty(&self) -> Type {
        match &self.shape {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(nesting, attributes) => {
                let types = attributes.iter().map(|attribute| (attribute.name.clone(), attribute.ty()));
                nesting.of(Type::Object(types.collect()))
            }
        }
    }
}

/// Blocks within a block.
#[derive(Debug, Clone, PartialEq)]
pub struct NestedBlock {
    /// Their name.
    pub name: String,
    /// How they stand there.
    pub nesting: Nesting,
    /// What each of them holds.
    pub block: Block,
    /// How many there have to be.
    pub min_items: i64,
    /// How many there may be; 0 for any number.
    pub max_items: i64,
    /// What their change means.
    pub on_change: OnChange,
}

/// Attributes and blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The blocks.
    pub blocks: Vec<NestedBlock>,
    /// Whether it should not be used any more.
    pub deprecated: bool,
    /// Documentation that engines show to their users.
    pub description: String,
}

impl Block {
    /// The type of an object with these attributes and blocks.
    pub fn ty(&self) -> Type {
        let mut types: BTreeMap<_, _> =
            self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.ty())).collect();
        types.extend(
            self.blocks.iter().map(|nested| (nested.name.clone(), nested.nesting.of(nested.block.ty()))),
        );
        Type::Object(types)
    }

    /// Makes plain values of attributes with nested ones. A value is then as sensitive as its most sensitive part, and
    /// nothing within it is computed.
    pub fn flatten(&mut self) {
        for attribute in &mut self.attributes {
            if let Shape::Nested(_, inner) = &attribute.shape {
                attribute.sensitive |= inner.iter().any(Attribute::has_secrets);
                attribute.shape = Shape::Plain(attribute.ty());
            }
        }
        self.blocks.iter_mut().for_each(|nested| nested.block.flatten());
    }

    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// The schema of a resource, a data source, or the provider itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The version of the stored form.
    pub version: i64,
    /// What it holds.
    pub block: Block,
}

impl Schema {
    /// The type of an object of this schema.
    pub fn object_type(&self) -> Type {
        self.block.ty()
    }
}
