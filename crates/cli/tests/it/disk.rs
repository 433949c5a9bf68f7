//! A disk that is full or broken: nothing that was acknowledged is lost, service comes back
//! by itself, and nobody can fill it.

mod failing;
mod faults;
mod quota;
