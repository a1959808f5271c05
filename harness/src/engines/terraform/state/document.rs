//! The fields of a state file, version 4, and the names of those that no engine writes.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use crate::evidence::Addresses;

/// Declares an object of the file by its fields. Each may be missing; one that is there twice is an error, and the
/// names of all others are kept.
macro_rules! object {
    (
        $(#[$about:meta])*
        $name:ident<$($parameter:ident),*> {
            $($(#[$field_about:meta])* $field:ident $key:literal $type:ty,)+
        }
    ) => {
        $(#[$about])*
        pub(in crate::engines::terraform) struct $name<$($parameter),*> {
            $($(#[$field_about])* pub $field: $type,)+
            /// The names of fields that no engine writes.
            pub unknown: Vec<String>,
        }

        impl<'de, $($parameter: Default + Deserialize<'de>),*> Deserialize<'de> for $name<$($parameter),*> {
            fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
                #[derive(Deserialize)]
                #[serde(field_identifier)]
                #[expect(non_camel_case_types, reason = "they are named as the fields are")]
                enum Key {
                    $(#[serde(rename = $key)] $field,)+
                    Unknown(String),
                }

                struct Fields<$($parameter),*>(PhantomData<($($parameter,)*)>);

                impl<'de, $($parameter: Default + Deserialize<'de>),*> Visitor<'de> for Fields<$($parameter),*> {
                    type Value = $name<$($parameter),*>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object of a state")
                    }

                    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                        $(let mut $field: Option<$type> = None;)+
                        let mut unknown = Vec::new();
                        while let Some(key) = map.next_key::<Key>()? {
                            match key {
                                $(Key::$field => {
                                    if $field.replace(map.next_value()?).is_some() {
                                        return Err(M::Error::duplicate_field($key));
                                    }
                                })+
                                Key::Unknown(name) => {
                                    map.next_value::<IgnoredAny>()?;
                                    unknown.push(name);
                                }
                            }
                        }
                        Ok($name { $($field: $field.unwrap_or_default(),)+ unknown })
                    }
                }

                deserializer.deserialize_map(Fields(PhantomData))
            }
        }
    };
}

object! {
    /// A state as it is stored. `A` is what is read of the attributes of objects, `I` of their identities.
    Document<A, I> {
        /// The version of the format.
        version "version" u64,
        /// The version of the engine that wrote it.
        written_by "terraform_version" Option<String>,
        /// How often it has changed.
        serial "serial" Option<u64>,
        /// Which state it is.
        lineage "lineage" Option<String>,
        /// The outputs of the program.
        outputs "outputs" BTreeMap<String, DocumentOutput>,
        /// The resources.
        resources "resources" Option<Vec<DocumentResource<A, I>>>,
        /// What became of checks; null if there are none.
        check_results "check_results" Option<IgnoredAny>,
    }
}

object! {
    /// An output.
    DocumentOutput<> {
        /// Its value.
        value "value" Json,
        /// The type of its value.
        value_type "type" Json,
        /// Whether its value is a secret.
        sensitive "sensitive" bool,
        /// Whether it is not to be used any more, and why.
        deprecated "deprecated" Option<String>,
    }
}

object! {
    /// A resource.
    DocumentResource<A, I> {
        /// The module that it is in.
        module "module" Option<String>,
        /// Whether it is managed, or only read.
        mode "mode" String,
        /// Its type.
        type_name "type" String,
        /// Its name.
        name "name" String,
        /// How its instances are told apart, in files of older versions.
        each "each" Option<String>,
        /// The provider that it belongs to.
        provider "provider" Option<String>,
        /// Its objects.
        instances "instances" Vec<Instance<A, I>>,
    }
}

object! {
    /// An object in a state.
    Instance<A, I> {
        /// Which of several it is.
        index_key "index_key" Option<Json>,
        /// Whether it is to be replaced.
        status "status" Option<String>,
        /// The name of an old object that waits for its deletion.
        deposed "deposed" Option<String>,
        /// The provider that it belongs to, where that is not the resource's.
        provider "provider" Option<String>,
        /// The version of its type's schema.
        schema_version "schema_version" Option<u64>,
        /// Its attributes.
        attributes "attributes" A,
        /// Its attributes, in files of older versions.
        attributes_flat "attributes_flat" Option<IgnoredAny>,
        /// Which of its attributes are secrets.
        sensitive "sensitive_attributes" Vec<IgnoredAny>,
        /// The version of its identity's schema.
        identity_version "identity_schema_version" Option<u64>,
        /// What it goes by in the world.
        identity "identity" Option<I>,
        /// What its provider gave the engine to keep beside it.
        private "private" Option<String>,
        /// What it depends on.
        dependencies "dependencies" Addresses,
        /// Whether its successor is created before it is deleted.
        create_before_destroy "create_before_destroy" bool,
        /// Whether it is to be forgotten instead of deleted.
        skip_destroy "skip_destroy" bool,
    }
}

/// The version of the state's format that engines write.
const VERSION: u64 = 4;

impl<A, I> Document<A, I> {
    /// Refuses a document that is no state of the version that engines write.
    pub fn check(self) -> Result<Self, String> {
        if self.version == VERSION {
            Ok(self)
        } else {
            Err(format!("it has version {}, but only version {VERSION} is supported", self.version))
        }
    }

    /// The objects of resources, each with its type and its address. What data sources have read is no object.
    pub fn objects(self) -> impl Iterator<Item = (String, String, Instance<A, I>)> {
        let resources = self.resources.into_iter().flatten().filter(|resource| resource.mode != "data");
        resources.flat_map(|mut resource| {
            let instances = std::mem::take(&mut resource.instances);
            instances.into_iter().map(move |instance| {
                (resource.type_name.clone(), resource.address(instance.index_key.as_ref()), instance)
            })
        })
    }
}

impl<A, I> DocumentResource<A, I> {
    /// The address of the instance with this key, or of its only one.
    pub fn address(&self, key: Option<&Json>) -> String {
        let Self { module, type_name, name, .. } = self;
        let module = module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
        let index = key.map(|key| format!("[{key}]")).unwrap_or_default();
        format!("{module}{type_name}.{name}{index}")
    }
}
