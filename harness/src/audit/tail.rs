//! The end of a ledger, read from the end, and what is appended later.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use equiform_proto::ledger::{BadLine, Chain, Entry, LineHash, Record};

use super::filter::Filter;
use super::names::Names;
use super::walk::{AuditError, Walk};

/// The first stretch that is read from the end; it grows until it holds enough entries.
const FIRST_WINDOW: u64 = 1 << 16;

/// The last entries of a ledger.
pub struct Tailed {
    /// Those that were asked for, with their lines, in the ledger's order.
    pub entries: Vec<(Entry, Vec<u8>)>,
    /// The names of the objects that were met on the way.
    pub names: Names,
    /// How many bytes of an unfinished line stand at the end.
    pub torn_bytes: u64,
    /// What is needed to go on from here.
    pub follow: Follow,
}

/// Reads the last `count` entries that pass the filter. The chain is checked from the first line that is looked at; the
/// lines before it are not read.
pub fn last_entries(path: &Path, count: usize, filter: &Filter) -> Result<Tailed, AuditError> {
    // Opening tells a ledger from another file.
    Walk::open(path, |file| Box::new(file))?;
    let file = File::open(path).map_err(|error| AuditError::io(path, error))?;
    let length = file.metadata().map_err(|error| AuditError::io(path, error))?.len();
    let mut window = FIRST_WINDOW;
    loop {
        let start = length.saturating_sub(window);
        let follow = Follow::at(path, &file)?;
        if let Some(tailed) = read_from(follow, start, count, filter)?
            && (start == 0 || tailed.entries.len() >= count)
        {
            return Ok(tailed);
        }
        window *= 4;
    }
}

/// Reads from the line after `start` to the end; `None` if there is no whole entry to follow on.
fn read_from(
    mut follow: Follow,
    start: u64,
    count: usize,
    filter: &Filter,
) -> Result<Option<Tailed>, AuditError> {
    let path = follow.path.clone();
    // Shares its position with the file that is followed later.
    let mut file = follow.file.try_clone().map_err(|error| AuditError::io(&path, error))?;
    file.seek(SeekFrom::Start(start)).map_err(|error| AuditError::io(&path, error))?;
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut next_line = |line: &mut Vec<u8>| {
        line.clear();
        input.read_until(b'\n', line).map_err(|error| AuditError::io(&path, error))
    };
    let mut line = Vec::new();
    if start > 0 {
        next_line(&mut line)?;
        follow.chain = loop {
            if next_line(&mut line)? == 0 {
                return Ok(None);
            }
            if let Some(whole) = line.strip_suffix(b"\n")
                && let Ok(anchor) = serde_json::from_slice::<Entry>(whole)
            {
                break Chain::resume(anchor.seq, LineHash::of(whole));
            }
        };
    }
    let mut names = Names::default();
    let mut entries = VecDeque::new();
    let mut keep = |entry: Entry, line: &[u8]| {
        names.learn(&entry);
        if count > 0 && filter.passes(&entry) {
            if entries.len() == count {
                entries.pop_front();
            }
            entries.push_back((entry, line.to_vec()));
        }
    };
    while next_line(&mut line)? > 0 {
        let Some(whole) = line.strip_suffix(b"\n") else {
            follow.unfinished = std::mem::take(&mut line);
            break;
        };
        if let Some(entry) = follow.accept(whole)? {
            keep(entry, whole);
        }
    }
    if let Some((entry, line)) = follow.adopt()? {
        keep(entry, &line);
    }
    let torn_bytes = follow.torn_bytes();
    Ok(Some(Tailed { entries: entries.into(), names, torn_bytes, follow }))
}

/// A place at the end of a ledger from which to go on as it grows.
pub struct Follow {
    path: PathBuf,
    file: File,
    inode: u64,
    chain: Chain,
    unfinished: Vec<u8>,
    /// The last line was whole but for its line break, which is still to come.
    break_due: bool,
}

impl Follow {
    fn at(path: &Path, file: &File) -> Result<Self, AuditError> {
        let open = || {
            let file = file.try_clone()?;
            let inode = file.metadata()?.ino();
            Ok((file, inode))
        };
        let (file, inode) = open().map_err(|error| AuditError::io(path, error))?;
        let chain = Chain::default();
        Ok(Self { path: path.to_owned(), file, inode, chain, unfinished: Vec::new(), break_due: false })
    }

