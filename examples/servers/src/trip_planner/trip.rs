//! What a trip planner knows: flights, rates, bookings. Pure but for the planted bug, which is a mistake on purpose.

/// A flight on offer, priced in dollars.
#[derive(Debug, PartialEq)]
pub(crate) struct Flight {
    pub(crate) number: &'static str,
    pub(crate) to: &'static str,
    pub(crate) dollars: f64,
}

/// Everything that changed since the server started.
#[derive(Debug, Default)]
pub(crate) struct Trip {
    pub(crate) booked: Vec<String>,
    /// how many calls reached the server, held or refused ones not among them
    pub(crate) calls: usize,
    seats_asked: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Flight(String),
    Currency(String),
    OverBudget { price: f64, budget: f64 },
    SeatsLoading,
}

pub(crate) fn flights(to: &str) -> Vec<&'static Flight> {
    FLIGHTS.iter().filter(|flight| flight.to.eq_ignore_ascii_case(to)).collect()
}

/// Converts an amount at today's rate, upside down.
pub(crate) fn convert(amount: f64, from: &str, to: &str) -> Result<f64, Refused> {
    let rate = euros(to)? / euros(from)?;
    // the planted bug: the rate says how many of `from` one of `to` costs, so this should divide
    Ok(cents(amount * rate))
}

impl Trip {
    pub(crate) fn book(&mut self, flight: &str, price: f64, budget: f64) -> Result<String, Refused> {
        let Some(flight) = FLIGHTS.iter().find(|known| known.number == flight) else {
            return Err(Refused::Flight(flight.to_owned()));
        };
        if price > budget {
            return Err(Refused::OverBudget { price, budget });
        }
        let booked = format!("booked {} to {} for {price:.2} EUR", flight.number, flight.to);
        self.booked.push(booked.clone());
        Ok(booked)
    }

    /// The seat map is never there the first time.
    pub(crate) fn seats(&mut self, flight: &str) -> Result<String, Refused> {
        if !FLIGHTS.iter().any(|known| known.number == flight) {
            return Err(Refused::Flight(flight.to_owned()));
        }
        self.seats_asked += 1;
        if self.seats_asked % 2 == 1 { Err(Refused::SeatsLoading) } else { Ok("14C and 22A are free".to_owned()) }
    }

    pub(crate) fn itinerary(&self) -> String {
        let booked = if self.booked.is_empty() { "nothing booked".to_owned() } else { self.booked.join("\n") };
        format!("{booked}\ncalls: {}", self.calls)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flight(number) => write!(out, "no such flight: {number}"),
            Self::Currency(code) => write!(out, "no rate for currency: {code}"),
            Self::OverBudget { price, budget } => {
                write!(out, "budget check failed: {price:.2} EUR is over the budget of {budget:.2} EUR")
            }
            Self::SeatsLoading => write!(out, "the seat map is still loading, ask again"),
        }
    }
}

/// What one unit of a currency is worth in euros.
fn euros(code: &str) -> Result<f64, Refused> {
    match code {
        "EUR" => Ok(1.0),
        "USD" => Ok(0.92),
        "GBP" => Ok(1.17),
        unknown => Err(Refused::Currency(unknown.to_owned())),
    }
}

fn cents(amount: f64) -> f64 {
    (amount * 100.0).round() / 100.0
}

const FLIGHTS: [Flight; 4] = [
    Flight { number: "TP1273", to: "Lisbon", dollars: 290.0 },
    Flight { number: "OS367", to: "Lisbon", dollars: 412.0 },
    Flight { number: "AF1239", to: "Paris", dollars: 180.0 },
    Flight { number: "BA697", to: "London", dollars: 205.0 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_planted_bug_is_planted() {
        assert_eq!(convert(290.0, "USD", "EUR"), Ok(315.22));
        assert_eq!(convert(1.0, "EUR", "EUR"), Ok(1.0));
        assert_eq!(convert(1.0, "USD", "XAU"), Err(Refused::Currency("XAU".to_owned())));
    }

    #[test]
    fn a_dear_trip_is_refused_and_a_fair_one_booked() {
        let mut trip = Trip::default();
        let refused = trip.book("TP1273", 315.22, 300.0).map_err(|refused| refused.to_string());
        assert_eq!(refused, Err("budget check failed: 315.22 EUR is over the budget of 300.00 EUR".to_owned()));
        assert_eq!(trip.book("TP1273", 266.8, 300.0), Ok("booked TP1273 to Lisbon for 266.80 EUR".to_owned()));
        assert_eq!(trip.book("XX1", 1.0, 2.0), Err(Refused::Flight("XX1".to_owned())));
        assert_eq!(trip.itinerary(), "booked TP1273 to Lisbon for 266.80 EUR\ncalls: 0");
    }

    #[test]
    fn seats_come_the_second_time() {
        let mut trip = Trip::default();
        assert_eq!(trip.seats("OS367"), Err(Refused::SeatsLoading));
        assert_eq!(trip.seats("OS367"), Ok("14C and 22A are free".to_owned()));
    }
}
