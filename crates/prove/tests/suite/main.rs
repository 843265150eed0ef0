mod agreement;
mod bounds;
mod programs;
mod proofs;
mod relations;
mod shown;
mod waiting;
