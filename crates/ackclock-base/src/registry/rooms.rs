//! The algorithms that a document may name: room by room, with the schema of their parameters.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

/// What algorithms there are, as the catalogue lists them.
#[derive(Debug, Default)]
pub struct Rooms {
    rooms: Vec<Room>,
}

#[derive(Debug)]
struct Room {
    name: String,
    /// Schemas of the parameters.
    params: Vec<Value>,
    /// Each name, in the registry or besides, with the number of its schema.
    by_name: HashMap<String, usize>,
    /// The registry's names, then the others.
    names: Vec<String>,
}

impl Rooms {
    /// The rooms of a catalogue: lists of entries by room, each with `name`, `also` and `params`.
    pub fn of_catalogue(catalogue: &Value) -> Self {
        let rooms = catalogue.as_object().into_iter().flatten();
        Self { rooms: rooms.map(|(name, entries)| Room::of_entries(name, entries)).collect() }
    }

    fn room(&self, name: &str) -> Option<&Room> {
        self.rooms.iter().find(|room| room.name == name)
    }

    /// The schema of an algorithm's parameters.
    pub(super) fn params(&self, room: &str, name: &str) -> Option<&Value> {
        let room = self.room(room)?;
        room.params.get(*room.by_name.get(name)?)
    }

    /// All names of a room, the registry's first.
    pub(super) fn names(&self, room: &str) -> Vec<&str> {
        self.room(room)
            .map_or_else(Vec::new, |room| room.names.iter().map(String::as_str).collect())
    }

    /// The rooms that have an algorithm of this name.
    pub(super) fn with_name(&self, name: &str) -> Vec<&str> {
        let rooms = self.rooms.iter().filter(|room| room.by_name.contains_key(name));
        rooms.map(|room| room.name.as_str()).collect()
    }
}

impl Room {
    fn of_entries(name: &str, entries: &Value) -> Self {
        let mut room = Self {
            name: name.to_owned(),
            params: Vec::new(),
            by_name: HashMap::new(),
            names: Vec::new(),
        };
        let mut other_names = Vec::new();
        for entry in entries.as_array().into_iter().flatten() {
            let number = room.params.len();
            let name = entry["name"].as_str().unwrap_or_default().to_owned();
            room.by_name.insert(name.clone(), number);
            room.names.push(name);
            for other in entry["also"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                room.by_name.insert(other.to_owned(), number);
                other_names.push(other.to_owned());
            }
            room.params.push(entry["params"].clone());
        }
        room.names.append(&mut other_names);
        room
    }
}

/// What an algorithm of a room is called in messages.
pub(super) fn word(room: &str) -> &str {
    match room {
        "multicast" => "layer control",
        "credits" => "rule of credits",
        "slow_start" => "slow start",
        room => room,
    }
}

/// What an algorithm of a room is, for who looks for it in another.
fn kind(room: &str) -> &str {
    match room {
        "cc" => "congestion control",
        "recovery" => "loss recovery",
        "arrivals" => "generator of transfers",
        "qdisc" => "queue discipline",
        "sharing" => "sharing of fluid links",
        "policy" => "policy of fluid senders",
        "pattern" => "traffic pattern",
        room => word(room),
    }
}

/// That a name is of other rooms, and how a scenario names it there.
pub(super) fn of_other_room(rooms: &Rooms, room: &str, name: &str, other_rooms: &[&str]) -> String {
    let kinds: Vec<String> = other_rooms.iter().map(|other| format!("a {}", kind(other))).collect();
    let keys: Vec<String> = other_rooms
        .iter()
        .filter(|other| {
            ["cc", "recovery", "slow_start", "credits", "qdisc", "source"].contains(other)
        })
        .map(|key| format!("{key} = \"{name}\""))
        .collect();
    let near: Vec<String> = rooms
        .names(room)
        .into_iter()
        .filter(|key| key.contains(name) || name.contains(key))
        .map(|key| format!("\"{key}\""))
        .collect();
    let mut message = format!("\"{name}\" is {}", kinds.join(" and "));
    if !keys.is_empty() {
        let _ = write!(message, ": {}", keys.join(" or "));
    }
    if !near.is_empty() {
        let _ = write!(message, "; as a {} there is {}", kind(room), near.join(", "));
    }
    message
}

/// That a build lacks the library of a congestion control, where it has none of that library's.
pub(super) fn missing_library(rooms: &Rooms, name: &str) -> Option<String> {
    let (stack, _) = name.split_once('/')?;
    let library = match stack {
        "noq" => "noq-proto",
        "quinn" => "quinn-proto",
        "s2n" => "s2n-quic-core",
        _ => return None,
    };
    let has = rooms
        .names("cc")
        .iter()
        .any(|entry| entry.split_once('/').is_some_and(|(of, _)| of == stack));
    (!has).then(|| {
        format!(
            "\"{name}\" is of the crate {library}, which this build lacks; \"make stacks\" in a checkout builds it"
        )
    })
}
