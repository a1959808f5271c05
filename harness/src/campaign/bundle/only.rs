//! A case cut down to what a bundle is about: one variant, up to the stage that shows the bug.

use std::collections::BTreeMap;

use crate::case::stage::ProgramRef;
use crate::case::{Case, Variant};

/// The case with this variant as its first, without the stages after the one with this name, and with no other variants
/// but those whose programs it plans.
pub fn only(case: &Case, variant: usize, stage: &str) -> Case {
    let Variant { program, workflow, stages } = &case.variants[variant];
    let mut stages = stages.clone();
    let last = stages.iter().position(|it| it.name == stage).map_or(stages.len(), |place| place + 1);
    stages.truncate(last);
    let mut places: BTreeMap<usize, usize> = [(variant, 0)].into();
    let mut others = Vec::new();
    for stage in &mut stages {
        if let ProgramRef::LastOf(other) = &mut stage.program {
            let next = places.len();
            let place = *places.entry(*other).or_insert_with(|| {
                others.push(case.variants[*other].clone());
                next
            });
            *other = place;
        }
    }
    // What the others do themselves is not run; their stages must not name variants that are not there.
    for other in &mut others {
        other.stages.retain(|stage| !matches!(stage.program, ProgramRef::LastOf(_)));
    }
    // Where the engine stood is nobody's business.
    let engine = case.engine.as_ref().map(|engine| engine.id.clone().into());
    let first = Variant { program: program.clone(), workflow: workflow.clone(), stages };
    Case { variants: std::iter::once(first).chain(others).collect(), engine, ..case.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Settings;

    #[test]
    fn a_case_is_cut_down_to_a_variant_and_those_that_it_plans() {
        let case = Settings { variants: 4, ..Settings::default() }.case(0);
        let names =
            |case: &Case| case.variants[0].stages.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        let crossing = (0..4).find(|it| case.variants[*it].stages.iter().any(|stage| stage.name == "cross"));
        let variant = crossing.expect("most workflows plan another variant's program");
        let cut = only(&case, variant, "cross");
        assert_eq!(cut.variants.len(), 2);
        assert_eq!(names(&cut).last().map(String::as_str), Some("cross"));
        cut.stages(0).unwrap();
        let first = &case.variants[variant].stages[0].name;
        let cut = only(&case, variant, first);
        assert_eq!((cut.variants.len(), names(&cut).len()), (1, 1));
    }
}
