//! The scripted server as a program of its own.

fn main() {
    lockgate_testkit::script::main(std::env::args().skip(1));
}
