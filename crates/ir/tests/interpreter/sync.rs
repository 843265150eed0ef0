//! Each synchronisation primitive, in what it allows and what it forbids.
