//! The operators the language has, by how their arguments are computed.

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// Computes only the arguments it needs, or one of them for each element.
    Lazy(Lazy),
    /// Arguments first, then true or false.
    Test(Test),
    /// Arguments first, then a value.
    Make(Make),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lazy {
    If,
    And,
    Or,
    Map,
    Filter,
    Reduce,
    All,
    None,
    Some,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    LooselyEqual,
    LooselyDifferent,
    StrictlyEqual,
    StrictlyDifferent,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Truth,
    Not,
    In,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Make {
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Min,
    Max,
    Cat,
    Substr,
    Merge,
    Log,
    Var,
    Missing,
    MissingSome,
}

impl Operator {
    pub(crate) fn named(name: &str) -> Option<Self> {
        lazy(name).map(Self::Lazy).or_else(|| test(name).map(Self::Test)).or_else(|| make(name).map(Self::Make))
    }
}

fn lazy(name: &str) -> Option<Lazy> {
    Some(match name {
        "if" | "?:" => Lazy::If,
        "and" => Lazy::And,
        "or" => Lazy::Or,
        "map" => Lazy::Map,
        "filter" => Lazy::Filter,
        "reduce" => Lazy::Reduce,
        "all" => Lazy::All,
        "none" => Lazy::None,
        "some" => Lazy::Some,
        _ => return None,
    })
}

fn test(name: &str) -> Option<Test> {
    Some(match name {
        "==" => Test::LooselyEqual,
        "!=" => Test::LooselyDifferent,
        "===" => Test::StrictlyEqual,
        "!==" => Test::StrictlyDifferent,
        ">" => Test::Greater,
        ">=" => Test::GreaterOrEqual,
        "<" => Test::Less,
        "<=" => Test::LessOrEqual,
        "!!" => Test::Truth,
        "!" => Test::Not,
        "in" => Test::In,
        _ => return None,
    })
}

fn make(name: &str) -> Option<Make> {
    Some(match name {
        "+" => Make::Plus,
        "-" => Make::Minus,
        "*" => Make::Times,
        "/" => Make::Divide,
        "%" => Make::Remainder,
        "min" => Make::Min,
        "max" => Make::Max,
        "cat" => Make::Cat,
        "substr" => Make::Substr,
        "merge" => Make::Merge,
        "log" => Make::Log,
        "var" => Make::Var,
        "missing" => Make::Missing,
        "missing_some" => Make::MissingSome,
        _ => return None,
    })
}
