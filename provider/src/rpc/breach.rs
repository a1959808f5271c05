//! Answers that break the contract between providers and engines, on demand.

use equiform_proto::faults::Breach;
use equiform_proto::tfplugin6::{DynamicValue, apply_resource_change, plan_resource_change, read_resource};

use super::convert::{object_to, path_to};
use crate::resource::{ResourceType, node};
use crate::value::{Object, PathStep, Type, Value};

/// A plan that breaks the contract.
pub(super) fn plan(
    breach: Breach,
    resource: &ResourceType,
    mut planned: Object,
    response: plan_resource_change::Response,
) -> plan_resource_change::Response {
    match breach {
        Breach::InvalidPlan => {
            planned.insert(node::LABEL.to_owned(), Breach::LABEL.into());
            let planned_state = object_to(Some(planned), &resource.object_type);
            plan_resource_change::Response { planned_state, ..response }
        }
        Breach::InvalidReplacement => {
            let mut requires_replace = response.requires_replace;
            requires_replace.push(path_to(vec![PathStep::Attribute("no_such_attribute".to_owned())]));
            plan_resource_change::Response { requires_replace, ..response }
        }
        Breach::WrongType => {
            plan_resource_change::Response { planned_state: of_wrong_type(resource, planned), ..response }
        }
        _ => response,
    }
}

/// An answer to a read that breaks the contract.
pub(super) fn read(
    breach: Breach,
    resource: &ResourceType,
    object: Object,
    response: read_resource::Response,
) -> read_resource::Response {
    match breach {
        Breach::WrongType => {
            read_resource::Response { new_state: of_wrong_type(resource, object), ..response }
        }
        _ => response,
    }
}

/// The result of a change that breaks the contract. `object` is what exists now, or what was asked for if nothing took
/// effect.
pub(super) fn change(
    breach: Breach,
    resource: &ResourceType,
    object: Object,
    response: apply_resource_change::Response,
) -> apply_resource_change::Response {
    let diagnostics = Vec::new();
    let response = apply_resource_change::Response { diagnostics, ..response };
    match breach {
        Breach::WrongType => {
            apply_resource_change::Response { new_state: of_wrong_type(resource, object), ..response }
        }
        Breach::UnknownResult => {
            apply_resource_change::Response { new_state: not_known(resource, object), ..response }
        }
        Breach::MissingResult => {
            apply_resource_change::Response { new_state: object_to(None, &resource.object_type), ..response }
        }
        _ => response,
    }
}

/// The object, with a set of texts for a label.
fn of_wrong_type(resource: &ResourceType, mut object: Object) -> Option<DynamicValue> {
    let mut ty = resource.object_type.clone();
    if let Type::Object(attributes) = &mut ty {
        attributes.insert(node::LABEL.to_owned(), Type::set_of(Type::String));
    }
    object.insert(node::LABEL.to_owned(), Value::set(vec![Breach::LABEL.into()]));
    object_to(Some(object), &ty)
}

/// The object, with a label that is not known.
fn not_known(resource: &ResourceType, mut object: Object) -> Option<DynamicValue> {
    object.insert(node::LABEL.to_owned(), Value::Unknown);
    object_to(Some(object), &resource.object_type)
}
