mod agreement;
mod programs;
mod waiting;
