//! The two tables in docs/oracles.md that say which oracles see which fault.
//!
//! A run with `EQUIFORM_UPDATE_PAGES=1` writes into them what it measured. It leaves the rows of faults that it did not
//! try as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::ops::Range;

use equiform::judge::oracles::ORACLES;

use super::list::{Fault, plain, special};

/// The page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md");

/// The names of the oracles that see a fault.
pub type Marks = BTreeSet<String>;

/// A table of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Of the faults that plain programs show.
    Plain,
    /// Of the faults that need a workflow or a change.
    Special,
}

/// The rows of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct Matrix {
    pub table: Table,
    /// By the title of a fault.
    pub rows: BTreeMap<String, Marks>,
}

impl Fault {
    /// The first cells of its row.
    pub fn title(&self) -> String {
        match self.only_with {
            None => self.name.to_owned(),
            Some(with) => format!("{} | {}", with.name(), self.name),
        }
    }
}

impl Table {
    /// The faults that it lists, in its order.
    pub fn faults(self) -> Vec<&'static Fault> {
        match self {
            Self::Plain => plain(),
            Self::Special => special(),
        }
    }

    /// The titles of the columns before those of the oracles.
    fn head(self) -> &'static str {
        match self {
            Self::Plain => "fault",
            Self::Special => "only with | fault",
        }
    }

    /// How many columns are before those of the oracles.
    fn titles(self) -> usize {
        self.head().split('|').count()
    }

    /// Where it is on a page, in lines: from its head to its last row.
    fn place(self, lines: &[&str]) -> Range<usize> {
        let head = format!("| {} | `", self.head());
        let begin = lines.iter().position(|line| line.starts_with(&head));
        let begin = begin.unwrap_or_else(|| panic!("docs/oracles.md has no table {head}"));
        let rows = lines[begin..].iter().take_while(|line| line.starts_with('|')).count();
        begin..begin + rows
    }
}

impl Matrix {
    /// The table as a page has it. Nobody may have written a row twice.
    fn read(table: Table, page: &str) -> Self {
        let lines: Vec<&str> = page.lines().collect();
        let lines = &lines[table.place(&lines)];
        let cells = |line: &str| -> Vec<String> {
            let line = line.trim_start_matches("| ").trim_end_matches('|');
            line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
        };
        let oracles = cells(lines[0]).split_off(table.titles());
        let mut rows = BTreeMap::new();
        // The last row counts the others.
        for line in &lines[2..lines.len() - 1] {
            let mut cells = cells(line);
            let marks = cells.split_off(table.titles());
            let seen = oracles.iter().zip(marks).filter(|(_, mark)| mark == "x");
            let seen = seen.map(|(oracle, _)| oracle.clone()).collect();
            assert_eq!(rows.insert(cells.join(" | "), seen), None, "docs/oracles.md has two rows {cells:?}");
        }
        Self { table, rows }
    }

    /// The table in Markdown, in the order of the list, the oracle known from the literature first. Rows of faults that
    /// the list does not have are left out.
    pub fn text(&self) -> String {
        let row = |title: &str, cells: Vec<String>| format!("| {title} | {} |\n", cells.join(" | "));
        let of_oracles =
            |cell: &dyn Fn(&str) -> String| ORACLES.iter().map(|oracle| cell(oracle.name())).collect();
        let mut table = row(self.table.head(), of_oracles(&|name| format!("`{name}`")));
        let (titles, oracles) = ("---|".repeat(self.table.titles()), ":-:|".repeat(ORACLES.len()));
        table += &format!("|{titles}{oracles}\n");
        let titles = self.table.faults().into_iter().map(Fault::title);
        let rows: Vec<(String, &Marks)> =
            titles.filter_map(|title| self.rows.get(&title).map(|marks| (title, marks))).collect();
        for (title, marks) in &rows {
            let mark = |name: &str| if marks.contains(name) { "x" } else { "" }.to_owned();
            table += &row(title, of_oracles(&mark));
        }
        let total = " | ".repeat(self.table.titles() - 1);
        let counts =
            of_oracles(&|name| rows.iter().filter(|(_, seen)| seen.contains(name)).count().to_string());
        table + &row(&format!("{total}**of {} sees**", rows.len()), counts)
    }

    /// A page with this table in the place of its own.
    fn written(&self, page: &str) -> String {
        let lines: Vec<&str> = page.lines().collect();
        let place = self.table.place(&lines);
        let text = self.text();
        let lines = lines[..place.start]
            .iter()
            .copied()
            .chain(text.lines())
            .chain(lines[place.end..].iter().copied());
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// What is wrong with the page's table.
    fn problems(&self, page: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for fault in self.table.faults() {
            match self.rows.get(&fault.title()) {
                None => problems.push(format!("there is no row for {:?}", fault.name)),
                Some(marks) if !marks.contains(fault.seen_by) => {
                    problems.push(format!("{:?} must be seen by {}", fault.name, fault.seen_by));
                }
                Some(_) => {}
            }
        }
        let titles: BTreeSet<String> = self.table.faults().into_iter().map(Fault::title).collect();
        let extra = self.rows.keys().filter(|title| !titles.contains(*title));
        problems.extend(extra.map(|title| format!("there is no fault {title:?}")));
        if problems.is_empty() && self.written(page) != page {
            problems.push("the columns, the order of the rows or the last row are wrong".to_owned());
        }
        problems
    }
}

/// Whether the page takes over what is measured.
pub fn is_updated() -> bool {
    env::var_os("EQUIFORM_UPDATE_PAGES").is_some()
}

/// Writes what was measured into the page.
pub fn update(table: Table, measured: &BTreeMap<String, Marks>) {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut matrix = Matrix::read(table, &page);
    matrix.rows.extend(measured.clone());
    fs::write(PAGE, matrix.written(&page)).unwrap();
}

/// Prints which rows of the page are not what was measured. Some depend on timing, so that is no failure.
pub fn print_differences(table: Table, measured: &BTreeMap<String, Marks>) {
    let page = Matrix::read(table, &fs::read_to_string(PAGE).unwrap());
    for (title, marks) in measured.iter().filter(|(title, marks)| page.rows.get(*title) != Some(marks)) {
        println!("docs/oracles.md has {:?} for {title:?}, and this run {marks:?}", page.rows.get(title));
    }
}

#[test]
fn the_page_has_a_row_for_every_fault_and_no_other() {
    // Another test is writing it.
    if is_updated() {
        return;
    }
    let page = fs::read_to_string(PAGE).unwrap();
    for table in [Table::Plain, Table::Special] {
        let problems = Matrix::read(table, &page).problems(&page);
        assert!(
            problems.is_empty(),
            "docs/oracles.md: {}. EQUIFORM_UPDATE_PAGES=1 rewrites the rows of the faults that are tried",
            problems.join("; ")
        );
    }
}

#[test]
fn a_row_is_replaced_and_others_stay() {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut matrix = Matrix::read(Table::Plain, &page);
    let fault = plain()[3];
    let marks: Marks = ["graph".to_owned(), fault.seen_by.to_owned()].into();
    matrix.rows.insert(fault.title(), marks.clone());
    matrix.rows.insert("no such fault".to_owned(), Marks::new());
    let mut again = Matrix::read(Table::Plain, &matrix.written(&page));
    assert_eq!(again.rows.get(&fault.title()), Some(&marks));
    matrix.rows.remove("no such fault");
    assert_eq!(again, matrix);
    again.rows.insert("no such fault".to_owned(), Marks::new());
    again.rows.remove(&plain()[0].title());
    assert_eq!(again.problems(&page).len(), 2);
}
