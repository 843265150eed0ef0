mod agreement;
mod bounds;
mod programs;
mod relations;
mod shown;
mod waiting;
