//! Programs over numbers instead of names: a step through a large program is then a step through a vector.

use rustc_hash::FxHashMap;

use super::description::{Deployment, EdgeKind};

/// The number of a resource: the place of its key among all keys, sorted.
pub type Number = u32;

/// The keys of some programs, numbered.
pub struct Numbering<'a> {
    keys: Vec<&'a str>,
    numbers: FxHashMap<&'a str, Number>,
}

impl<'a> Numbering<'a> {
    /// The keys of all of these programs.
    pub fn of(deployments: &[&'a Deployment]) -> Self {
        let keys = deployments.iter().flat_map(|deployment| deployment.resources.keys());
        let mut keys: Vec<&str> = keys.map(String::as_str).collect();
        keys.sort();
        keys.dedup();
        let numbers = keys.iter().copied().zip(0..).collect();
        Self { keys, numbers }
    }

    /// The key with a number.
    pub fn key(&self, number: Number) -> &'a str {
        self.keys[number as usize]
    }

    /// All keys; each stands at its number.
    pub fn keys(&self) -> &[&'a str] {
        &self.keys
    }

    /// The program over numbers. Dependencies on what is in none of the programs are left out.
    pub fn program(&self, deployment: &Deployment) -> NumberedProgram {
        let mut program = NumberedProgram {
            present: Vec::with_capacity(self.keys.len()),
            asks: vec![false; self.keys.len()],
            starts: Vec::with_capacity(self.keys.len() + 1),
            dependencies: Vec::new(),
        };
        let mut resources = deployment.resources.iter().peekable();
        for (place, key) in self.keys.iter().enumerate() {
            program.starts.push(program.dependencies.len());
            let described = resources.next_if(|(next, _)| next == key);
            program.present.push(described.is_some());
            let Some((_, description)) = described else { continue };
            program.asks[place] = description.create_before_destroy;
            let known = description.dependencies.iter();
            program
                .dependencies
                .extend(known.filter_map(|(key, kind)| Some((*self.numbers.get(key.as_str())?, *kind))));
        }
        program.starts.push(program.dependencies.len());
        program
    }
}

/// A program over numbers.
pub struct NumberedProgram {
    present: Vec<bool>,
    /// Whether a resource asks for create_before_destroy.
    asks: Vec<bool>,
    /// Where the dependencies of each number begin; those of the next one begin where they end.
    starts: Vec<usize>,
    dependencies: Vec<(Number, EdgeKind)>,
}

impl NumberedProgram {
    /// The numbers that are in the program.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        (0..).zip(&self.present).filter(|(_, present)| **present).map(|(number, _)| number)
    }

    /// Whether a number is in the program.
    pub fn has(&self, number: Number) -> bool {
        self.present[number as usize]
    }

    /// What a resource depends on, and how, in the order of the numbers.
    pub fn dependencies(&self, number: Number) -> &[(Number, EdgeKind)] {
        &self.dependencies[self.starts[number as usize]..self.starts[number as usize + 1]]
    }

    /// The edge by which a resource depends on another, if there is one.
    pub fn edge(&self, dependency: Number, dependent: Number) -> Option<EdgeKind> {
        let edges = self.dependencies(dependent);
        let place = edges.binary_search_by_key(&dependency, |(number, _)| *number).ok()?;
        Some(edges[place].1)
    }

    /// Whether a resource asks for create_before_destroy itself.
    pub fn asks(&self, number: Number) -> bool {
        self.asks[number as usize]
    }

    /// For each number whether create_before_destroy is in force: see [`Deployment::create_before_destroy`].
    pub fn create_before_destroy(&self) -> Vec<bool> {
        self.spread(&self.asks)
    }

    /// For each number whether it is here and among the given ones, or one of those depends on it here, through the whole
    /// chain.
    pub fn spread(&self, from: &[bool]) -> Vec<bool> {
        let mut reached = vec![false; self.present.len()];
        let mut open: Vec<Number> = self.numbers().filter(|number| from[*number as usize]).collect();
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut reached[number as usize], true) {
                open.extend(self.dependencies(number).iter().map(|(dependency, _)| *dependency));
            }
        }
        reached
    }

    /// The numbers in an order in which dependencies come first.
    pub fn dependencies_first(&self) -> Vec<Number> {
        let (mut seen, mut order) = (vec![false; self.present.len()], Vec::new());
        let mut unseen = |number: Number| !std::mem::replace(&mut seen[number as usize], true);
        for number in self.numbers() {
            if !unseen(number) {
                continue;
            }
            // Not by recursion: a chain is as long as the program is.
            let mut path = vec![(number, self.dependencies(number).iter())];
            while let Some((number, dependencies)) = path.last_mut() {
                match dependencies.next() {
                    Some(&(dependency, _)) if unseen(dependency) => {
                        path.push((dependency, self.dependencies(dependency).iter()));
                    }
                    Some(_) => {}
                    None => {
                        order.push(*number);
                        path.pop();
                    }
                }
            }
        }
        order
    }
}

/// Walks from one resource after the other to what it depends on, and takes no new memory for each.
pub struct Walk {
    /// The walk in which each number was reached last.
    reached_in: Vec<u32>,
    walk: u32,
    open: Vec<Number>,
    found: Vec<Number>,
}

impl Walk {
    /// Walks in programs of so many numbers.
    pub fn over(numbers: usize) -> Self {
        Self { reached_in: vec![0; numbers], walk: 0, open: Vec::new(), found: Vec::new() }
    }

    /// What a resource depends on, through those of which `ends` is false. Those of which it is true are reached, and not
    /// passed.
    pub fn from(
        &mut self,
        program: &NumberedProgram,
        number: Number,
        ends: impl Fn(Number) -> bool,
    ) -> &[Number] {
        self.walk += 1;
        self.found.clear();
        let dependencies = |number| program.dependencies(number).iter().map(|(dependency, _)| *dependency);
        self.open.extend(dependencies(number));
        while let Some(dependency) = self.open.pop() {
            if std::mem::replace(&mut self.reached_in[dependency as usize], self.walk) == self.walk {
                continue;
            }
            self.found.push(dependency);
            if !ends(dependency) {
                self.open.extend(dependencies(dependency));
            }
        }
        &self.found
    }

    /// Whether the last walk reached a number that was not crossed out since. It is now.
    pub fn cross_out(&mut self, number: Number) -> bool {
        self.walk > 0 && std::mem::replace(&mut self.reached_in[number as usize], 0) == self.walk
    }
}
