//! Reads rule files: `family name left = right if guard`, one a line.
//!
//! A word stands for whatever is bound to it; with a colon it is the name of an attribute, a value or a kind (`:label`,
//! `:depends_on`), and `default` is the default value or kind. An edge without a kind has the default one.

use super::{Argument, Base, Condition, Guard, MAX_VARIABLES, Rule, Sort, StepKind, StepPattern, Variable};
use crate::lexer::{Lexer, Position, SyntaxError, Token};
use crate::signature::{AttributeId, Signature};

/// The most resource variables a rule may have: the gate tries all graphs over as many resources.
const MAX_RESOURCES: usize = 4;

pub(super) fn parse(text: &str) -> Result<Vec<Rule>, SyntaxError> {
    let mut rules: Vec<Rule> = Vec::new();
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !is_comment(line)) {
        let rule = RuleReader::new(line).read().map_err(|mut error| {
            error.position.line = number;
            error
        })?;
        let Some(rule) = rule else { continue };
        if rules.iter().any(|other| other.name == rule.name) {
            let position = Position { line: number, column: 1 };
            return Err(SyntaxError::new(position, format!("a second rule is named `{}`", rule.name)));
        }
        rules.push(rule);
    }
    Ok(rules)
}

/// Reads the one rule of a line.
struct RuleReader<'a> {
    lexer: Lexer<&'a [u8]>,
    variables: Vec<(String, Sort)>,
    graph_variable: Option<String>,
}

impl<'a> RuleReader<'a> {
    fn new(line: &'a str) -> Self {
        Self { lexer: Lexer::new(line.as_bytes()), variables: Vec::new(), graph_variable: None }
    }

    fn read(mut self) -> Result<Option<Rule>, SyntaxError> {
        let family = match self.lexer.next()? {
            None => return Ok(None),
            Some((Token::Word(family), _)) => family,
            Some((token, position)) => {
                return Err(SyntaxError::new(
                    position,
                    format!("the family of a rule is expected here, not {token}"),
                ));
            }
        };
        let name = self.lexer.expect_word("the name of the rule")?.0;
        let left = self.side()?;
        self.keyword("=")?;
        let right = self.side()?;
        let guard = self.guard()?;
        let graph_variable = self.graph_variable.expect("a side always ends in a graph");
        let base = if graph_variable == "empty" { Base::Empty } else { Base::Any };
        Ok(Some(Rule { family, name, base, left, right, guard, variables: self.variables, graph_variable }))
    }

    fn keyword(&mut self, keyword: &str) -> Result<(), SyntaxError> {
        match self.lexer.expect_word(&format!("`{keyword}`"))? {
            (word, _) if word == keyword => Ok(()),
            (word, position) => {
                Err(SyntaxError::new(position, format!("`{keyword}` is expected here, not `{word}`")))
            }
        }
    }

    fn side(&mut self) -> Result<Vec<StepPattern>, SyntaxError> {
        let mut chain = Vec::new();
        loop {
            match self.lexer.expect("a side of the rule")? {
                (Token::Open, _) => chain.push(self.step()?),
                (Token::Close, position) => {
                    return Err(SyntaxError::new(position, "a graph is expected here, not `)`"));
                }
                (Token::Word(word), position) => {
                    let known = self.graph_variable.get_or_insert_with(|| word.clone());
                    if *known != word {
                        let message =
                            format!("both sides are built upon the same graph: `{known}`, not `{word}`");
                        return Err(SyntaxError::new(position, message));
                    }
                    break;
                }
            }
        }
        for _ in &chain {
            let (token, position) = self.lexer.expect("`)`")?;
            if token != Token::Close {
                return Err(SyntaxError::new(position, format!("`)` is expected here, not {token}")));
            }
        }
        chain.reverse();
        Ok(chain)
    }

    fn step(&mut self) -> Result<StepPattern, SyntaxError> {
        let (word, position) = self.lexer.expect_word("add, rem, set, con or disc")?;
        let Some(kind) = StepKind::ALL.into_iter().find(|kind| kind.symbol() == word) else {
            let message = format!("`{word}` is not an operation; there are add, rem, set, con and disc");
            return Err(SyntaxError::new(position, message));
        };
        let mut arguments = [Argument::Fixed(0); 3];
        for (at, &sort) in kind.sorts().iter().enumerate() {
            if sort == Sort::Kind && !self.names_kind()? {
                break;
            }
            let (name, position) = self.lexer.expect_word(sort.name())?;
            let attribute = (sort == Sort::Value).then_some(arguments[1]);
            arguments[at] = match self.literal(&name, sort, attribute, position)? {
                Some(number) => Argument::Fixed(number),
                None => Argument::Variable(self.variable(name, sort, position)?),
            };
        }
        Ok(StepPattern { kind, arguments })
    }

