mod agreement;
mod programs;
