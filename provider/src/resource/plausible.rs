//! Values that look as a real provider's would, by name and type. The same seed and the same object give the same ones.

use sha2::{Digest as _, Sha256};

use crate::value::{Number, Object, Type, Value};

/// How deep a value that is made up may nest.
const MAX_DEPTH: usize = 24;
/// The first second of 2024: what is made up never depends on the clock.
const EPOCH: i64 = 1_704_067_200;

/// What makes one value differ from another: a digest of all that stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salt([u8; 32]);

impl Salt {
    /// From the parts that make an object unlike any other.
    pub fn new(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The salt of a part.
    pub fn at(&self, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(name.as_bytes());
        Self(hash.finalize().into())
    }

    /// The digest itself.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn number(&self, below: u64) -> u64 {
        let (bytes, _) = self.0.split_first_chunk().expect("a digest has 32 bytes");
        u64::from_le_bytes(*bytes) % below
    }

    fn digits(&self, count: usize) -> String {
        let digits: String = self.0.iter().map(|byte| char::from(b'0' + byte % 10)).collect();
        let digits = digits[..count.min(digits.len())].to_owned();
        // A number of an account does not begin with a zero that programs might lose.
        format!("{}{}", 1 + self.0[31] % 9, &digits[1..])
    }

    fn hexadecimal(&self, count: usize) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        digits[..count.min(digits.len())].to_owned()
    }
}

/// The object that values are made for.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// Its type.
    pub type_name: &'a str,
    /// Its id.
    pub id: &'a str,
    /// What makes it unlike any other.
    pub salt: Salt,
}

impl Context<'_> {
    /// A value for an attribute of the object.
    pub fn value(&self, ty: &Type, name: &str) -> Value {
        self.inner_value(ty, name, &self.salt.at(name))
    }

    /// A value for a part of the object.
    pub fn inner_value(&self, ty: &Type, name: &str, salt: &Salt) -> Value {
        self.make(ty, name, salt, MAX_DEPTH)
    }

    fn make(&self, ty: &Type, name: &str, salt: &Salt, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return Value::Null };
        let one = |ty: &Type| self.make(ty, singular(name), &salt.at("0"), depth);
        match ty {
            Type::String => Value::String(self.text(name, salt)),
            Type::Number => Value::Number(Number::from(number(name, salt))),
            Type::Bool => Value::Bool(salt.number(2) == 1),
            Type::Dynamic => Value::Dynamic(Type::String, Box::new(Value::String(self.text(name, salt)))),
            Type::List(ty) => Value::List(vec![one(ty)]),
            Type::Set(ty) => Value::set(vec![one(ty)]),
            Type::Map(ty) => Value::Map(Object::from([("key".to_owned(), one(ty))])),
            Type::Tuple(types) => {
                let each = types.iter().enumerate();
                Value::List(
                    each.map(|(i, ty)| self.make(ty, name, &salt.at(&i.to_string()), depth)).collect(),
                )
            }
            Type::Object(types) => {
                let each = types.iter();
                let each = each.map(|(name, ty)| (name.clone(), self.make(ty, name, &salt.at(name), depth)));
                Value::Object(each.collect())
            }
        }
    }

    /// A text, by the words of its name.
    fn text(&self, name: &str, salt: &Salt) -> String {
        let words: Vec<&str> = name.split(['_', '-']).collect();
        let has = |word: &str| words.contains(&word);
        let last = words.last().copied().unwrap_or_default();
        let (service, kind) = service_and_kind(self.type_name);
        match last {
            "arn" => {
                let (region, account) = ("us-east-1", "123456789012");
                format!("arn:aws:{service}:{region}:{account}:{kind}/{}", self.id)
            }
            "ip" | "address" if has("ip") || has("ipv4") || has("address") => self.address(&words, salt),
            "cidr" => format!("10.{}.0.0/16", salt.number(256)),
            "block" if has("cidr") => format!("10.{}.0.0/16", salt.number(256)),
            "ipv6" => format!("2001:db8::{:x}", salt.number(0xffff)),
            "dns" | "fqdn" | "hostname" | "host" | "domain" | "endpoint" | "nameserver" => self.host(salt),
            "name" if has("dns") || has("domain") || has("host") => self.host(salt),
            "url" | "uri" | "link" => format!("https://{}/", self.host(salt)),
            "email" => format!("{}@example.test", salt.hexadecimal(8)),
            "at" | "time" | "date" | "timestamp" | "created" | "updated" | "modified" | "expiry"
            | "expiration" | "rfc3339" | "before" | "after" => timestamp(salt),
            "region" | "location" => "us-east-1".to_owned(),
            "zone" if has("availability") || words.len() == 1 => "us-east-1a".to_owned(),
            "account" | "owner" | "project" => "123456789012".to_owned(),
            "id" if has("account") || has("owner") || has("project") => "123456789012".to_owned(),
            "id" if words.len() > 1 => format!("{}-{}", words[words.len() - 2], salt.hexadecimal(17)),
            "status" | "state" => "available".to_owned(),
            "version" => "1".to_owned(),
            "etag" | "md5" | "fingerprint" | "hex" => salt.hexadecimal(32),
            "sha" | "sha1" => salt.hexadecimal(40),
            "hash" | "sha256" | "digest" | "checksum" => salt.hexadecimal(64),
            "uuid" | "guid" => uuid(salt),
            "number" | "num" => salt.digits(6),
            "json" | "policy" => "{}".to_owned(),
            "pem" | "certificate" | "cert" => {
                let body = salt.hexadecimal(64);
                format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
            }
            "type" => "standard".to_owned(),
            _ => format!("{}-{}", name.replace('_', "-"), salt.hexadecimal(8)),
        }
    }

    fn address(&self, words: &[&str], salt: &Salt) -> String {
        if words.contains(&"ipv6") {
            return format!("2001:db8::{:x}", salt.number(0xffff));
        }
        if words.contains(&"public") {
            return format!("203.0.113.{}", 1 + salt.number(254));
        }
        if words.contains(&"mac") {
            let digits = salt.hexadecimal(10);
            let pairs: Vec<_> = (0..5).map(|i| &digits[2 * i..2 * i + 2]).collect();
            return format!("02:{}", pairs.join(":"));
        }
        format!("10.{}.{}.{}", salt.number(256), salt.at(".").number(256), 1 + salt.at("..").number(254))
    }

    fn host(&self, salt: &Salt) -> String {
        let (_, kind) = service_and_kind(self.type_name);
        format!(
            "{}.{}.example.test",
            self.id.replace('_', "-"),
            if kind.is_empty() { salt.hexadecimal(6) } else { kind }
        )
    }
}

