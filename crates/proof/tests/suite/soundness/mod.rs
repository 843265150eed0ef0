//! No false conclusion is ever accepted.
//!
//! Random small problems are refuted by a simple-minded prover (`refute`), which writes proofs with lemmas of every
//! kind. Each must be accepted. Then the proofs are mutated, token by token and line by line (`mutate`). A mutant may
//! still be a proof: of the same or of another problem. So whenever one is accepted, every conclusion in it is compared
//! with an enumeration of all assignments and all orders of the problem *that the mutant states* (`models`).

mod models;
mod mutate;
mod refute;

use leno_testing::Random;

#[test]
fn proofs_are_accepted_and_say_what_is_true() {
    let mut refuted = 0;
    let mut lemmas = 0;
    for seed in 0..3_000 {
        let text = refute::random_proof(&mut Random::new(seed));
        let summary = leno_proof::check(text.as_bytes()).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(models::false_conclusion(&text), None, "seed {seed}\n{text}");
        refuted += summary.refuted();
        lemmas += summary.lemmas;
    }
    assert!(refuted > 5_000 && lemmas > 5_000, "{refuted} {lemmas}");
}

#[test]
fn no_mutant_proves_what_is_false() {
    let mut accepted = 0;
    let mut rejected = 0;
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let text = refute::random_proof(&mut random);
        for _ in 0..20 {
            let mutant = mutate::mutate(&text, &mut random);
            if mutant == text {
                continue;
            }
            match leno_proof::check(mutant.as_bytes()) {
                Err(_) => rejected += 1,
                Ok(_) => {
                    accepted += 1;
                    assert_eq!(models::false_conclusion(&mutant), None, "seed {seed}\n{mutant}");
                }
            }
        }
    }
    assert!(accepted > 1_000 && rejected > 10_000, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn no_noise_makes_it_panic() {
    let mut random = Random::new(7);
    for _ in 0..3_000 {
        let mut bytes = refute::random_proof(&mut random).into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"0123456789- \n"[random.below(13)]),
                _ => bytes.splice(at..at, *b" 99999999999999999999 ").for_each(drop),
            }
        }
        if leno_proof::check(bytes.as_slice()).is_ok() {
            let text = String::from_utf8(bytes).expect("only text is accepted");
            assert_eq!(models::false_conclusion(&text), None, "{text}");
        }
    }
}
