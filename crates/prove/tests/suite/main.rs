mod agreement;
mod bounds;
mod programs;
