//! Configuration for an object that is there: what a program would say of it.

use equiform_proto::tfplugin6::generate_resource_config;

use super::MockProvider;
use super::convert::{diagnostics, object_from, object_to};
use crate::diagnostic::Problem;
use crate::value::{Object, Value};

impl MockProvider {
    pub(super) fn generate(
        &self,
        request: &generate_resource_config::Request,
    ) -> generate_resource_config::Response {
        match self.generated(request) {
            Ok(config) => generate_resource_config::Response {
                config: object_to(Some(config), &self.resource.object_type),
                diagnostics: Vec::new(),
            },
            Err(problem) => {
                generate_resource_config::Response { config: None, diagnostics: diagnostics([problem]) }
            }
        }
    }

    /// What only the provider sets, no program can say.
    fn generated(&self, request: &generate_resource_config::Request) -> Result<Object, Problem> {
        self.known_type(&request.type_name)?;
        let mut object = object_from(request.state.as_ref(), &self.resource.object_type)?;
        for attribute in self.resource.schema.attributes.iter().filter(|part| part.origin.is_computed()) {
            object.insert(attribute.name.to_owned(), Value::Null);
        }
        Ok(object)
    }
}
