//! Functions that run natively: input and output, time, mathematics.
//!
//! The interpreter's table says which they are and what an engine may assume of them. Nothing is known of any other.
//! Old programs declare them without a prototype (`int printf();`); then [`fixed_parameters`] says where the variable
//! arguments begin.

use leno_ir::interp::is_known_external;
use leno_ir::program::External;

/// What is known of a function without a body; None if nothing is.
pub fn external(name: &str) -> Option<External> {
    is_known_external(name)
}

/// How many parameters a known variadic function has before its variable ones.
pub fn fixed_parameters(name: &str) -> Option<usize> {
    if !external(name)?.variadic {
        return None;
    }
    let name = ["__isoc99_", "__isoc23_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    Some(match name {
        "printf" | "scanf" => 1,
        "snprintf" => 3,
        _ => 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_variable_arguments_begin() {
        let fixed = ["printf", "fprintf", "sprintf", "snprintf", "__isoc99_sscanf"].map(fixed_parameters);
        assert_eq!(fixed, [Some(1), Some(2), Some(2), Some(3), Some(2)]);
        assert_eq!(["puts", "sqrt", "unheard_of"].map(fixed_parameters), [None; 3]);
    }
}