    /// The entries whose lines were finished since the last look, with their lines.
    pub fn more(&mut self) -> Result<Vec<(Entry, Vec<u8>)>, AuditError> {
        self.still_there()?;
        let fresh = self.unfinished.len();
        let io = |error| AuditError::io(&self.path, error);
        self.file.read_to_end(&mut self.unfinished).map_err(io)?;
        if self.unfinished.len() > fresh && self.break_due {
            self.break_due = false;
            if self.unfinished.first() == Some(&b'\n') {
                self.unfinished.remove(0);
            }
        }
        let bytes = std::mem::take(&mut self.unfinished);
        let mut entries = Vec::new();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(whole) => entries.extend(self.accept(whole)?.map(|entry| (entry, whole.to_vec()))),
                None => self.unfinished = line.to_vec(),
            }
        }
        Ok(entries)
    }

    /// A ledger only grows: anything else means that this is not the file it was.
    fn still_there(&mut self) -> Result<(), AuditError> {
        let shrunk = || AuditError::Shrunk { path: self.path.clone() };
        let position = self.file.stream_position().map_err(|error| AuditError::io(&self.path, error))?;
        let there = std::fs::metadata(&self.path).map_err(|_| shrunk())?;
        if there.ino() != self.inode || there.len() < position { Err(shrunk()) } else { Ok(()) }
    }

    fn accept(&mut self, line: &[u8]) -> Result<Option<Entry>, AuditError> {
        match self.chain.accept(line) {
            Ok(Record::Entry(entry)) => Ok(Some(*entry)),
            Ok(Record::Header(_) | Record::Torn) => Ok(None),
            Err(reason) => Err(self.damage(reason)),
        }
    }

    /// Takes an unterminated last line that is whole otherwise.
    fn adopt(&mut self) -> Result<Option<(Entry, Vec<u8>)>, AuditError> {
        if self.unfinished.is_empty() {
            return Ok(None);
        }
        let mut chain = self.chain.clone();
        match chain.accept(&self.unfinished) {
            Ok(Record::Entry(entry)) => {
                self.chain = chain;
                self.break_due = true;
                Ok(Some((*entry, std::mem::take(&mut self.unfinished))))
            }
            Ok(Record::Header(_)) => {
                self.chain = chain;
                self.break_due = true;
                self.unfinished.clear();
                Ok(None)
            }
            Ok(Record::Torn) => Ok(None),
            Err(reason) => Err(self.damage(reason)),
        }
    }

    fn torn_bytes(&self) -> u64 {
        let mut chain = self.chain.clone();
        if !self.unfinished.is_empty() {
            // Whether it is accepted was seen when it was read.
            let _ = chain.accept(&self.unfinished);
        }
        chain.torn().map_or(0, |torn| torn.bytes)
    }

    fn damage(&self, reason: BadLine) -> AuditError {
        AuditError::DamagedEnd { path: self.path.clone(), after: self.chain.last_seq(), reason }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use equiform_proto::ledger::{FORMAT_VERSION, Header, Operation, Phase};
    use tempfile::NamedTempFile;

    use super::*;

    struct Writer {
        file: NamedTempFile,
        chain: Chain,
    }

    impl Writer {
        fn new() -> Self {
            let mut writer = Self { file: NamedTempFile::new().unwrap(), chain: Chain::default() };
            let header = Header {
                version: FORMAT_VERSION,
                id: "test".to_owned(),
                created: "2026-01-01T00:00:00Z".parse().unwrap(),
            };
            let line = serde_json::to_vec(&header).unwrap();
            writer.chain.accept(&line).unwrap();
            writer.write(&line);
            writer.write(b"\n");
            writer
        }

        fn line(&mut self) -> Vec<u8> {
            let seq = self.chain.last_seq() + 1;
            let mut entry =
                Entry::new(seq, Operation::Mark, Phase::Commit, 1, self.chain.last_hash().unwrap());
            entry.note = Some(format!("note {}", seq % 100));
            entry.run = Some(format!("run {}", seq % 1000));
            entry.torn = self.chain.torn();
            let line = serde_json::to_vec(&entry).unwrap();
            self.chain.accept(&line).unwrap();
            line
        }

        fn append(&mut self, count: usize) {
            let mut bytes = Vec::new();
            for _ in 0..count {
                bytes.extend(self.line());
                bytes.push(b'\n');
            }
            self.write(&bytes);
        }

        fn write(&mut self, bytes: &[u8]) {
            self.file.write_all(bytes).unwrap();
            self.file.flush().unwrap();
        }

        fn last(&self, count: usize, filter: &Filter) -> Tailed {
            last_entries(self.file.path(), count, filter).unwrap()
        }
    }

    fn seqs(entries: &[(Entry, Vec<u8>)]) -> Vec<u64> {
        entries.iter().map(|(entry, _)| entry.seq).collect()
    }

    #[test]
    fn the_last_entries_come_in_order_whether_the_ledger_is_short_or_long() {
        for length in [2u64, 3, 4, 5000] {
            let mut writer = Writer::new();
            writer.append(length as usize);
            let expected: Vec<u64> = (1..=length).skip(length.saturating_sub(3) as usize).collect();
            assert_eq!(seqs(&writer.last(3, &Filter::default()).entries), expected);
        }
    }

    #[test]
    fn a_filter_reaches_as_far_back_as_it_has_to() {
        let mut writer = Writer::new();
        writer.append(5000);
        let filter = Filter { runs: vec!["run 7".to_owned()], ..Filter::default() };
        assert_eq!(seqs(&writer.last(3, &filter).entries), [2007, 3007, 4007]);
        assert_eq!(seqs(&writer.last(9, &filter).entries), [7, 1007, 2007, 3007, 4007]);
    }

    #[test]
    fn what_is_appended_later_follows_once_its_line_is_finished() {
        let mut writer = Writer::new();
        writer.append(2);
        let mut follow = writer.last(0, &Filter::default()).follow;
        assert!(follow.more().unwrap().is_empty());
        let line = writer.line();
        writer.write(&line[..20]);
        assert!(follow.more().unwrap().is_empty());
        writer.write(&line[20..]);
        assert!(follow.more().unwrap().is_empty());
        writer.write(b"\n");
        writer.append(2);
        assert_eq!(seqs(&follow.more().unwrap()), [3, 4, 5]);
    }

    #[test]
    fn a_last_line_that_lacks_only_its_break_counts_and_is_followed_on() {
        let mut writer = Writer::new();
        writer.append(2);
        let line = writer.line();
        writer.write(&line);
        let mut tailed = writer.last(5, &Filter::default());
        assert_eq!((seqs(&tailed.entries), tailed.torn_bytes), (vec![1, 2, 3], 0));
        writer.write(b"\n");
        writer.append(1);
        assert_eq!(seqs(&tailed.follow.more().unwrap()), [4]);
    }

    #[test]
    fn an_unfinished_line_is_counted_and_later_accounted_for() {
        let mut writer = Writer::new();
        writer.append(2);
        let torn = writer.chain.clone().accept(b"{\"seq\":3").map(|_| b"{\"seq\":3").unwrap();
        writer.write(torn);
        let mut tailed = writer.last(5, &Filter::default());
        assert_eq!((seqs(&tailed.entries), tailed.torn_bytes), (vec![1, 2], 8));
        writer.chain.accept(torn).unwrap();
        writer.write(b"\n");
        writer.append(1);
        assert_eq!(seqs(&tailed.follow.more().unwrap()), [3]);
    }

    #[test]
    fn damage_near_the_end_is_told_by_the_entry_before_it() {
        let mut writer = Writer::new();
        writer.append(2000);
        writer.line();
        writer.append(1);
        let error = last_entries(writer.file.path(), 3, &Filter::default()).err().unwrap();
        assert!(matches!(error, AuditError::DamagedEnd { after: 2000, .. }), "{error}");
    }

    #[test]
    fn a_ledger_that_gets_shorter_is_not_followed_on() {
        let mut writer = Writer::new();
        writer.append(2);
        let mut follow = writer.last(0, &Filter::default()).follow;
        writer.file.as_file().set_len(10).unwrap();
        assert!(matches!(follow.more(), Err(AuditError::Shrunk { .. })));
    }
}
