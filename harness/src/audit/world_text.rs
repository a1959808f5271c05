//! A world as a table.

use equiform_proto::ledger::{Object, World};

use super::names::{printable, short_id};
use super::palette::Palette;

/// One line for each object, by key: key, type, id, the commits that created and last changed it, and its references.
pub fn world_text(world: &World, palette: Palette) -> String {
    let mut objects: Vec<&Object> = world.objects().collect();
    objects.sort_by_key(|object| (&object.key, &object.id));
    let rows: Vec<[String; 5]> = objects
        .iter()
        .map(|object| {
            [
                object.key.as_deref().map_or("-".to_owned(), |key| printable(key).into_owned()),
                printable(&object.type_name).into_owned(),
                short_id(&object.id).into_owned(),
                match object.changed == object.created {
                    true => format!("seq {}", object.created),
                    false => format!("seq {}, changed {}", object.created, object.changed),
                },
                references(object, world).join("  "),
            ]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, width) in widths.into_iter().enumerate() {
            let cell = format!("{:<width$}", row[column]);
            line += &if column >= 2 { palette.faint(&cell) } else { cell };
            line += "  ";
        }
        line += &row[4];
        text += line.trim_end();
        text += "\n";
    }
    text
}

/// The object's references as `path=key,key`; one that leads nowhere ends with a question mark.
fn references(object: &Object, world: &World) -> Vec<String> {
    let mut paths: Vec<&str> = object.refs.iter().map(|reference| reference.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
        .into_iter()
        .map(|path| {
            let mut targets: Vec<String> = object
                .refs
                .iter()
                .filter(|reference| reference.path == path)
                .map(|reference| match world.get(&reference.id) {
                    Some(Object { key: Some(key), .. }) => printable(key).into_owned(),
                    Some(_) => short_id(&reference.id).into_owned(),
                    None => format!("{}?", short_id(&reference.id)),
                })
                .collect();
            targets.sort();
            format!("{}={}", printable(path), targets.join(","))
        })
        .collect()
}
