//! Small damage to a proof.

use leno_testing::Random;

/// The same proof with a line or a number changed, dropped, repeated or moved.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..1 + random.below(2) {
        // The header stays.
        let at = 1 + random.below(lines.len() - 1);
        let other = 1 + random.below(lines.len() - 1);
        match random.below(12) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(at, lines[other].clone()),
            _ => lines[at] = mutate_line(&lines[at], random),
        }
        if lines.len() < 2 {
            break;
        }
    }
    lines.join("\n") + "\n"
}

fn mutate_line(line: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = line.split_ascii_whitespace().map(String::from).collect();
    if words.is_empty() {
        return String::new();
    }
    let at = random.below(words.len());
    let other = random.below(words.len());
    let number = words[at].parse::<i64>();
    match (random.below(6), number) {
        (0, _) => drop(words.remove(at)),
        (1, _) => words.swap(at, other),
        (2, _) => words.insert(at, words[other].clone()),
        (3, Ok(number)) => words[at] = (-number).to_string(),
        (4, Ok(number)) => words[at] = (number + if random.chance(50) { 1 } else { -1 }).to_string(),
        (_, Ok(_)) => words[at] = random.below(7).to_string(),
        (_, Err(_)) => {
            words[at] = random.pick(&["n", "e", "g", "r", "f", "h", "i", "t", "a", "d", "q", "u", "c"]).to_string()
        }
    }
    words.join(" ")
}
