mod agreement;
mod programs;
mod shown;