    /// Whether the next word is the kind of an edge: what is not followed by `)`, which ends a graph.
    fn names_kind(&mut self) -> Result<bool, SyntaxError> {
        Ok(matches!(self.lexer.peek(0)?, Some(Token::Word(_)))
            && !matches!(self.lexer.peek(1)?, Some(Token::Close)))
    }

    /// The number of what a word names: itself, not whatever is bound to it.
    fn literal(
        &self,
        word: &str,
        sort: Sort,
        attribute: Option<Argument>,
        position: Position,
    ) -> Result<Option<u8>, SyntaxError> {
        let signature = Signature::attributed();
        let refused = |message: String| SyntaxError::new(position, message);
        if word == "default" && matches!(sort, Sort::Value | Sort::Kind) {
            return Ok(Some(0));
        }
        let Some(name) = word.strip_prefix(':') else { return Ok(None) };
        let number = match (sort, attribute) {
            (Sort::Resource, _) => {
                return Err(refused(format!("a rule holds for all resources; `{word}` would be only one")));
            }
            (Sort::Attribute, _) => {
                signature.attribute(name).ok_or_else(|| refused(signature.no_attribute(name)))?.index()
            }
            (Sort::Kind, _) => signature.kind(name).ok_or_else(|| refused(signature.no_kind(name)))?.index(),
            (Sort::Value, Some(Argument::Fixed(at))) => {
                let attribute = AttributeId::new(at);
                let value = signature.attributes()[attribute.at()].value(name);
                value.ok_or_else(|| refused(signature.no_value(attribute, name)))?.index()
            }
            (Sort::Value, _) => {
                let message = format!("`{word}` is a value of a named attribute; name it, as in `:label`");
                return Err(refused(message));
            }
        };
        Ok(Some(number))
    }

    fn variable(&mut self, name: String, sort: Sort, position: Position) -> Result<Variable, SyntaxError> {
        if let Some((variable, known)) = self.known_variable(&name) {
            if known != sort {
                let (known, sort) = (known.name(), sort.name());
                let message = format!("`{name}` stands for {known}, and {sort} is expected here");
                return Err(SyntaxError::new(position, message));
            }
            return Ok(variable);
        }
        let resources = self.variables.iter().filter(|variable| variable.1 == Sort::Resource).count();
        if sort == Sort::Resource && resources == MAX_RESOURCES {
            let message =
                format!("a rule has at most {MAX_RESOURCES} resource variables; `{name}` is one too many");
            return Err(SyntaxError::new(position, message));
        }
        if self.variables.len() == MAX_VARIABLES {
            let message = format!("a rule has at most {MAX_VARIABLES} variables; `{name}` is one too many");
            return Err(SyntaxError::new(position, message));
        }
        self.variables.push((name.clone(), sort));
        Ok(self.known_variable(&name).expect("it was just entered").0)
    }

    fn known_variable(&self, name: &str) -> Option<(Variable, Sort)> {
        let at = self.variables.iter().position(|variable| variable.0 == name)?;
        Some((Variable(u8::try_from(at).ok()?), self.variables[at].1))
    }

    fn guard(&mut self) -> Result<Guard, SyntaxError> {
        let mut alternatives: Vec<Vec<Condition>> = Vec::new();
        let mut expected = "if";
        while let Some((token, position)) = self.lexer.next()? {
            match token {
                Token::Word(word) if word == expected || word == "or" && expected == "and" => {
                    if word != "and" {
                        alternatives.push(Vec::new());
                    }
                    let condition = self.condition()?;
                    alternatives.last_mut().expect("`if` comes first").push(condition);
                    expected = "and";
                }
                token => {
                    return Err(SyntaxError::new(
                        position,
                        format!("`{expected}` is expected here, not {token}"),
                    ));
                }
            }
        }
        Ok(Guard(alternatives))
    }

