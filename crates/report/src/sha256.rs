//! The hash SHA-256 (FIPS 180-4), by which witnesses of the competition name files.
//!
//! Its constants are the first bits of square and cube roots of primes; they are computed here, with integers.

/// 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let primes: Vec<u128> = (2u128..).filter(|n| (2..*n).all(|d| !n.is_multiple_of(d))).take(64).collect();
    let rounds: Vec<u32> = primes.iter().map(|prime| fraction(*prime, 3)).collect();
    let mut hash: Vec<u32> = primes.iter().take(8).map(|prime| fraction(*prime, 2)).collect();
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        mix(&mut hash, block, &rounds);
    }
    hash.iter().map(|word| format!("{word:08x}")).collect()
}

/// The first 32 bits behind the point of a root of a number.
fn fraction(number: u128, root: u32) -> u32 {
    // The largest integer whose power is at most number * 2^(32 * root).
    let target = number << (32 * root);
    let (mut low, mut high) = (0u128, 1u128 << 37);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if middle.pow(root) <= target { low = middle } else { high = middle }
    }
    low as u32
}

fn mix(hash: &mut [u32], block: &[u8], rounds: &[u32]) {
    let mut words: Vec<u32> =
        block.chunks_exact(4).map(|four| four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))).collect();
    for at in 16..64 {
        let (a, b) = (words[at - 15], words[at - 2]);
        let a = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let b = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        words.push(words[at - 16].wrapping_add(a).wrapping_add(words[at - 7]).wrapping_add(b));
    }
    let mut state = hash.to_vec();
    for (word, constant) in words.iter().zip(rounds) {
        let (a, e) = (state[0], state[4]);
        let choice = e & state[5] ^ !e & state[6];
        let majority = a & state[1] ^ a & state[2] ^ state[1] & state[2];
        let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = state[7].wrapping_add(turned).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        state.rotate_right(1);
        state[4] = state[4].wrapping_add(first);
        state[0] = first.wrapping_add(turned).wrapping_add(majority);
    }
    hash.iter_mut().zip(state).for_each(|(word, mixed)| *word = word.wrapping_add(mixed));
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn published_values_come_out() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
