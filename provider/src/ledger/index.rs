//! A disposable index beside the ledger: where the last commit of every object stands, and what is counted over the
//! whole ledger.
//!
//! The ledger alone is the truth. The index only saves reading all of it: a process that starts reads what was appended
//! after the index, and looks older objects up by a few reads, whatever the ledger's length. Nothing in it is believed
//! unchecked: it must name this very ledger and the hash of the line at which it ends, each of its blocks carries a
//! checksum, and what it leads to is read from the ledger. A file that fails any of this is as good as none.
//!
//! There are two files, so that the cost of keeping them does not grow with the ledger either: one that
//! covers all but the recent past, and a small one that covers the rest and is written often. Once the small
//! one has grown, both become one. A file is a header and then blocks of [`BLOCK`] bytes with sorted records,
//! so that a look-up is a binary search that reads and checks single blocks. Files are written anew and
//! renamed, never changed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equiform_proto::ledger::{Chain, Entry, LineHash};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::append::{AppendFile, Place};
use super::count::CountedHash;
use super::overlay::Overlay;

/// The size of the header and of each block.
const BLOCK: usize = 4096;
/// A record: two hashes of 16 bytes, and a place of 8 and 4 bytes.
const RECORD: usize = 44;
const RECORDS_PER_BLOCK: usize = (BLOCK - 4) / RECORD;
const VERSION: u32 = 3;
/// What the files add to the ledger's name.
const LARGE: &str = ".index";
const RECENT: &str = ".index-recent";

/// While the large file has fewer records, there is no small one. Tests have few records, and want both.
const SMALL: u64 = if cfg!(test) { 8 } else { 4096 };
/// About how many records come in between two writings of the small file.
const INCOMING: u64 = if cfg!(test) { 10 } else { 1000 };

/// What the header says, as JSON.
#[derive(Serialize, Deserialize)]
struct Head {
    equiform_ledger_index: u32,
    /// The hash of the ledger's first line.
    ledger: LineHash,
    /// In the small file: the hash of the line at which the large one ends, to which this one adds.
    follows: Option<LineHash>,
    /// Where the covered part ends, and the line that ends it.
    covered: u64,
    last_seq: u64,
    last_hash: LineHash,
    last_length: u32,
    records: u64,
}

/// One way to an object: by the hash of its id, or of its type and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    hash: [u8; 16],
    /// The hash of the object's id.
    object: [u8; 16],
    /// [`GONE`] in the small file for an object that is in the large one and no longer in the world.
    place: Place,
}

/// No line is empty.
const GONE: Place = Place { offset: 0, length: 0 };

/// A count in the form of a record: it leads to no line, and has the count in place of the offset.
fn count_record(hash: CountedHash, count: u64) -> Record {
    Record { hash, object: hash, place: Place { offset: count, length: 1 } }
}

/// An index that turned out not to hold: its ledger has to be read without it.
#[derive(Debug)]
pub struct Damaged;

impl From<Damaged> for io::Error {
    fn from(_: Damaged) -> Self {
        io::ErrorKind::InvalidData.into()
    }
}

/// An index that belongs to the ledger.
pub struct Index {
    large: Arc<Run>,
    small: Option<Run>,
}

impl Index {
    /// The index beside a ledger, if there is one that holds.
    pub fn load(path: &Path, ledger: &AppendFile) -> Option<Self> {
        let large = Run::load(&path_of(path, LARGE), ledger).filter(|run| run.head.follows.is_none())?;
        let small = Run::load(&path_of(path, RECENT), ledger);
        let small = small.filter(|run| run.head.follows == Some(large.head.last_hash));
        Some(Self { large: Arc::new(large), small })
    }

    /// How much of the ledger is covered.
    pub fn covered(&self) -> u64 {
        self.newest().head.covered
    }

    /// The chain at the end of the covered part.
    pub fn chain(&self) -> Chain {
        let head = &self.newest().head;
        Chain::resume(head.last_seq, head.last_hash)
    }

    fn newest(&self) -> &Run {
        self.small.as_ref().unwrap_or(&self.large)
    }

    /// The last covered commit of the object with this id.
    pub fn by_id(&self, ledger: &AppendFile, id: &str) -> Result<Option<Entry>, Damaged> {
        let hash = hash_of_id(id);
        let mut records = self.recent(hash)?;
        if records.is_empty() {
            records = self.large.find(hash)?;
        }
        let found = entries(ledger, &records)?;
        Ok(found.into_iter().find(|entry| entry.id.as_deref() == Some(id)))
    }

    /// The last covered commits of the objects of a type with this key.
    pub fn by_key(&self, ledger: &AppendFile, type_name: &str, key: &str) -> Result<Vec<Entry>, Damaged> {
        let hash = hash_of_key(type_name, key);
        let mut records = self.recent(hash)?;
        for record in self.large.find(hash)? {
            // What the small file knows of an object is newer.
            if self.recent(record.object)?.is_empty() {
                records.push(record);
            }
        }
        let mut found = entries(ledger, &records)?;
        found.retain(|entry| {
            entry.type_name.as_deref() == Some(type_name) && entry.key.as_deref() == Some(key)
        });
        Ok(found)
    }

