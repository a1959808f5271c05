//! The times of Terraform's messages: RFC 3339, in the time zone of the machine.

/// The second that a time lies in, counted from a day long ago; none if it is no time.
pub fn second(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let has = |place: usize, letter: u8| text.as_bytes().get(place) == Some(&letter);
    let is_laid_out = has(4, b'-') && has(7, b'-') && has(10, b'T') && has(13, b':') && has(16, b':');
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let zone = text.get(19..)?.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
    let offset = match zone.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let minutes = zone[1..3].parse::<i64>().ok()? * 60 + zone[4..6].parse::<i64>().ok()?;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
    // A year that begins in March ends with the day that leap years add.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    (is_laid_out && in_range && second <= 60)
        .then_some(days * 86_400 + hour * 3600 + minute * 60 + second - offset * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_any_zone_and_across_the_ends_of_months() {
        let zulu = second("2026-11-18T07:25:40.486314Z").unwrap();
        assert_eq!(second("2026-11-18T09:25:41.000000+02:00"), Some(zulu + 1));
        assert_eq!(second("2026-11-17T22:25:40-09:00"), Some(zulu));
        let between = |one, other| second(other).unwrap() - second(one).unwrap();
        assert_eq!(between("2024-02-28T23:59:59Z", "2024-03-01T00:00:00Z"), 86_401);
        assert_eq!(between("2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z"), 1);
        for text in
            ["", "soon", "2026-11-18", "2026-13-18T07:25:40Z", "2026-11-18 07:25:40Z", "2026-11-18T07:25:40"]
        {
            assert_eq!(second(text), None, "{text}");
        }
    }
}
