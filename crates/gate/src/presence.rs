//! Who is at the other end: nobody, a hub, or a hub somebody looks at. Facts the link tells the gate, nothing more.

/// Whether a hub answered, and what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// No hub: the debugger holds nothing (wire §2.8).
    Detached,
    /// A hub answered (wire §10.3).
    Attached {
        /// Whether somebody looks.
        watched: Watched,
        /// What this hub implements.
        hub: HubCaps,
    },
}

/// Whether at least one viewer or control client is there (wire §10.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// Somebody is there.
    Yes,
    /// Nobody is there.
    No,
    /// This hub never says: no clock of patience runs.
    Unknown,
}

/// What a hub implements, read from the `hubCapabilities` of its `hello.ack` (wire §1.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubCaps {
    age: Age,
    edits: bool,
    reviews: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Sent no list: it knows nothing but continue, retry, inject and abort.
    Old,
    Listed,
}

impl HubCaps {
    /// A hub that listed nothing, as those of 0.5.
    pub const OLD: Self = Self { age: Age::Old, edits: false, reviews: false };

    /// From the names it listed. Unknown names are passed over.
    pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut caps = Self { age: Age::Listed, ..Self::OLD };
        for name in names {
            match name {
                "edit-input" => caps.edits = true,
                "guard-holds" => caps.reviews = true,
                _ => {}
            }
        }
        caps
    }

    /// Whether it sent no list at all.
    #[must_use]
    pub fn is_old(self) -> bool {
        self.age == Age::Old
    }

    /// Whether it passes edited input on: `edit-input`.
    #[must_use]
    pub fn edits(self) -> bool {
        self.edits
    }

    /// Whether it lets only a person at a viewer release guard holds: `guard-holds` (wire §10.2).
    #[must_use]
    pub fn reviews(self) -> bool {
        self.reviews
    }
}

impl Presence {
    /// Whether a hub answered.
    #[must_use]
    pub fn is_attached(self) -> bool {
        matches!(self, Self::Attached { .. })
    }

    /// What the hub implements; nothing while detached.
    pub(crate) fn hub(self) -> HubCaps {
        match self {
            Self::Detached => HubCaps::OLD,
            Self::Attached { hub, .. } => hub,
        }
    }

    /// Whether it is known that nobody looks.
    pub(crate) fn is_unwatched(self) -> bool {
        matches!(self, Self::Attached { watched: Watched::No, .. })
    }
}