/// The second word of a type's name, and what follows: `aws_iam_role_policy` is a `role-policy` of `iam`.
pub fn service_and_kind(type_name: &str) -> (String, String) {
    let mut words = type_name.split('_').skip(1);
    let first = words.next().unwrap_or(type_name).to_owned();
    let rest: Vec<_> = words.collect();
    let kind = if rest.is_empty() { first.clone() } else { rest.join("-") };
    (first, kind)
}

fn singular(name: &str) -> &str {
    name.strip_suffix("ses").map_or_else(
        || name.strip_suffix('s').filter(|rest| !rest.ends_with('s')).unwrap_or(name),
        |_| &name[..name.len() - 2],
    )
}

fn number(name: &str, salt: &Salt) -> i64 {
    let words: Vec<&str> = name.split('_').collect();
    let last = words.last().copied().unwrap_or_default();
    match last {
        "port" => 443,
        "unix" | "epoch" => EPOCH + i64::try_from(salt.number(31_536_000)).unwrap_or(0),
        "count" | "version" | "generation" | "revision" | "priority" => 1,
        "size" | "gb" | "capacity" | "storage" => 10,
        _ => i64::try_from(salt.number(1_000)).unwrap_or(0),
    }
}

/// A time of 2024.
fn timestamp(salt: &Salt) -> String {
    let second = EPOCH + i64::try_from(salt.number(31_536_000)).unwrap_or(0);
    jiff::Timestamp::from_second(second).map_or_else(|_| String::new(), |time| time.to_string())
}

fn uuid(salt: &Salt) -> String {
    let digits = salt.hexadecimal(32);
    format!(
        "{}-{}-4{}-8{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..32]
    )
}
