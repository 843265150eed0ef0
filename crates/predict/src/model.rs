//! Causal models: which reorderings of a run count (paper 003, section 6).

/// What is known of the events of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Model {
    /// The code that made them: values may differ from those that were seen, as long as every branch is taken as it was.
    #[default]
    Symbolic,
    /// Only what was seen: every read has to return the value that it returned, wherever it comes from. After Serbănuță, Chen and Roşu.
    Maximal,
    /// As [`Model::Maximal`], and steps of synchronisation on one object come in the order that they had, and reads after the writes that
    /// they came after. After Lamport.
    HappensBefore,
}
