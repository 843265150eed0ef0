//! Proofs by hand, and what is wrong with each when one thing in it is changed.
//!
//! Two threads, `x` is 0 at first: a store of 1 by the first, and a load by the second that comes after it but sees 0.

/// Node 0 is the initial write, 1 the store, 2 the load. Literal 2: the load comes after the store (it joined the
/// thread). Literal 3: the load reads from the initial write. Literal 4: it reads from the store.
const STALE_READ: &str = "\
# a stale read
p leno 1
n 0
n 1
n 2
e 0 1
g 2 1 2
r 2
f 0 3 0
f 0 4 1
h 0 1 0
h 0 5 1
i 1 3 4 0
i 2 5 0
t 7 -4 -3 0 x 0 0 1
t 3 -2 -3 -5 0 1 0 0 1 1 2 -1 c 0 1 -1
t 4 -2 -3 -5 0 2 0 0 1 0 1 -1 c 2 1 -1
q 2 3 0
a 5 -2 -3 0 2 3 0
u 5
d 5 4 0
q 3 2 -4 0
a 6 -2 -3 0 0
u 6
q -4 -3 0
u 1
q 2 0
";

fn check(text: &str) -> Result<leno_proof::Summary, String> {
    leno_proof::check(text.as_bytes()).map_err(|rejection| rejection.to_string())
}

#[test]
fn the_stale_read_is_accepted() {
    let summary = check(STALE_READ).unwrap();
    assert_eq!((summary.nodes, summary.inputs, summary.lemmas, summary.derived), (3, 2, 3, 2));
    assert_eq!((summary.queries.len(), summary.refuted()), (4, 3));
    assert_eq!(summary.queries[0].refuted_by.as_deref(), Some(&[-3, -2][..]));
    assert_eq!(summary.queries[3].refuted_by, None);
}

