//! Programs as text: `(con r0 r1 (add r1 (add r0 empty)))`.
//!
//! `(set r0 label a G)` names an attribute and one of its values, and `(con r0 r1 depends_on G)` a kind; without it the
//! edge has the default kind. They are always those of the attributed signature.
//!
//! `(cut G)` is `G` itself and says that a batch ends there. Terms nest as deep as programs are long, so nothing here
//! recurses.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use serde::Deserialize;

use super::{Derivation, Step};
use crate::graph::{Edge, Graph, Names, Resource, topological_order};
use crate::lexer::{Lexer, Token, push_word};
pub use crate::lexer::{Position, SyntaxError};
use crate::signature::{AttributeId, Kind, Signature, ValueId};

/// A program as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// Its steps, over an order in which all its `con` go upward.
    pub derivation: Derivation,
    /// Where batches end: after so many steps.
    pub cuts: Vec<usize>,
    /// The names of its resources, in that order.
    pub names: Names,
    /// Where each step was read.
    positions: Vec<Position>,
}

impl Parsed {
    /// The graph it means; an ill-formed step is reported where it stands in the text.
    pub fn eval(&self) -> Result<Graph, SyntaxError> {
        self.eval_each(|_, _| {})
    }

    /// Evaluates it and shows the number of steps done and the graph after each.
    pub fn eval_each(&self, mut after_step: impl FnMut(usize, &Graph)) -> Result<Graph, SyntaxError> {
        let mut done = 0;
        let shown = self.derivation.eval_each(|graph| {
            done += 1;
            after_step(done, graph);
        });
        shown.map_err(|error| SyntaxError::new(self.positions[error.at], error.describe(&self.names)))
    }
}

/// Reads one program from a text that holds nothing else.
pub fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let mut lexer = Lexer::new(text.as_bytes());
    let parsed = parse_term(&mut lexer)?
        .ok_or_else(|| SyntaxError::new(lexer.end(), "there is no program here; `empty` is the shortest"))?;
    match lexer.next()? {
        None => Ok(parsed),
        Some((token, position)) => {
            Err(SyntaxError::new(position, format!("the program ends before this {token}")))
        }
    }
}

/// Reads programs from a stream, one after the other: terms, or the JSON lines that `generate` writes.
pub struct TermReader<R> {
    lexer: Lexer<R>,
}

/// The part of a JSON line that holds the program.
#[derive(Deserialize)]
struct JsonLine {
    program: String,
}

impl<R: BufRead> TermReader<R> {
    /// Starts at the beginning of the stream.
    pub fn new(input: R) -> Self {
        Self { lexer: Lexer::new(input) }
    }

    fn read(&mut self) -> Result<Option<Parsed>, SyntaxError> {
        let Some((text, line)) = self.lexer.take_line_starting_with('{')? else {
            return parse_term(&mut self.lexer);
        };
        let json: JsonLine = serde_json::from_str(text).map_err(|error| {
            SyntaxError::new(
                Position { line, column: error.column() },
                format!("not a line of variants: {error}"),
            )
        })?;
        let mut parsed = parse(&json.program).map_err(|error| SyntaxError {
            position: Position { line, ..error.position },
            message: format!("in \"program\": {}", error.message),
        })?;
        parsed.positions.iter_mut().for_each(|position| position.line = line);
        Ok(Some(parsed))
    }
}

