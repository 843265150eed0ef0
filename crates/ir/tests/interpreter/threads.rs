//! Threads, schedules, atomic sections, calls, and the ends of executions.