#[test]
fn each_change_is_found_at_its_line() {
    let changes = [
        // What is stated.
        ("p leno 1", "p leno 2", "line 2: format version 2 is not known, only 1 is"),
        ("p leno 1\n", "", "line 2: a proof begins with `p leno 1`"),
        ("e 0 1", "e 0 3", "line 6: there is no node 3 yet"),
        ("e 0 1", "e 0 -1", "line 6: `-1` is not a number"),
        ("g 2 1 2", "g 0 1 2", "line 7: this number is not a literal"),
        ("g 2 1 2", "g 2 1", "line 7: the line ends where a number should be"),
        ("g 2 1 2", "g 2 1 2 3", "line 7: the record should end before `3`"),
        ("g 2 1 2", "g -2147483648 1 2", "line 7: this number is not a literal"),
        ("f 0 4 1", "f 0 4 2", "line 10: a read does not read from its own node"),
        ("f 0 4 1", "f 1 4 1", "line 10: there is no read 1 yet"),
        ("h 0 5 1", "y 0 5 1", "line 12: there is no record `y`"),
        // Clauses.
        ("i 1 3 4 0", "i 0 3 4 0", "line 13: clauses are numbered from 1"),
        ("i 1 3 4 0", "i 1 3 4", "line 13: the line ends where a literal should be"),
        ("i 2 5", "i 1 5", "line 14: clause 1 is there already"),
        // The lemmas.
        ("x 0 0 1", "x 0 0 0", "line 15: it is not asserted that read 0 reads from 0 and 0"),
        ("x 0 0 1", "x 0 0 2", "line 15: it is not asserted that read 0 reads from 0 and 2"),
        ("x 0 0 1", "x 1 0 1", "line 15: it is not asserted that read 1 reads from 0 and 1"),
        ("t 7 -4 -3 0", "t 7 -3 0", "line 15: it is not asserted that read 0 reads from 0 and 1"),
        ("t 3 -2 -3 -5 0", "t 3 -3 -5 0", "line 16: nothing says that 1 is before 2"),
        ("t 3 -2 -3 -5 0", "t 3 -2 -5 0", "line 16: it is not asserted that read 0 reads from 0"),
        ("t 3 -2 -3 -5 0", "t 3 -2 -3 0", "line 16: it is not asserted that 1 hits the location of read 0"),
        ("t 3 -2 -3 -5 0", "t 3 2 -3 -5 0", "line 16: nothing says that 1 is before 2"),
        ("1 0 0 1 1 2 -1", "1 0 0 0 1 2 -1", "line 16: write 0 does not lie between others"),
        ("1 0 0 1 1 2 -1", "1 0 0 2 1 2 -1", "line 16: write 2 does not lie between others"),
        ("1 0 0 1 1 2 -1", "1 1 0 1 1 2 -1", "line 16: there is no read 1 yet"),
        ("1 0 0 1 1 2 -1", "1 0 0 1 0 2 -1", "line 16: the path should lead from 1 to 2"),
        ("1 0 0 1 1 2 -1", "1 0 0 1 1 0 -1", "line 16: the path should lead from 1 to 2"),
        ("1 0 0 1 1 2 -1", "1 0 0 1 -1", "line 16: the path should lead from 1 to 2"),
        ("1 0 0 1 1 2 -1", "2 0 0 1 1 2 -1", "line 16: the path should lead from 0 to 1"),
        ("1 0 0 1 1 2 -1 c", "c", "line 16: nothing says that 1 is before 0"),
        (" c 0 1 -1", "", "line 16: the lemma ends without a contradiction"),
        (" c 0 1 -1", " c 0 1", "line 16: the line ends inside a path"),
        (" c 0 1 -1", " c -1", "line 16: the cycle is empty"),
        (" c 0 1 -1", " c 0 -1", "line 16: nothing says that 0 is before 0"),
        (" c 0 1 -1", " c 0 9 -1", "line 16: there is no node 9 yet"),
        (" c 0 1 -1", " c 0 1 -1 c", "line 16: the record should end before `c`"),
        (" c 0 1 -1", " 3 0 1 -1", "line 16: there is no step `3`"),
        ("2 0 0 1 0 1 -1", "2 0 1 0 0 1 -1", "line 17: it is not asserted that read 0 reads from 1"),
        ("2 0 0 1 0 1 -1", "1 0 0 1 0 1 -1", "line 17: the path should lead from 1 to 2"),
        ("c 2 1 -1", "c 2 0 1 -1", "line 17: nothing says that 2 is before 0"),
        // What is derived.
        ("a 5 -2 -3 0 2 3 0", "a 5 -2 -3 0 3 2", "line 19: the line ends where the number of a clause should be"),
        ("a 5 -2 -3 0 2 3 0", "a 5 -2 -3 0 2 9 0", "line 19: there is no clause 9"),
        ("a 5 -2 -3 0 2 3 0", "a 5 -2 -3 0 2 0", "line 19: the hints lead to no contradiction"),
        ("a 5 -2 -3 0 2 3 0", "a 5 -2 0 3 2 0", "line 19: clause 3, a hint, is neither a unit nor false"),
        ("a 5 -2 -3 0 2 3 0", "a 5 -3 0 0", "line 19: the clause does not follow by unit propagation"),
        ("a 5 -2 -3 0 2 3 0", "a 4 -2 -3 0 2 3 0", "line 19: clause 4 is there already"),
        ("d 5 4 0", "d 5 5 0", "line 21: there is no clause 5"),
        ("d 5 4 0", "d 5 4 3 0", "line 23: the clause does not follow by unit propagation"),
        // What is concluded.
        ("q 2 3 0", "q 2 -3 0", "line 20: literal -3 of clause 5 is not the negation of an assumption"),
        ("q 2 3 0\n", "", "line 19: there is no query to conclude"),
        ("u 5", "u 1", "line 20: literal 3 of clause 1 is not the negation of an assumption"),
        ("u 6", "u 5", "line 24: there is no clause 5"),
        ("q -4 -3 0\n", "", "line 25: the query is concluded already"),
    ];
    for (from, to, reason) in changes {
        assert!(STALE_READ.contains(from), "{from}");
        assert_eq!(check(&STALE_READ.replacen(from, to, 1)).unwrap_err(), reason, "{from} -> {to}");
    }
}

#[test]
fn extreme_numbers_cost_nothing() {
    let text = "p leno 1\nn 4294967295\ng 2147483647 0 0\ni 18446744073709551615 -2147483647 2147483646 0\n";
    assert_eq!(check(text).unwrap().inputs, 1);
    assert_eq!(check("p leno 1\ni 18446744073709551616 2 0\n").unwrap_err().lines().count(), 1);
}

#[test]
fn what_holds_at_the_root_outlives_its_clauses() {
    let text = "p leno 1\ni 1 2 0\ni 2 -2 3 0\na 3 3 0 0\nd 1 2 3 0\na 4 3 0 0\nq -3 0\nu 4\n";
    assert_eq!(check(text).unwrap().refuted(), 1);
}

#[test]
fn contradictory_assumptions_need_no_clauses() {
    assert_eq!(check("p leno 1\nq 2 -2 0\na 1 2 -2 0 0\nu 1\n").unwrap().refuted(), 1);
}

#[test]
fn the_example_in_the_book_is_accepted() {
    let book = include_str!("../../../../docs/proof.md");
    let example = book.split("## An example").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let lines = example.lines().filter_map(|line| line.strip_prefix("    ")).collect::<Vec<_>>();
    let summary = check(&lines.join("\n")).unwrap();
    assert_eq!((summary.nodes, summary.refuted()), (3, 1));
}