impl<R: BufRead> Iterator for TermReader<R> {
    type Item = Result<Parsed, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// A step as it was read, before its names have a place in an order.
struct RawStep {
    symbol: Symbol,
    names: Vec<String>,
    position: Position,
}

#[derive(Clone, Copy, PartialEq)]
enum Symbol {
    Add,
    Rem,
    Con(Kind),
    Disc,
    Set(AttributeId, ValueId),
}

fn parse_term<R: BufRead>(lexer: &mut Lexer<R>) -> Result<Option<Parsed>, SyntaxError> {
    let mut raw = Vec::new();
    let mut cuts = Vec::new();
    let mut open = 0;
    let Some(mut token) = lexer.next()? else { return Ok(None) };
    loop {
        match token {
            (Token::Open, _) => open += 1,
            (Token::Word(word), _) if word == "empty" => break,
            (token, position) => {
                return Err(SyntaxError::new(
                    position,
                    format!("a graph is expected here, not {token}: `empty` or `(add …)`"),
                ));
            }
        }
        let (word, position) = lexer.expect_word("add, rem, set, con, disc or cut")?;
        if word == "cut" {
            cuts.push(raw.len());
            token = lexer.expect("a graph")?;
            continue;
        }
        let (step, next) = parse_step(&word, position, lexer)?;
        raw.push(step);
        token = next;
    }
    for _ in 0..open {
        match lexer.expect("`)`")? {
            (Token::Close, _) => {}
            (token, position) => {
                return Err(SyntaxError::new(position, format!("`)` is expected here, not {token}")));
            }
        }
    }
    // Terms are read outermost first; steps are counted from the innermost.
    let mut cuts: Vec<usize> = cuts.into_iter().map(|outer_steps| raw.len() - outer_steps).collect();
    cuts.reverse();
    cuts.dedup();
    raw.reverse();
    resolve(raw, cuts).map(Some)
}

/// Reads a step after its symbol, and the token after it.
fn parse_step<R: BufRead>(
    word: &str,
    position: Position,
    lexer: &mut Lexer<R>,
) -> Result<(RawStep, (Token, Position)), SyntaxError> {
    let arity = match word {
        "add" | "rem" | "set" => 1,
        "con" | "disc" => 2,
        other => {
            let message =
                format!("`{other}` is not an operation; there are add, rem, set, con, disc and cut");
            return Err(SyntaxError::new(position, message));
        }
    };
    let names =
        (0..arity).map(|_| Ok(lexer.expect_word("the name of a resource")?.0)).collect::<Result<_, _>>()?;
    let signature = Signature::attributed();
    let mut symbol = match word {
        "add" => Symbol::Add,
        "rem" => Symbol::Rem,
        "con" => Symbol::Con(Kind::DEFAULT),
        "disc" => Symbol::Disc,
        _ => {
            let (name, at) = lexer.expect_word("the name of an attribute")?;
            let attribute = signature
                .attribute(&name)
                .ok_or_else(|| SyntaxError::new(at, signature.no_attribute(&name)))?;
            let (name, at) = lexer.expect_word("the name of a value")?;
            let value = signature.attributes()[attribute.at()]
                .value(&name)
                .ok_or_else(|| SyntaxError::new(at, signature.no_value(attribute, &name)))?;
            Symbol::Set(attribute, value)
        }
    };
    let mut next = lexer.expect("a graph")?;
    if let (Symbol::Con(kind), (Token::Word(name), at)) = (&mut symbol, &next)
        && name != "empty"
    {
        *kind = signature.kind(name).ok_or_else(|| SyntaxError::new(*at, signature.no_kind(name)))?;
        next = lexer.expect("a graph")?;
    }
    Ok((RawStep { symbol, names, position }, next))
}

fn resolve(raw: Vec<RawStep>, cuts: Vec<usize>) -> Result<Parsed, SyntaxError> {
    let edges = connected_pairs(&raw);
    let all = || raw.iter().flat_map(|step| step.names.iter().map(String::as_str));
    let order = topological_order(all().collect::<BTreeSet<_>>(), &edges).map_err(|cycle| {
        let position = first_to_close_a_cycle(&raw).unwrap_or(Position { line: 1, column: 1 });
        SyntaxError::new(
            position,
            format!("{cycle}; every graph on the way must be free of cycles in one fixed order"),
        )
    })?;
    let resources: BTreeMap<&str, Resource> =
        order.iter().zip(0..).map(|(name, index)| (name.as_str(), Resource::new(index))).collect();
    let step = |raw: &RawStep| {
        let first = resources[raw.names[0].as_str()];
        let edge = || Edge::new(first, resources[raw.names[1].as_str()]);
        match raw.symbol {
            Symbol::Add => Step::Add(first),
            Symbol::Rem => Step::Rem(first),
            Symbol::Con(kind) => Step::Con(edge(), kind),
            Symbol::Disc => Step::Disc(edge()),
            Symbol::Set(attribute, value) => Step::Set(first, attribute, value),
        }
    };
    let program = Derivation::new(raw.iter().map(step).collect());
    let positions = raw.iter().map(|step| step.position).collect();
    drop(resources);
    Ok(Parsed { derivation: program, cuts, names: Names::new(order), positions })
}

fn connected_pairs(raw: &[RawStep]) -> Vec<(&str, &str)> {
    let pairs = raw.iter().filter(|step| matches!(step.symbol, Symbol::Con(_)));
    pairs.map(|step| (step.names[0].as_str(), step.names[1].as_str())).collect()
}

fn first_to_close_a_cycle(raw: &[RawStep]) -> Option<Position> {
    let shortest =
        (1..=raw.len()).find(|&count| topological_order([], &connected_pairs(&raw[..count])).is_err())?;
    Some(raw[shortest - 1].position)
}

/// Writes the program as a term, with a `(cut …)` wherever a batch ends before the end of the program.
pub fn print(derivation: &Derivation, cuts: &[usize], names: &Names) -> String {
    let steps = derivation.steps();
    let mut text = String::with_capacity(steps.len() * 12 + 8);
    let mut open = 0;
    for done in (0..=steps.len()).rev() {
        if done < steps.len() && cuts.contains(&done) {
            text.push_str("(cut ");
            open += 1;
        }
        let Some(step) = done.checked_sub(1).map(|at| steps[at]) else { break };
        text.push('(');
        text.push_str(step.symbol());
        for resource in step.resources() {
            text.push(' ');
            push_word(&mut text, names.of(resource));
        }
        if step.is_attributed() {
            step.qualifiers().for_each(|name| text.extend([" ", name]));
        }
        text.push(' ');
        open += 1;
    }
    text.push_str("empty");
    text.extend(std::iter::repeat_n(')', open));
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        parse(text).and_then(|parsed| parsed.eval()).unwrap_err().to_string()
    }

