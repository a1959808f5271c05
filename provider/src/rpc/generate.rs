//! Configuration for an object that is there: what a program would say of it.

use equiform_proto::tfplugin6::{DynamicValue, generate_resource_config};

use super::convert::{diagnostics, object_from, object_to};
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::resource::plan::each_object;
use crate::schema::{Attribute, Block, Origin, Shape};
use crate::value::{Object, Value};

impl MockProvider {
    pub(super) fn generate(
        &self,
        session: &Session,
        request: &generate_resource_config::Request,
    ) -> generate_resource_config::Response {
        match self.generated(session, request) {
            Ok(config) => generate_resource_config::Response { config, diagnostics: Vec::new() },
            Err(problem) => {
                generate_resource_config::Response { config: None, diagnostics: diagnostics([problem]) }
            }
        }
    }

    fn generated(
        &self,
        session: &Session,
        request: &generate_resource_config::Request,
    ) -> Result<Option<DynamicValue>, Problem> {
        let resource = self.resource_type(session, &request.type_name)?;
        let mut object = object_from(request.state.as_ref(), &resource.object_type)?;
        // Providers of the first kit let programs set an id that they never mean to be set.
        if let Some(id) = resource.schema.block.attribute("id")
            && id.origin == Origin::OptionalComputed
        {
            object.insert(id.name.clone(), Value::Null);
        }
        say(&resource.schema.block, &mut object);
        Ok(object_to(Some(object), &resource.object_type))
    }
}

/// What only the provider sets, no program can say, and what is not kept nobody knows.
fn say(block: &Block, object: &mut Object) {
    say_attributes(&block.attributes, object);
    for nested in &block.blocks {
        if let Some(value) = object.get_mut(&nested.name) {
            each_object(nested.nesting, value, &mut |object| say(&nested.block, object));
        }
    }
}

fn say_attributes(attributes: &[Attribute], object: &mut Object) {
    for attribute in attributes {
        let Some(value) = object.get_mut(&attribute.name) else { continue };
        if attribute.origin == Origin::Computed || attribute.write_only {
            *value = Value::Null;
        } else if let Shape::Nested(nesting, inner) = &attribute.shape {
            each_object(*nesting, value, &mut |object| say_attributes(inner, object));
        }
    }
}
