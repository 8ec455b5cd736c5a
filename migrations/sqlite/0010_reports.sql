-- +goose Up

-- The schedules of reports. spec is when they are due, as it is written; since is when
-- it was first seen so, before which nothing is due; last_due is the newest due time
-- of which a report was made, NULL for none.
CREATE TABLE report_schedules (
    name     TEXT      NOT NULL PRIMARY KEY,
    spec     TEXT      NOT NULL,
    since    TIMESTAMP NOT NULL,
    last_due TIMESTAMP,
    seen     TIMESTAMP NOT NULL
);

-- Reports, one for a schedule and due time. filed is when the folder had its files,
-- NULL while it has not.
CREATE TABLE reports (
    id       TEXT      NOT NULL PRIMARY KEY,
    schedule TEXT      NOT NULL,
    due      TIMESTAMP NOT NULL,
    from_at  TIMESTAMP NOT NULL,
    to_at    TIMESTAMP NOT NULL,
    made     TIMESTAMP NOT NULL,
    summary  TEXT      NOT NULL,
    document TEXT      NOT NULL,
    filed    TIMESTAMP,
    UNIQUE (schedule, due)
);
CREATE INDEX reports_made ON reports (made);

-- What happened in a period is asked for by when it happened.
CREATE INDEX incident_history_at ON incident_history (at);
