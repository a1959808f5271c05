//! Options from elsewhere than the command line: a settings file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use toml::{Spanned, Value};

use super::CannotRun;

/// Options that may not come from a file: they say where others come from.
const NOT_SETTINGS: &[&str] = &["settings", "resume", "help", "version"];

/// What is expected of a settings file.
const EXPECTED: &str = "Expected is TOML, the long name of an option and its value in each line, such as `seed = 7` \
                        (docs/formats.md)";

/// An option by its long name, with its value.
pub type Given = (String, String);

/// A subcommand's options on a command line.
pub struct Layered {
    command: Command,
    line: Vec<OsString>,
    matches: ArgMatches,
}

impl Layered {
    /// The options of this process's own command line, which named this subcommand.
    pub fn own<A: Args>(subcommand: &'static str) -> Result<Self, CannotRun> {
        Self::of::<A>(subcommand, std::env::args_os().skip(2).collect())
    }

    /// The options of another command line.
    pub fn of<A: Args>(subcommand: &'static str, line: Vec<OsString>) -> Result<Self, CannotRun> {
        let command = A::augment_args(Command::new(subcommand).no_binary_name(true));
        let matches = command.clone().try_get_matches_from(&line).map_err(first_line)?;
        Ok(Self { command, line, matches })
    }

    /// Whether the subcommand has this option.
    #[cfg(test)]
    pub fn has(&self, option: &str) -> bool {
        self.command.get_arguments().any(|argument| argument.get_long() == Some(option))
    }

    /// Whether the command line itself gives this option.
    pub fn says(&self, option: &str) -> bool {
        let argument = self.command.get_arguments().find(|argument| argument.get_long() == Some(option));
        argument.is_some_and(|argument| {
            self.matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
        })
    }

    /// Whether an option has this value if nobody gives it.
    pub fn is_default(&self, option: &str, value: &str) -> bool {
        let argument = self.command.get_arguments().find(|argument| argument.get_long() == Some(option));
        let defaults = argument.map(|argument| argument.get_default_values()).unwrap_or_default();
        defaults.iter().any(|default| default == value)
    }

    /// The options, with those that were given elsewhere in the place of defaults: the command line wins.
    pub fn with<A: Args + FromArgMatches>(&self, given: &[Given]) -> Result<A, CannotRun> {
        let others = given.iter().filter(|(option, _)| !self.says(option)).map(argument);
        let line = others.chain(self.line.iter().cloned());
        let matches = self.command.clone().try_get_matches_from(line).map_err(first_line)?;
        Ok(A::from_arg_matches(&matches).map_err(first_line)?)
    }

    /// The options in a TOML file. A key is an option's long name; an array stands for a list.
    pub fn read(&self, path: &Path) -> Result<Vec<Given>, CannotRun> {
        let name = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("the settings in {name} cannot be read: {error}"))?;
        self.parse(&text).map_err(|why| format!("{name}: {}. {EXPECTED}", why.trim_end()).into())
    }

    fn parse(&self, text: &str) -> Result<Vec<Given>, String> {
        let table: BTreeMap<Spanned<String>, Value> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        for (key, value) in table {
            let line = text[..key.span().start].matches('\n').count() + 1;
            let option = key.into_inner();
            self.known(&option).map_err(|why| format!("line {line}: {why}"))?;
            let value = plain(&value)
                .ok_or_else(|| format!("line {line}: `{option}` cannot be a table or a date"))?;
            // An option that is off is one that is not there.
            if value == "false" {
                continue;
            }
            let given = (option, value);
            let alone = self.command.clone().try_get_matches_from([argument(&given)]);
            alone.map_err(|error| format!("line {line}: {}", first_line(error)))?;
            all.push(given);
        }
        Ok(all)
    }

    fn known(&self, option: &str) -> Result<(), String> {
        let names = self.command.get_arguments().filter_map(|argument| argument.get_long());
        let mut names: Vec<&str> = names.filter(|name| !NOT_SETTINGS.contains(name)).collect();
        if names.contains(&option) {
            return Ok(());
        }
        names.sort_unstable();
        Err(format!("there is no setting `{option}`; the settings are {}", names.join(", ")))
    }
}

fn argument((option, value): &Given) -> OsString {
    if value == "true" { format!("--{option}").into() } else { format!("--{option}={value}").into() }
}

/// A value as it would stand on a command line.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().map(plain).collect::<Option<Vec<_>>>()?.join(",")),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

/// What clap says without how the command is used.
fn first_line(error: clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default().trim();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;

    #[derive(Debug, Args)]
    struct Options {
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(long = "how-many", default_value_t = 2)]
        count: u32,
        #[arg(long, value_delimiter = ',')]
        names: Vec<String>,
        #[arg(long)]
        quiet: bool,
        #[arg(long)]
        settings: Option<String>,
    }

    fn layered(line: &[&str]) -> Layered {
        Layered::of::<Options>("try", line.iter().map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_defaults() {
        let layered = layered(&["--seed", "7", "--settings", "x.toml"]);
        let given = layered.parse("seed = 5\nhow-many = 6\nnames = [\"a\", \"b\"]\nquiet = true\n").unwrap();
        let options: Options = layered.with(&given).unwrap();
        assert_eq!((options.seed, options.count, options.quiet), (7, 6, true));
        assert_eq!(options.names, ["a", "b"]);
        assert_eq!(options.settings.as_deref(), Some("x.toml"));
        assert!(layered.says("seed") && !layered.says("how-many") && !layered.says("nothing"));
    }

    #[test]
    fn what_a_file_says_wrong_is_refused_with_its_line() {
        let error = |text: &str| layered(&[]).parse(text).unwrap_err();
        assert_eq!(
            error("seed = 5\n\nsede = 6\n"),
            "line 3: there is no setting `sede`; the settings are how-many, names, quiet, seed"
        );
        assert_eq!(
            error("settings = \"y\"").split(';').next(),
            Some("line 1: there is no setting `settings`")
        );
        assert!(error("\nseed = \"many\"").starts_with("line 2: invalid value 'many' for '--seed <SEED>'"));
        assert_eq!(error("[seed]\nx = 1"), "line 1: `seed` cannot be a table or a date");
        assert!(error("seed = ").contains("line 1"));
    }
}
