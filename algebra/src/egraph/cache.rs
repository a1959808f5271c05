//! Saturated e-graphs on disk, keyed by resources, signature, rules and version.
//!
//! A file begins with a line that says what it is and one of JSON with the key and the figures; then come the rows as
//! little-endian numbers and a digest of all before. Whatever is not exactly that is not used. An e-graph that stopped
//! at a limit depends on the machine and is never stored.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::frozen::{Frozen, Stats};
use super::operations::Op;
use super::table::ClassId;
use super::{Ending, Limits, Progress, UnsoundRule};
use crate::rules::Rules;
use crate::signature::Signature;

const MAGIC: &[u8] = b"equiform e-graph 1\n";
const DIGEST_BYTES: usize = 32;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    version: String,
    rules: String,
    /// How many values each attribute has, and how many kinds there are; nothing for the bare algebra.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    signature: String,
    stats: Stats,
}

/// Where an e-graph came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphOrigin {
    /// From a file.
    Cache,
    /// It was built, and stored if it was saturated.
    Built,
    /// There was a file that could not be used, for this reason; it was built again.
    Rebuilt(String),
}

/// Why there is no e-graph.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// A rule was unsound.
    #[error(transparent)]
    Unsound(#[from] UnsoundRule),
    /// The file could not be written.
    #[error("cannot store the e-graph in {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
}

/// The saturated e-graphs in a folder.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The file for an e-graph.
    pub fn path(&self, resources: u32, signature: &Signature, rules: &Rules) -> PathBuf {
        let dash = if signature.is_bare() { "" } else { "-" };
        let signature = shape(signature);
        self.folder.join(format!("{resources}{dash}{signature}-{}.egraph", &rules.digest()[..16]))
    }

    /// The e-graph over so many resources: from its file if that is sound, else built.
    pub fn load_or_build(
        &self,
        resources: u32,
        signature: &Signature,
        rules: &Rules,
        limits: Limits,
        progress: impl FnMut(Progress),
    ) -> Result<(Frozen, GraphOrigin), CacheError> {
        let path = self.path(resources, signature, rules);
        let origin = match read(&path, resources, signature, rules) {
            Ok(Some(frozen)) => return Ok((frozen, GraphOrigin::Cache)),
            Ok(None) => GraphOrigin::Built,
            Err(reason) => GraphOrigin::Rebuilt(reason),
        };
        let frozen = Frozen::build(resources, signature, &[], rules, limits, progress)?;
        if frozen.stats.ending == Ending::Saturated {
            self.write(&path, rules, &frozen).map_err(|error| CacheError::Write { path, error })?;
        }
        Ok((frozen, origin))
    }

    fn write(&self, path: &Path, rules: &Rules, frozen: &Frozen) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let mut out = Hashing { inner: BufWriter::new(file), hasher: Sha256::new() };
        out.write_all(MAGIC)?;
        serde_json::to_writer(&mut out, &header(&frozen.signature, rules, frozen.stats))?;
        out.write_all(b"\n")?;
        for &start in &frozen.starts {
            out.write_all(&start.to_le_bytes())?;
        }
        for &(op, class) in &frozen.entries {
            out.write_all(&op.0.to_le_bytes())?;
            out.write_all(&class.0.to_le_bytes())?;
        }
        let digest = out.hasher.finalize();
        out.inner.write_all(&digest)?;
        out.inner.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
        Ok(())
    }
}

fn header(signature: &Signature, rules: &Rules, stats: Stats) -> Header {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Header { version, rules: rules.digest(), signature: shape(signature), stats }
}

/// How many values each attribute of a signature has, and how many kinds there are: all that tells one from another.
fn shape(signature: &Signature) -> String {
    if signature.is_bare() {
        return String::new();
    }
    let values = signature.attributes().iter().map(|attribute| attribute.values().len().to_string());
    format!("{}k{}", values.collect::<Vec<_>>().join("."), signature.kinds().len())
}

