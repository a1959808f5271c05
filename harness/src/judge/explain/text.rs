//! An explanation, for people.

use std::fmt::{self, Display, Formatter};

use super::{Expected, Explanation, RuleText, StageStory, Tried};
use crate::evidence::Quote;

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            variant, engine, workflow, cause, stages, expected, observed, known, others, tried, ..
        } = self;
        writeln!(f, "variant {variant} on {engine}, driven by {workflow}: in {}", cause.stage)?;
        writeln!(f, "{}: {cause}", cause.signature())?;

        writeln!(f, "\nWhat was deployed (resources that come +, go -, or are written differently ~)")?;
        for stage in stages {
            tell_stage(f, stage, cause.stage == stage.stage)?;
        }

        writeln!(f, "\nWhat the model expects of {}", cause.stage)?;
        tell_expected(f, expected)?;

        writeln!(f, "\nWhat the ledger shows of {}", cause.stage)?;
        match observed.is_empty() {
            true => writeln!(f, "  no operation")?,
            false => writeln!(f, "  {}", observed.join(" "))?,
        }

        writeln!(f, "\nFirst difference\n  {}", self.first_difference)?;
        if !self.proof.is_empty() {
            writeln!(f, "\nLines that show it, in {}", self.folder.display())?;
            tell_proof(f, &self.proof)?;
        }

        writeln!(f, "\nWhat is known of it")?;
        match known {
            None => writeln!(f, "  nothing: no known engine bug explains it")?,
            Some(known) => {
                writeln!(f, "  {}: {}", known.name, known.text)?;
                writeln!(f, "  on {}; see {}", known.engines, known.case)?;
            }
        }
        if !others.is_empty() {
            writeln!(f, "\nWhat else was found, which may follow from it")?;
            for other in others {
                let known = other.known.as_ref().map(|name| format!(" (known: {name})")).unwrap_or_default();
                writeln!(f, "  {}: {}: {other}{known}", other.stage, other.signature())?;
            }
        }
        if !tried.is_empty() {
            writeln!(f, "\nEngines on which it was tried")?;
            Tried::lines(tried).iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}

fn tell_stage(f: &mut Formatter<'_>, story: &StageStory, is_it: bool) -> fmt::Result {
    let here = if is_it { "   <- here" } else { "" };
    writeln!(f, "  {}: {} ({}){here}", story.stage, story.command, story.end)?;
    story
        .failures
        .iter()
        .try_for_each(|failure| writeln!(f, "      the provider is told to fail {failure}"))?;
    if story.program.is_empty() {
        return writeln!(f, "      the same program");
    }
    story.program.iter().try_for_each(|line| writeln!(f, "      {line}"))
}

impl Display for Expected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        tell_expected(f, self)
    }
}

fn tell_expected(f: &mut Formatter<'_>, expected: &Expected) -> fmt::Result {
    writeln!(f, "  {}", expected.sentence)?;
    expected.changes.iter().try_for_each(|line| writeln!(f, "  - {line}"))?;
    match expected.in_order.len() {
        0 => writeln!(f, "  no operation is due")?,
        1 => {}
        _ => writeln!(f, "  in an order such as: {}", expected.in_order.join(", "))?,
    }
    for pair in &expected.order {
        writeln!(f, "  {} ends before {} begins (rule {})", pair.first, pair.second, pair.rule)?;
    }
    for RuleText { number, name, text, sources, contested } in &expected.rules {
        writeln!(f, "  rule {number}, {name}: {text}")?;
        sources.iter().try_for_each(|source| writeln!(f, "    {source}"))?;
        contested.iter().try_for_each(|source| writeln!(f, "    contested: {source}"))?;
    }
    Ok(())
}

/// Lines of the same file stand below its name.
fn tell_proof(f: &mut Formatter<'_>, quotes: &[Quote]) -> fmt::Result {
    let mut file = "";
    for quote in quotes {
        if quote.file != file {
            file = &quote.file;
            writeln!(f, "  {file}")?;
        }
        writeln!(f, "    {}: {}", quote.place, quote.text)?;
    }
    Ok(())
}