    fn condition(&mut self) -> Result<Condition, SyntaxError> {
        let (left, sort) = self.guarded_variable()?;
        match self.lexer.expect_word("`!=` or `in`")? {
            (word, _) if word == "!=" => {
                let (name, position) = self.lexer.expect_word("a variable")?;
                let right = match self.literal(&name, sort, None, position)? {
                    Some(number) => Argument::Fixed(number),
                    None => Argument::Variable(self.guarded(&name, sort, position)?),
                };
                Ok(Condition::Differ(Argument::Variable(left), right))
            }
            (word, position) if word == "in" && sort != Sort::Resource => {
                Err(SyntaxError::new(position, "only resources are in a graph"))
            }
            (word, _) if word == "in" => match self.lexer.expect_word("the graph variable")? {
                (graph, _) if self.graph_variable.as_deref() == Some(&graph) => Ok(Condition::Member(left)),
                (graph, position) => {
                    Err(SyntaxError::new(position, format!("`{graph}` is not the rule's graph")))
                }
            },
            (word, position) => {
                Err(SyntaxError::new(position, format!("`!=` or `in` is expected here, not `{word}`")))
            }
        }
    }

    fn guarded_variable(&mut self) -> Result<(Variable, Sort), SyntaxError> {
        let (name, position) = self.lexer.expect_word("a variable")?;
        self.known_variable(&name)
            .ok_or_else(|| SyntaxError::new(position, format!("`{name}` occurs on neither side of the rule")))
    }

    fn guarded(&self, name: &str, sort: Sort, position: Position) -> Result<Variable, SyntaxError> {
        match self.known_variable(name) {
            Some((variable, known)) if known == sort => Ok(variable),
            Some((_, known)) => {
                let message = format!("{} always differs from {}", known.name(), sort.name());
                Err(SyntaxError::new(position, message))
            }
            None => Err(SyntaxError::new(position, format!("`{name}` occurs on neither side of the rule"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn errors_say_line_and_column() {
        assert_eq!(
            error("; fine\nf n (add a g) = (add a h)"),
            "line 2, column 24: both sides are built upon the same graph: `g`, not `h`"
        );
        assert_eq!(
            error("f n (add a g) = g if x in g"),
            "line 1, column 22: `x` occurs on neither side of the rule"
        );
        assert_eq!(error("f n (add a g) = g when"), "line 1, column 19: `if` is expected here, not `when`");
        assert_eq!(
            error("f n (put a g) = g"),
            "line 1, column 6: `put` is not an operation; there are add, rem, set, con and disc"
        );
        assert_eq!(error("f n g = g\nf n g = g"), "line 2, column 1: a second rule is named `n`");
    }

    #[test]
    fn an_edge_takes_a_kind_or_the_default_one() {
        let kinds = |text: &str| -> Vec<Argument> {
            let rules = parse(text).unwrap();
            rules[0].left.iter().map(|step| step.arguments[2]).collect()
        };
        assert_eq!(kinds("f n (con a b g) = g"), [Argument::Fixed(0)]);
        assert_eq!(kinds("f n (con a b (con a b default g)) = g"), [Argument::Fixed(0); 2]);
        assert_eq!(kinds("f n (con a b k g) = g"), [Argument::Variable(Variable(2))]);
        assert_eq!(kinds("f n (con a b :depends_on (add a g)) = g")[1], Argument::Fixed(2));
        assert_eq!(kinds("f n (con a b k empty) = empty"), [Argument::Variable(Variable(2))]);
    }

    #[test]
    fn what_there_is_none_of_gets_a_sentence_with_line_and_column() {
        assert_eq!(
            error("f m g = g\nf n (set a :colour v g) = g"),
            "line 2, column 12: `colour` is not an attribute; \
             there are label, pin, create_before_destroy and ignore_changes"
        );
        assert_eq!(
            error("f n (set a :pin :c g) = g"),
            "line 1, column 17: `c` is not a value of pin; there are none, a and b"
        );
        assert_eq!(
            error("f n (con a b :weak g) = g"),
            "line 1, column 14: `weak` is not a kind of edges; \
             there are refs, pinned_refs, depends_on, triggered_by and triggered_by_label"
        );
        assert_eq!(
            error("f n (set a x :a g) = g"),
            "line 1, column 14: `:a` is a value of a named attribute; name it, as in `:label`"
        );
        assert_eq!(
            error("f n (set a a v g) = g"),
            "line 1, column 12: `a` stands for a resource, and an attribute is expected here"
        );
        assert_eq!(
            error("f n (set a x v g) = g if x != v"),
            "line 1, column 31: a value always differs from an attribute"
        );
        assert_eq!(
            error("f n (set a x v g) = g if v in g"),
            "line 1, column 28: only resources are in a graph"
        );
    }
}
