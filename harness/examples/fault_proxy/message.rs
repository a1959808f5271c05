//! One message of a unary call: a frame of gRPC, with the fields of a protocol buffer in it.

use hyper::body::Bytes;

use crate::Failure;

/// The length of a frame's head: a flag for compression, and the message's length.
const HEAD: usize = 5;

/// The message of a frame.
pub fn unframed(frame: Bytes) -> Result<Vec<u8>, Failure> {
    let (head, message) =
        frame.split_at_checked(HEAD).ok_or_else(|| Failure::other("a frame without a head"))?;
    if head[0] != 0 {
        return Err(Failure::other("a compressed message"));
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if u32::try_from(message.len()) != Ok(length) {
        return Err(Failure::other("a frame of another length, or several messages in a call"));
    }
    Ok(message.to_vec())
}

/// A message as a frame.
pub fn framed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("messages are far below 4 GiB");
    [&[0], &length.to_be_bytes()[..], message].concat().into()
}

/// A field as it is in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    pub number: u64,
    /// The whole field, with its key.
    pub whole: &'a [u8],
    /// What it holds, with its length if it has one, without its key.
    pub value: &'a [u8],
    kind: u64,
}

/// The fields of a message, in order.
pub fn fields(mut message: &[u8]) -> Result<Vec<Field<'_>>, Failure> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let start = message;
        let key = varint(&mut message)?;
        let after_key = message;
        let length = match key & 7 {
            0 => {
                varint(&mut message)?;
                0
            }
            1 => 8,
            2 => varint(&mut message)?,
            5 => 4,
            other => return Err(Failure::other(format!("a field of the unknown kind {other}"))),
        };
        let length = usize::try_from(length).map_err(Failure::other)?;
        message =
            message.get(length..).ok_or_else(|| Failure::other("a field that ends after its message"))?;
        let (whole, value) = (start.len() - message.len(), after_key.len() - message.len());
        fields.push(Field {
            number: key >> 3,
            whole: &start[..whole],
            value: &after_key[..value],
            kind: key & 7,
        });
    }
    Ok(fields)
}

/// The message without a field.
pub fn without(message: &[u8], number: u64) -> Result<Vec<u8>, Failure> {
    let kept = fields(message)?.into_iter().filter(|field| field.number != number);
    Ok(kept.flat_map(|field| field.whole).copied().collect())
}

/// A field of a message as another field of another message; nothing if the message lacks it.
pub fn renumbered(message: &[u8], from: u64, to: u64) -> Result<Vec<u8>, Failure> {
    let fields = fields(message)?.into_iter().filter(|field| field.number == from);
    let renumbered = fields.flat_map(|field| {
        let mut bytes = varint_bytes(to << 3 | field.kind);
        bytes.extend_from_slice(field.value);
        bytes
    });
    Ok(renumbered.collect())
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Failure> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) =
            bytes.split_first().ok_or_else(|| Failure::other("a number that ends after its message"))?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Failure::other("a number of more than 64 bits"))
}

fn varint_bytes(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 1 is the text "ab", field 2 the number 300, field 20 the text "c".
    const MESSAGE: &[u8] = &[0x0a, 2, b'a', b'b', 0x10, 0xac, 2, 0xa2, 1, 1, b'c'];

    #[test]
    fn a_field_is_removed_and_the_others_stay_as_they_are() {
        assert_eq!(without(MESSAGE, 2).unwrap(), [0x0a, 2, b'a', b'b', 0xa2, 1, 1, b'c']);
        assert_eq!(without(MESSAGE, 3).unwrap(), MESSAGE);
    }

    #[test]
    fn a_field_becomes_another_one() {
        assert_eq!(renumbered(MESSAGE, 1, 20).unwrap(), [0xa2, 1, 2, b'a', b'b']);
        assert!(renumbered(MESSAGE, 3, 1).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [&[0x0a, 5, b'a'][..], &[0x80], &[0x0b]] {
            assert!(fields(bytes).is_err(), "{bytes:?}");
        }
        assert!(unframed(Bytes::from_static(&[0, 0, 0, 0, 9, 1])).is_err());
        assert_eq!(unframed(framed(MESSAGE)).unwrap(), MESSAGE);
    }
}
