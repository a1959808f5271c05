//! What is quoted of Terraform's output and of its state.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use super::output;
use crate::evidence::{OUTPUT, Quote, STATE, Topic};

/// How much of a line is quoted.
const WIDTH: usize = 400;

/// The most lines of a file.
const MOST: usize = 20;

/// The lines of a stage's output that are about a topic. What cannot be read has none.
pub fn of_output(stage: &Path, topic: Topic) -> Vec<Quote> {
    let file = file_of(stage, OUTPUT);
    let text = fs::read(stage.join(OUTPUT)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let told = text.lines().enumerate().filter_map(|(number, line)| {
        let said = match serde_json::from_str::<Json>(line) {
            Ok(message) => {
                let is_it = match topic {
                    Topic::Errors => message["@level"] == "error",
                    Topic::Plans => {
                        matches!(message["type"].as_str(), Some("planned_change" | "change_summary"))
                    }
                };
                is_it.then(|| output::in_one_line(message["@message"].as_str().unwrap_or_default()))?
            }
            Err(_) => (topic == Topic::Errors && output::is_alarming(line)).then(|| line.to_owned())?,
        };
        let place = format!("line {}", number + 1);
        Some(Quote { file: file.clone(), place, text: cut(&said) })
    });
    told.take(MOST).collect()
}

/// What a stage's state says of resources with these names; of all if there are none.
pub fn of_state(stage: &Path, names: &[String]) -> Vec<Quote> {
    let file = file_of(stage, STATE);
    let bytes = fs::read(stage.join(STATE)).unwrap_or_default();
    let Ok(state) = serde_json::from_slice::<Json>(&bytes) else { return Vec::new() };
    let quote = |place: String, text: String| Quote { file: file.clone(), place, text: cut(&text) };
    let mut quotes = vec![quote("serial".to_owned(), state["serial"].to_string())];
    for (place, resource) in state["resources"].as_array().into_iter().flatten().enumerate() {
        let name = resource["name"].as_str().unwrap_or_default();
        if !names.is_empty() && !names.iter().any(|it| it == name) {
            continue;
        }
        let type_name = resource["type"].as_str().unwrap_or_default();
        for (number, instance) in resource["instances"].as_array().into_iter().flatten().enumerate() {
            let mut parts = vec![format!("{type_name}.{name}")];
            parts.extend(instance["attributes"]["id"].as_str().map(str::to_owned));
            for key in ["deposed", "status", "create_before_destroy", "dependencies"] {
                parts.extend(instance.get(key).map(|value| format!("{key} = {value}")));
            }
            let place = format!("resources.{place}.instances.{number}");
            quotes.push(quote(place, parts.join(", ")));
        }
    }
    quotes.truncate(MOST);
    quotes
}

/// A file of a stage, from the variant's folder on.
fn file_of(stage: &Path, file: &str) -> String {
    let name = stage.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}/{file}")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