    #[test]
    fn a_term_reads_innermost_first() {
        let parsed = parse("(con a b (add b\n  (add a empty))) ; comment").unwrap();
        let (a, b) = (Resource::new(0), Resource::new(1));
        assert_eq!(
            parsed.derivation.steps(),
            [Step::Add(a), Step::Add(b), Step::Con(Edge::new(a, b), Kind::DEFAULT)]
        );
    }

    #[test]
    fn names_need_not_be_in_reading_order() {
        let parsed = parse("(con vpc app (add app (add vpc empty)))").unwrap();
        assert_eq!(parsed.names.iter().collect::<Vec<_>>(), ["vpc", "app"]);
        assert!(parsed.eval().is_ok());
    }

    #[test]
    fn errors_say_line_and_column() {
        assert_eq!(
            error("(add a\n  (gone empty))"),
            "line 2, column 4: `gone` is not an operation; there are add, rem, set, con, disc and cut"
        );
        assert_eq!(
            error("(add a (rem b empty))"),
            "line 1, column 9: (rem b …): b is not in the graph at this point; add it first"
        );
        assert_eq!(error("(add a empty"), "line 1, column 13: the text ends where `)` is expected");
        assert_eq!(error("(add a empty))"), "line 1, column 14: the program ends before this `)`");
        assert_eq!(error(""), "line 1, column 1: there is no program here; `empty` is the shortest");
        assert_eq!(error("(add \"a empty)"), "line 1, column 6: this quote is never closed in its line");
        assert_eq!(
            error("(add a a)"),
            "line 1, column 8: a graph is expected here, not `a`: `empty` or `(add …)`"
        );
        assert_eq!(
            error("(con a b\n(con b a (add a (add b empty))))"),
            "line 1, column 2: the edges close a cycle: a → b → a; \
             every graph on the way must be free of cycles in one fixed order"
        );
    }