/// Writes on, and keeps the digest of what it wrote.
struct Hashing<W> {
    inner: W,
    hasher: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The e-graph in a file; nothing if there is no file, and a reason if the file cannot be used.
fn read(path: &Path, resources: u32, signature: &Signature, rules: &Rules) -> Result<Option<Frozen>, String> {
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => {
            opened.and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| error.to_string())?
        }
    };
    let content = bytes.strip_prefix(MAGIC).ok_or("it is not a stored e-graph")?;
    let (content, digest) =
        content.split_at_checked(content.len().wrapping_sub(DIGEST_BYTES)).ok_or("it is cut short")?;
    if Sha256::digest(&bytes[..bytes.len() - DIGEST_BYTES])[..] != *digest {
        return Err("its digest does not match: it is damaged".to_owned());
    }
    let end = content.iter().position(|&byte| byte == b'\n').ok_or("it has no header")?;
    let found: Header =
        serde_json::from_slice(&content[..end]).map_err(|error| format!("its header: {error}"))?;
    if found != header(signature, rules, Stats { resources, ..found.stats }) {
        return Err("it was made by another version or with other rules".to_owned());
    }
    let body = &content[end + 1..];
    let (starts, entries) = body.split_at_checked(8 * (found.stats.classes + 1)).ok_or("it is cut short")?;
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let frozen = Frozen {
        stats: found.stats,
        signature: signature.clone(),
        starts: starts
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
            .collect(),
        entries: entries
            .chunks_exact(8)
            .map(|pair| (Op(number(&pair[..4])), ClassId(number(&pair[4..]))))
            .collect(),
    };
    Ok(Some(frozen))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(cache: &Cache, rules: &Rules) -> (Frozen, GraphOrigin) {
        cache.load_or_build(3, Signature::bare(), rules, Limits::default(), |_| {}).unwrap()
    }

    #[test]
    fn what_was_built_once_is_read_the_second_time() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, rules) = (Cache::new(folder.path()), Rules::algebra());
        let (built, first) = load(&cache, &rules);
        let (read, second) = load(&cache, &rules);
        assert_eq!((first, second), (GraphOrigin::Built, GraphOrigin::Cache));
        assert_eq!(built, read);
    }

    #[test]
    fn a_damaged_file_is_recognised_and_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, rules) = (Cache::new(folder.path()), Rules::algebra());
        load(&cache, &rules);
        let path = cache.path(3, Signature::bare(), &rules);
        let whole = fs::read(&path).unwrap();
        for at in [0, MAGIC.len() + 3, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert!(matches!(load(&cache, &rules).1, GraphOrigin::Rebuilt(_)), "byte {at}");
            assert_eq!(load(&cache, &rules).1, GraphOrigin::Cache);
        }
        for length in [0, 5, MAGIC.len(), MAGIC.len() + 10, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(load(&cache, &rules).1, GraphOrigin::Rebuilt(_)), "length {length}");
        }
    }

    #[test]
    fn a_foreign_file_is_recognised_and_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, rules) = (Cache::new(folder.path()), Rules::algebra());
        let fewer = Rules::parse("inverse rem-add (rem a (add a empty)) = empty").unwrap();
        load(&cache, &fewer);
        fs::rename(cache.path(3, Signature::bare(), &fewer), cache.path(3, Signature::bare(), &rules))
            .unwrap();
        let (frozen, origin) = load(&cache, &rules);
        assert_eq!(
            origin,
            GraphOrigin::Rebuilt("it was made by another version or with other rules".to_owned())
        );
        assert_eq!(frozen.stats.classes, 18);
    }

    #[test]
    fn an_e_graph_that_hit_a_limit_is_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, rules) = (Cache::new(folder.path()), Rules::algebra());
        let limits = Limits { classes: Some(3), ..Limits::default() };
        let (frozen, _) = cache.load_or_build(4, Signature::bare(), &rules, limits, |_| {}).unwrap();
        assert_eq!(frozen.stats.ending, Ending::ClassLimit);
        assert!(!cache.path(4, Signature::bare(), &rules).exists());
    }
}
