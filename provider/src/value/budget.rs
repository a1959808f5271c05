//! How much memory reading a value may take. A byte of MessagePack can stand for a whole [`Value`], some
//! fifty times its size, so a message within the engines' limit could take all the memory there is.

use super::{Value, ValueError};

/// What every value may take, whatever its bytes. Lists of small numbers have the most values to a byte; a
/// million of them fit.
const ALLOWANCE: usize = 64 << 20;
/// What it may take beyond that for each of its bytes. Texts take their own length and little more.
const PER_BYTE: usize = 4;

/// The memory that is left for a value. It counts what is kept, not what is copied on the way: a list that
/// grows may briefly take three times as much.
pub struct Budget {
    left: usize,
    all: usize,
}

impl Budget {
    /// For a value with this number of bytes.
    pub fn for_bytes(bytes: usize) -> Self {
        let all = bytes.saturating_mul(PER_BYTE).saturating_add(ALLOWANCE);
        Self { left: all, all }
    }

    /// Takes so many bytes of memory.
    pub fn take(&mut self, bytes: usize) -> Result<(), ValueError> {
        let left = self.left.checked_sub(bytes).ok_or_else(|| {
            ValueError::new(format!(
                "it has too many parts: they would take more than {} MiB",
                self.all >> 20
            ))
        })?;
        self.left = left;
        Ok(())
    }

    /// Takes the memory of a value beside what it points to.
    pub fn take_value(&mut self) -> Result<(), ValueError> {
        self.take(size_of::<Value>())
    }
}

/// Refuses JSON that would take too much once it is parsed. Parts are counted by the characters between them,
/// which costs a look at each byte; text that is too short to have too many parts is not looked at.
pub fn check_json(text: &[u8]) -> Result<(), ValueError> {
    /// A part as the parser holds it, and as a value.
    const PART: usize = size_of::<serde_json::Value>() + size_of::<Value>();
    if text.len() < ALLOWANCE / PART {
        return Ok(());
    }
    let (mut parts, mut in_text, mut escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' | b':' if !in_text => parts += 1,
            _ => {}
        }
    }
    Budget::for_bytes(text.len()).take(PART * parts)
}
