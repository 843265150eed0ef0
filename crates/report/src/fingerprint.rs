//! A fingerprint of a program: what changes when anything in it changes.
//!
//! FNV-1a of 128 bits, of the program's textual form. It is there to notice that a file was edited, not to withstand
//! an enemy.

use leno_ir::program::Program;

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// 32 hexadecimal digits.
pub fn fingerprint(program: &Program) -> String {
    format!("{:032x}", fnv(leno_ir::text::print(program).as_bytes()))
}

fn fnv(bytes: &[u8]) -> u128 {
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::fnv;

    #[test]
    fn published_values_come_out() {
        assert_eq!(fnv(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    }
}
