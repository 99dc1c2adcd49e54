//! A small MCP server over stdio with a planted bug: it inverts the exchange rate. Made to be debugged.

mod server;
mod tools;
mod trip;

use std::process::ExitCode;

use rmcp::{ServiceExt as _, transport::io::stdio_pipes};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let served = match server::TripPlanner::default().serve(stdio_pipes()).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trip-planner: {error}");
            ExitCode::FAILURE
        }
    }
}