    /// How often something was counted in the covered part.
    pub fn count(&self, counted: CountedHash) -> Result<u64, Damaged> {
        let mut records = self.recent(counted)?;
        if records.is_empty() {
            records = self.large.find(counted)?;
        }
        Ok(records.first().map_or(0, |record| record.place.offset))
    }

    fn recent(&self, hash: [u8; 16]) -> Result<Vec<Record>, Damaged> {
        self.small.as_ref().map_or(Ok(Vec::new()), |small| small.find(hash))
    }

    /// Writes an index of all that has been taken in: the old one, with what the overlay has touched put in its place.
    pub fn write(
        path: &Path,
        ledger: &AppendFile,
        old: Option<&Self>,
        overlay: &Overlay,
    ) -> io::Result<Self> {
        let mut touched = HashSet::new();
        let mut recent = Vec::new();
        for (id, touch) in overlay.touched() {
            let object = hash_of_id(id);
            touched.insert(object);
            let place = touch.last.as_ref().map_or(GONE, |(_, place)| *place);
            recent.push(Record { hash: object, object, place });
            if let Some((entry, place)) = &touch.last
                && let (Some(type_name), Some(key)) = (&entry.type_name, &entry.key)
            {
                recent.push(Record { hash: hash_of_key(type_name, key), object, place: *place });
            }
        }
        for (hash, count) in overlay.counts() {
            let before = old.map_or(Ok(0), |old| old.count(hash))?;
            touched.insert(hash);
            recent.push(count_record(hash, before + count));
        }
        if let Some(small) = old.and_then(|old| old.small.as_ref()) {
            for record in small.records() {
                let record = record?;
                if !touched.contains(&record.object) {
                    recent.push(record);
                }
            }
        }
        recent.sort_unstable();
        let large = old.map(|old| &old.large);
        // All in all the least is written when the small file may grow to the geometric mean of the large one and of
        // what comes in between two writings.
        let count = large.map_or(0, |large| large.head.records);
        let recent_count = recent.len() as u64;
        if let Some(large) = large
            && count >= SMALL
            && recent_count * recent_count < count * INCOMING
        {
            let follows = Some(large.head.last_hash);
            let small = Run::write(&path_of(path, RECENT), ledger, follows, recent.into_iter().map(Ok))?;
            return Ok(Self { large: large.clone(), small: Some(small) });
        }
        let replaced: HashSet<_> = recent.iter().map(|record| record.object).collect();
        let kept = large.into_iter().flat_map(|large| large.records());
        let kept =
            kept.filter(|record| !record.as_ref().is_ok_and(|record| replaced.contains(&record.object)));
        let fresh = recent.into_iter().filter(|record| record.place != GONE);
        let large = Run::write(&path_of(path, LARGE), ledger, None, merge(kept, fresh))?;
        // It follows on the file that has just been replaced, and would be passed over.
        let _ = std::fs::remove_file(path_of(path, RECENT));
        Ok(Self { large: Arc::new(large), small: None })
    }
}

/// The entries that records lead to.
fn entries(ledger: &AppendFile, records: &[Record]) -> Result<Vec<Entry>, Damaged> {
    let there = records.iter().filter(|record| record.place != GONE);
    there
        .map(|record| {
            let line = ledger.line(record.place).map_err(|_| Damaged)?;
            serde_json::from_slice(&line).map_err(|_| Damaged)
        })
        .collect()
}

/// One file of an index.
struct Run {
    file: File,
    head: Head,
}

impl Run {
    fn load(path: &Path, ledger: &AppendFile) -> Option<Self> {
        let file = File::open(path).ok()?;
        let head: Head = serde_json::from_slice(&read_block(&file, 0)?).ok()?;
        let belongs = head.equiform_ledger_index == VERSION
            && head.ledger == ledger.header_hash()
            && ledger.line(head.last_place()?).ok().as_deref().map(LineHash::of) == Some(head.last_hash);
        belongs.then_some(Self { file, head })
    }