    #[test]
    fn values_and_kinds_are_read_by_name() {
        let text = "(set a label b (con a b depends_on (con a b (add b (add a empty)))))";
        let parsed = parse(text).unwrap();
        let (a, edge) = (Resource::new(0), Edge::new(Resource::new(0), Resource::new(1)));
        assert_eq!(
            parsed.derivation.steps()[2..],
            [
                Step::Con(edge, Kind::DEFAULT),
                Step::Con(edge, Kind::new(2)),
                Step::Set(a, AttributeId::new(0), ValueId::new(2))
            ]
        );
        assert_eq!(print(&parsed.derivation, &[], &parsed.names), text);
    }

    #[test]
    fn errors_list_what_there_is() {
        assert_eq!(
            error("(set a\n colour red (add a empty))"),
            "line 2, column 2: `colour` is not an attribute; \
             there are label, pin, create_before_destroy and ignore_changes"
        );
        assert_eq!(
            error("(set a pin c (add a empty))"),
            "line 1, column 12: `c` is not a value of pin; there are none, a and b"
        );
        assert_eq!(
            error("(con a b weak (add b (add a empty)))"),
            "line 1, column 10: `weak` is not a kind of edges; \
             there are refs, pinned_refs, depends_on, triggered_by and triggered_by_label"
        );
        assert_eq!(
            error("(set a pin b empty)"),
            "line 1, column 2: (set a pin b …): a is not in the graph at this point; add it first"
        );
        assert_eq!(
            error("(set a pin (add a empty))"),
            "line 1, column 12: the name of a value is expected here, not `(`"
        );
    }

    #[test]
    fn a_stream_may_mix_terms_and_json_lines() {
        let text =
            "empty (add a empty)\n{\"variant\":1,\"program\":\"(add b empty)\"}\n(rem a\n (add a empty))\n";
        let lengths: Vec<usize> =
            TermReader::new(text.as_bytes()).map(|parsed| parsed.unwrap().derivation.len()).collect();
        assert_eq!(lengths, [0, 1, 1, 2]);
    }

    #[test]
    fn an_error_in_a_json_line_carries_the_line() {
        let text = "empty\n{\"program\":\"(rem a empty)\"}\n";
        let parsed = TermReader::new(text.as_bytes()).nth(1).unwrap().unwrap();
        assert!(parsed.eval().unwrap_err().to_string().starts_with("line 2, column 2: (rem a …)"));
    }

    #[test]
    fn a_program_of_a_hundred_thousand_steps_is_read_without_recursion() {
        let depth = 100_000;
        let text = format!("{}empty{}", "(add a ".repeat(depth), ")".repeat(depth));
        assert_eq!(parse(&text).unwrap().derivation.len(), depth);
    }

    fn arbitrary_steps() -> impl Strategy<Value = Vec<Step>> {
        let pair = (0..5u32, 0..5u32).prop_filter_map("an edge goes upward", |(a, b)| {
            (a < b).then(|| Edge::new(Resource::new(a), Resource::new(b)))
        });
        let node = (0..5u32).prop_map(Resource::new);
        let kind = (0..5u8).prop_map(Kind::new);
        let values: Vec<(AttributeId, ValueId)> = Signature::attributed().values().collect();
        let set = (node.clone(), prop::sample::select(values));
        prop::collection::vec(
            prop_oneof![
                node.clone().prop_map(Step::Add),
                node.prop_map(Step::Rem),
                (pair.clone(), kind).prop_map(|(edge, kind)| Step::Con(edge, kind)),
                pair.prop_map(Step::Disc),
                set.prop_map(|(node, (attribute, value))| Step::Set(node, attribute, value)),
            ],
            0..20,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn printing_and_reading_round_trips(
            steps in arbitrary_steps(),
            names in prop::collection::btree_set("\\PC{0,6}|[\"\\\\ ();\n\r]{1,3}", 5),
            cuts in prop::collection::btree_set(0..20usize, 0..4),
        ) {
            let names = Names::new(names.into_iter().collect());
            let program = Derivation::new(steps);
            let cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < program.len()).collect();
            let text = print(&program, &cuts, &names);
            let parsed = parse(&text).unwrap();
            prop_assert_eq!(print(&parsed.derivation, &parsed.cuts, &parsed.names), text);
            prop_assert_eq!(parsed.cuts, cuts);
            prop_assert_eq!(parsed.derivation.len(), program.len());
        }
    }
}
