-- Counts stand on the run, so that a list of runs counts nothing; `ord` is the order of arrival, which `seq` is not.
ALTER TABLE runs ADD COLUMN event_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN error_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN last_ord INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN ord INTEGER;
-- Members of an envelope that the protocol does not name, as one JSON object.
ALTER TABLE events ADD COLUMN extra_json TEXT;

-- Events that were here before arrived in the order of their rows.
CREATE TEMP TABLE arrival AS
SELECT rowid AS event, row_number() OVER (PARTITION BY run_id ORDER BY rowid) AS ord FROM events;
CREATE UNIQUE INDEX temp.arrival_event ON arrival (event);
UPDATE events SET ord = (SELECT arrival.ord FROM arrival WHERE arrival.event = events.rowid);
DROP TABLE temp.arrival;

UPDATE runs SET
    event_count = (SELECT count(*) FROM events WHERE events.run_id = runs.id),
    error_count = (SELECT count(*) FROM events WHERE events.run_id = runs.id AND events.type = 'node.error'),
    last_ord = (SELECT count(*) FROM events WHERE events.run_id = runs.id);

CREATE UNIQUE INDEX events_by_arrival ON events (run_id, ord);
-- Tokens are most of a run and nobody looks them up by type.
CREATE INDEX events_by_type ON events (run_id, type) WHERE type <> 'node.token';
CREATE INDEX runs_by_start ON runs (started_at, id);