    /// The records with a hash.
    fn find(&self, hash: [u8; 16]) -> Result<Vec<Record>, Damaged> {
        // The first block whose last record is not before the hash.
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.block(middle)?.last() {
                Some(last) if last.hash < hash => low = middle + 1,
                _ => high = middle,
            }
        }
        let mut found = Vec::new();
        for number in low..self.blocks() {
            let records = self.block(number)?;
            let start = records.partition_point(|record| record.hash < hash);
            found.extend(records[start..].iter().take_while(|record| record.hash == hash));
            if records.last().is_none_or(|last| last.hash > hash) {
                break;
            }
        }
        Ok(found)
    }

    /// All records in order.
    fn records(&self) -> impl Iterator<Item = Result<Record, Damaged>> {
        (0..self.blocks()).flat_map(|number| {
            let (records, damaged) = match self.block(number) {
                Ok(records) => (records, None),
                Err(damaged) => (Vec::new(), Some(Err(damaged))),
            };
            records.into_iter().map(Ok).chain(damaged)
        })
    }

    fn blocks(&self) -> u64 {
        self.head.records.div_ceil(RECORDS_PER_BLOCK as u64)
    }

    fn block(&self, number: u64) -> Result<Vec<Record>, Damaged> {
        let block = read_block(&self.file, (number + 1) * BLOCK as u64).ok_or(Damaged)?;
        let rest = self.head.records.checked_sub(number * RECORDS_PER_BLOCK as u64).ok_or(Damaged)?;
        let count = usize::try_from(rest).map_err(|_| Damaged)?.min(RECORDS_PER_BLOCK);
        Ok(block.chunks_exact(RECORD).take(count).map(Record::from_bytes).collect())
    }

    /// Writes a file of sorted records that covers all that the ledger's file has taken in.
    fn write(
        path: &Path,
        ledger: &AppendFile,
        follows: Option<LineHash>,
        records: impl Iterator<Item = Result<Record, Damaged>>,
    ) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".equiform-index-").tempfile_in(folder)?;
        let mut out = BufWriter::with_capacity(16 * BLOCK, file);
        // The header comes when the number of records is known.
        out.write_all(&[0; BLOCK])?;
        let mut count = 0;
        let mut block = Vec::with_capacity(BLOCK);
        for record in records {
            record?.append_to(&mut block);
            count += 1;
            if block.len() == RECORDS_PER_BLOCK * RECORD {
                write_block(&mut out, &mut block, 0)?;
            }
        }
        if !block.is_empty() {
            write_block(&mut out, &mut block, 0)?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let head = Head {
            equiform_ledger_index: VERSION,
            ledger: ledger.header_hash(),
            follows,
            covered: ledger.accounted(),
            last_seq: ledger.chain().last_seq(),
            last_hash: ledger.chain().last_hash().ok_or(Damaged)?,
            last_length: ledger.last_line().ok_or(Damaged)?.length,
            records: count,
        };
        // JSON may be followed by white space, so the padding needs no length.
        let mut first = Vec::with_capacity(BLOCK);
        write_block(&mut first, &mut serde_json::to_vec(&head)?, b' ')?;
        file.as_file().write_all_at(&first, 0)?;
        let file = file.persist(path).map_err(|error| error.error)?;
        Ok(Self { file, head })
    }
}

impl Head {
    fn last_place(&self) -> Option<Place> {
        let offset = self.covered.checked_sub(u64::from(self.last_length) + 1)?;
        Some(Place { offset, length: self.last_length })
    }
}

impl Record {
    fn from_bytes(bytes: &[u8]) -> Self {
        let part = |range: std::ops::Range<usize>| &bytes[range];
        Self {
            hash: part(0..16).try_into().expect("16 bytes"),
            object: part(16..32).try_into().expect("16 bytes"),
            place: Place {
                offset: u64::from_be_bytes(part(32..40).try_into().expect("8 bytes")),
                length: u32::from_be_bytes(part(40..44).try_into().expect("4 bytes")),
            },
        }
    }

    fn append_to(&self, block: &mut Vec<u8>) {
        block.extend_from_slice(&self.hash);
        block.extend_from_slice(&self.object);
        block.extend_from_slice(&self.place.offset.to_be_bytes());
        block.extend_from_slice(&self.place.length.to_be_bytes());
    }
}

/// Merges two sorted sequences.
fn merge(
    left: impl Iterator<Item = Result<Record, Damaged>>,
    right: impl Iterator<Item = Record>,
) -> impl Iterator<Item = Result<Record, Damaged>> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(Ok(a)), Some(b)) if b < a => right.next().map(Ok),
        (Some(_), _) => left.next(),
        (None, _) => right.next().map(Ok),
    })
}

/// Writes the content as a block, and clears it.
fn write_block(out: &mut impl Write, content: &mut Vec<u8>, padding: u8) -> io::Result<()> {
    content.resize(BLOCK - 4, padding);
    out.write_all(content)?;
    out.write_all(&crc32fast::hash(content).to_be_bytes())?;
    content.clear();
    Ok(())
}

/// A block's content, if it is there and its checksum holds.
fn read_block(file: &File, offset: u64) -> Option<Vec<u8>> {
    let mut block = vec![0; BLOCK];
    file.read_exact_at(&mut block, offset).ok()?;
    let checksum = block.split_off(BLOCK - 4);
    (crc32fast::hash(&block).to_be_bytes() == checksum[..]).then_some(block)
}

fn path_of(ledger: &Path, suffix: &str) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn hash_of_id(id: &str) -> [u8; 16] {
    shortened(Sha256::new().chain_update(b"id\0").chain_update(id))
}

fn hash_of_key(type_name: &str, key: &str) -> [u8; 16] {
    shortened(
        Sha256::new().chain_update(b"key\0").chain_update(type_name).chain_update(b"\0").chain_update(key),
    )
}

fn shortened(hasher: Sha256) -> [u8; 16] {
    *hasher.finalize().first_chunk().expect("a SHA-256 has 32 bytes")
}
