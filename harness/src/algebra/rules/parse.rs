//! Reads rule files: `family name left = right if guard`, one a line.

use super::{Base, Condition, Guard, MAX_VARIABLES, Rule, StepKind, StepPattern, Variable};
use crate::algebra::lexer::{Lexer, Position, SyntaxError, Token};

pub(super) fn parse(text: &str) -> Result<Vec<Rule>, SyntaxError> {
    let mut rules: Vec<Rule> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
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
    variables: Vec<String>,
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
        let (word, position) = self.lexer.expect_word("add, rem, con or disc")?;
        let Some(kind) = StepKind::ALL.into_iter().find(|kind| kind.symbol() == word) else {
            let message = format!("`{word}` is not an operation; there are add, rem, con and disc");
            return Err(SyntaxError::new(position, message));
        };
        let first = self.variable()?;
        let second = if kind.takes_edge() { self.variable()? } else { first };
        Ok(StepPattern { kind, first, second })
    }

    fn variable(&mut self) -> Result<Variable, SyntaxError> {
        let (name, position) = self.lexer.expect_word("a resource variable")?;
        if let Some(variable) = self.known_variable(&name) {
            return Ok(variable);
        }
        if self.variables.len() == MAX_VARIABLES {
            let message =
                format!("a rule has at most {MAX_VARIABLES} resource variables; `{name}` is one too many");
            return Err(SyntaxError::new(position, message));
        }
        self.variables.push(name.clone());
        Ok(self.known_variable(&name).expect("it was just entered"))
    }

    fn known_variable(&self, name: &str) -> Option<Variable> {
        let at = self.variables.iter().position(|variable| variable == name)?;
        u8::try_from(at).ok().map(Variable)
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
        let left = self.guarded_variable()?;
        match self.lexer.expect_word("`!=` or `in`")? {
            (word, _) if word == "!=" => Ok(Condition::Differ(left, self.guarded_variable()?)),
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

    fn guarded_variable(&mut self) -> Result<Variable, SyntaxError> {
        let (name, position) = self.lexer.expect_word("a resource variable")?;
        self.known_variable(&name)
            .ok_or_else(|| SyntaxError::new(position, format!("`{name}` occurs on neither side of the rule")))
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
            "line 1, column 6: `put` is not an operation; there are add, rem, con and disc"
        );
        assert_eq!(error("f n g = g\nf n g = g"), "line 2, column 1: a second rule is named `n`");
    }
}
