-- The tables a GraphMind hub keeps too: a database of its 0.5 or 0.6 line is taken over as it stands.
CREATE TABLE IF NOT EXISTS runs (
    id             TEXT PRIMARY KEY,
    app            TEXT NOT NULL,
    started_at     REAL NOT NULL,
    finished_at    REAL,
    status         TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    source         TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS events (
    run_id       TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    ts           REAL NOT NULL,
    type         TEXT NOT NULL,
    node_id      TEXT,
    payload_json TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
);
