mod agreement;
mod programs;
mod relations;
