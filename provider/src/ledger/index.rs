//! A disposable index beside the ledger: where the last commit of every object stands.
//!
//! The ledger alone is the truth. The index only saves reading all of it: a process that starts reads what was appended
//! after the index, and looks older objects up by a few reads, whatever the ledger's length. Nothing in it is believed
//! unchecked: it must name this very ledger and the hash of the line at which it ends, each of its blocks carries a
//! checksum, and what it leads to is read from the ledger. A file that fails any of this is as good as none.
//!
//! The file is a header and then blocks of [`BLOCK`] bytes with sorted records, so that a look-up is a binary search that
//! reads and checks single blocks. It is written anew and renamed, never changed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use equiform_proto::ledger::{Chain, Entry, LineHash};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::append::{AppendFile, Place};
use super::overlay::Overlay;

/// The size of the header and of each block.
const BLOCK: usize = 4096;
/// A record: two hashes of 16 bytes, and a place of 8 and 4 bytes.
const RECORD: usize = 44;
const RECORDS_PER_BLOCK: usize = (BLOCK - 4) / RECORD;
const VERSION: u32 = 1;

/// What the header says, as JSON.
#[derive(Serialize, Deserialize)]
struct Head {
    equiform_ledger_index: u32,
    /// The hash of the ledger's first line.
    ledger: LineHash,
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
    place: Place,
}

/// An index that turned out not to hold: its ledger has to be read without it.
#[derive(Debug)]
pub struct Damaged;

/// An index that belongs to the ledger.
pub struct Index {
    file: File,
    head: Head,
}

impl Index {
    /// The index beside a ledger, if there is one that holds.
    pub fn load(ledger: &Path, file: &AppendFile) -> Option<Self> {
        let index = File::open(path_of(ledger)).ok()?;
        let head: Head = serde_json::from_slice(&read_block(&index, 0)?).ok()?;
        let belongs = head.equiform_ledger_index == VERSION
            && Some(head.ledger) == file.chain().last_hash()
            && file.line(head.last_place()?).ok().as_deref().map(LineHash::of) == Some(head.last_hash);
        belongs.then_some(Self { file: index, head })
    }

    /// How much of the ledger is covered.
    pub fn covered(&self) -> u64 {
        self.head.covered
    }

    /// The chain at the end of the covered part.
    pub fn chain(&self) -> Chain {
        Chain::resume(self.head.last_seq, self.head.last_hash)
    }

    /// The last covered commit of the object with this id.
    pub fn by_id(&self, ledger: &AppendFile, id: &str) -> Result<Option<Entry>, Damaged> {
        let found = self.find(ledger, hash_of_id(id))?;
        Ok(found.into_iter().find(|entry| entry.id.as_deref() == Some(id)))
    }

    /// The last covered commits of the objects of a type with this key.
    pub fn by_key(&self, ledger: &AppendFile, type_name: &str, key: &str) -> Result<Vec<Entry>, Damaged> {
        let mut found = self.find(ledger, hash_of_key(type_name, key))?;
        found.retain(|entry| {
            entry.type_name.as_deref() == Some(type_name) && entry.key.as_deref() == Some(key)
        });
        Ok(found)
    }

    fn find(&self, ledger: &AppendFile, hash: [u8; 16]) -> Result<Vec<Entry>, Damaged> {
        let blocks = self.head.records.div_ceil(RECORDS_PER_BLOCK as u64);
        // The first block whose last record is not before the hash.
        let (mut low, mut high) = (0, blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            let records = self.block(middle).ok_or(Damaged)?;
            match records.last() {
                Some(last) if last.hash < hash => low = middle + 1,
                _ => high = middle,
            }
        }
        let mut found = Vec::new();
        for number in low..blocks {
            let records = self.block(number).ok_or(Damaged)?;
            let start = records.partition_point(|record| record.hash < hash);
            let equal = records[start..].iter().take_while(|record| record.hash == hash);
            for record in equal {
                let line = ledger.line(record.place).map_err(|_| Damaged)?;
                found.push(serde_json::from_slice(&line).map_err(|_| Damaged)?);
            }
            if records.last().is_none_or(|last| last.hash > hash) {
                break;
            }
        }
        Ok(found)
    }

    fn block(&self, number: u64) -> Option<Vec<Record>> {
        let block = read_block(&self.file, (number + 1) * BLOCK as u64)?;
        let rest = self.head.records.checked_sub(number * RECORDS_PER_BLOCK as u64)?;
        let count = usize::try_from(rest).ok()?.min(RECORDS_PER_BLOCK);
        Some(block.chunks_exact(RECORD).take(count).map(Record::from_bytes).collect())
    }

    /// Writes an index of all that has been taken in: the old one, with what the overlay has touched put in its place.
    pub fn write(
        ledger_path: &Path,
        ledger: &AppendFile,
        old: Option<&Self>,
        overlay: &Overlay,
    ) -> io::Result<Self> {
        let mut touched = HashSet::new();
        let mut fresh = Vec::new();
        for (id, touch) in overlay.touched() {
            let object = hash_of_id(id);
            touched.insert(object);
            let Some((entry, place)) = &touch.last else { continue };
            fresh.push(Record { hash: object, object, place: *place });
            if let (Some(type_name), Some(key)) = (&entry.type_name, &entry.key) {
                fresh.push(Record { hash: hash_of_key(type_name, key), object, place: *place });
            }
        }
        fresh.sort_unstable();
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let mut kept = Vec::new();
        if let Some(old) = old {
            for number in 0..old.head.records.div_ceil(RECORDS_PER_BLOCK as u64) {
                let records = old.block(number).ok_or_else(damaged)?;
                kept.extend(records.into_iter().filter(|record| !touched.contains(&record.object)));
            }
        }
        let records = merge(kept, fresh);
        let last = ledger.last_line().ok_or_else(damaged)?;
        let head = Head {
            equiform_ledger_index: VERSION,
            ledger: ledger.header_hash(),
            covered: ledger.accounted(),
            last_seq: ledger.chain().last_seq(),
            last_hash: ledger.chain().last_hash().ok_or_else(damaged)?,
            last_length: last.length,
            records: records.len() as u64,
        };
        let path = path_of(ledger_path);
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut out =
            BufWriter::new(tempfile::Builder::new().prefix(".equiform-index-").tempfile_in(folder)?);
        let mut text = serde_json::to_vec(&head)?;
        // JSON may be followed by white space, so the padding needs no length.
        text.resize(BLOCK - 4, b' ');
        write_block(&mut out, &text)?;
        for chunk in records.chunks(RECORDS_PER_BLOCK) {
            let mut block = Vec::with_capacity(BLOCK);
            for record in chunk {
                record.append_to(&mut block);
            }
            block.resize(BLOCK - 4, 0);
            write_block(&mut out, &block)?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let file = file.persist(&path).map_err(|error| error.error)?;
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

/// Merges two sorted lists.
fn merge(left: Vec<Record>, right: Vec<Record>) -> Vec<Record> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        merged.extend(if a <= b { left.next() } else { right.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

fn write_block(out: &mut impl Write, content: &[u8]) -> io::Result<()> {
    out.write_all(content)?;
    out.write_all(&crc32fast::hash(content).to_be_bytes())
}

/// A block's content, if it is there and its checksum holds.
fn read_block(file: &File, offset: u64) -> Option<Vec<u8>> {
    let mut block = vec![0; BLOCK];
    file.read_exact_at(&mut block, offset).ok()?;
    let checksum = block.split_off(BLOCK - 4);
    (crc32fast::hash(&block).to_be_bytes() == checksum[..]).then_some(block)
}

fn path_of(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".index");
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
