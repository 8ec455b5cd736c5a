-- +goose Up

-- What belongs to the installation as a whole. The hash seed is shared by all
-- collectors; random() draws 64 bits from a generator that SQLite seeds from the
-- operating system.
CREATE TABLE installation (
    one       INTEGER   NOT NULL PRIMARY KEY CHECK (one = 1),
    hash_seed BIGINT    NOT NULL,
    created   TIMESTAMP NOT NULL
);
INSERT INTO installation (one, hash_seed, created)
VALUES (1, random(), strftime('%Y-%m-%d %H:%M:%f+00:00', 'now'));

-- One incarnation of a collector. A time that is not known is the first of the
-- year 1, here and elsewhere, so that no column is NULL. last_seq is its newest commit, last_delta
-- the newest that carried a delta.
CREATE TABLE writers (
    writer     TEXT      NOT NULL PRIMARY KEY,
    host       TEXT      NOT NULL,
    started    TIMESTAMP NOT NULL,
    stopped    TIMESTAMP NOT NULL,
    seen       TIMESTAMP NOT NULL,
    last_seq   BIGINT    NOT NULL,
    last_delta BIGINT    NOT NULL
);

CREATE TABLE positions (
    source      TEXT      NOT NULL,
    name        TEXT      NOT NULL,
    next_offset TEXT      NOT NULL,
    epoch       BIGINT    NOT NULL,
    ended       BOOLEAN   NOT NULL,
    writer      TEXT      NOT NULL,
    moved       TIMESTAMP NOT NULL,
    PRIMARY KEY (source, name)
);

CREATE TABLE watermarks (
    source    TEXT      NOT NULL,
    name      TEXT      NOT NULL,
    epoch     BIGINT    NOT NULL,
    writer    TEXT      NOT NULL,
    watermark TIMESTAMP NOT NULL,
    lag       BIGINT    NOT NULL,
    moved     TIMESTAMP NOT NULL,
    seen      TIMESTAMP NOT NULL,
    PRIMARY KEY (source, name)
);

-- What a collector gathered in one commit. Positions move in the same
-- transaction.
CREATE TABLE deltas (
    writer    TEXT      NOT NULL,
    seq       BIGINT    NOT NULL,
    version   INTEGER   NOT NULL,
    body      BLOB      NOT NULL,
    committed TIMESTAMP NOT NULL,
    PRIMARY KEY (writer, seq)
);

CREATE TABLE cursors (
    writer   TEXT      NOT NULL PRIMARY KEY,
    seq      BIGINT    NOT NULL,
    advanced TIMESTAMP NOT NULL
);

CREATE TABLE gaps (
    id       INTEGER   PRIMARY KEY AUTOINCREMENT,
    writer   TEXT      NOT NULL,
    source   TEXT      NOT NULL,
    name     TEXT      NOT NULL,
    from_pos TEXT      NOT NULL,
    to_pos   TEXT      NOT NULL,
    since    TIMESTAMP NOT NULL,
    until    TIMESTAMP NOT NULL,
    reason   TEXT      NOT NULL,
    noticed  TIMESTAMP NOT NULL
);
CREATE INDEX gaps_noticed ON gaps (noticed);

CREATE TABLE bad_samples (
    writer TEXT      NOT NULL,
    hour   TIMESTAMP NOT NULL,
    source TEXT      NOT NULL,
    reason TEXT      NOT NULL,
    count  BIGINT    NOT NULL,
    PRIMARY KEY (hour, writer, source, reason)
);

CREATE TABLE bad_excerpts (
    writer  TEXT      NOT NULL,
    hour    TIMESTAMP NOT NULL,
    source  TEXT      NOT NULL,
    reason  TEXT      NOT NULL,
    slot    INTEGER   NOT NULL,
    excerpt TEXT      NOT NULL,
    PRIMARY KEY (hour, writer, source, reason, slot)
);

-- A lease's row is never deleted: its token must only ever rise.
CREATE TABLE leases (
    name    TEXT      NOT NULL PRIMARY KEY,
    holder  TEXT      NOT NULL,
    token   BIGINT    NOT NULL,
    expires TIMESTAMP NOT NULL,
    used    TIMESTAMP NOT NULL
);

-- Merged seconds. What is kept is decided by updated, the time of writing, so
-- that a backfill of old seconds is kept as long as anything else. vector is a JSON object, writer to the highest sequence
-- number that is folded in.
CREATE TABLE windows (
    table_name            TEXT      NOT NULL,
    index_name            TEXT      NOT NULL,
    second                TIMESTAMP NOT NULL,
    requests              BIGINT    NOT NULL,
    read_milli            BIGINT    NOT NULL,
    write_milli           BIGINT    NOT NULL,
    throttled_requests    BIGINT    NOT NULL,
    throttled_read_milli  BIGINT    NOT NULL,
    throttled_write_milli BIGINT    NOT NULL,
    vector                TEXT      NOT NULL,
    complete              BOOLEAN   NOT NULL,
    body                  BLOB      NOT NULL,
    updated               TIMESTAMP NOT NULL,
    PRIMARY KEY (table_name, index_name, second)
);
CREATE INDEX windows_updated ON windows (updated);

CREATE TABLE cardinalities (
    table_name TEXT      NOT NULL,
    index_name TEXT      NOT NULL,
    minute     TIMESTAMP NOT NULL,
    registers  BLOB      NOT NULL,
    updated    TIMESTAMP NOT NULL,
    PRIMARY KEY (table_name, index_name, minute)
);
CREATE INDEX cardinalities_updated ON cardinalities (updated);

CREATE TABLE findings (
    fingerprint TEXT             NOT NULL PRIMARY KEY,
    kind        TEXT             NOT NULL,
    table_name  TEXT             NOT NULL,
    index_name  TEXT             NOT NULL,
    key_text    TEXT             NOT NULL,
    severity    TEXT             NOT NULL,
    state       TEXT             NOT NULL,
    utilization DOUBLE PRECISION NOT NULL,
    first_seen  TIMESTAMP        NOT NULL,
    last_seen   TIMESTAMP        NOT NULL,
    updated_at  TIMESTAMP        NOT NULL,
    document    TEXT             NOT NULL
);
CREATE INDEX findings_utilization ON findings (utilization);
CREATE INDEX findings_updated_at ON findings (updated_at);

CREATE TABLE finding_history (
    id          INTEGER   PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT      NOT NULL,
    at          TIMESTAMP NOT NULL,
    from_state  TEXT      NOT NULL,
    to_state    TEXT      NOT NULL,
    severity    TEXT      NOT NULL,
    note        TEXT      NOT NULL,
    written     TIMESTAMP NOT NULL
);
CREATE INDEX finding_history_fingerprint ON finding_history (fingerprint, id);
CREATE INDEX finding_history_written ON finding_history (written);

-- The outbox. ordinal is the order within a finding and a route.
CREATE TABLE notifications (
    ordinal      INTEGER   PRIMARY KEY AUTOINCREMENT,
    id           TEXT      NOT NULL UNIQUE,
    fingerprint  TEXT      NOT NULL,
    event        TEXT      NOT NULL,
    route        TEXT      NOT NULL,
    payload      BLOB      NOT NULL,
    created      TIMESTAMP NOT NULL,
    next_attempt TIMESTAMP NOT NULL,
    attempts     INTEGER   NOT NULL,
    state        TEXT      NOT NULL,
    last_error   TEXT      NOT NULL
);
CREATE INDEX notifications_pending ON notifications (route, fingerprint, ordinal) WHERE state = 'pending';
CREATE INDEX notifications_created ON notifications (created);

-- The stored totals: what was consumed and what was throttled, in requests and
-- thousandths of a unit, per table and index, over every second that is kept.
CREATE VIEW keyheat_totals AS
SELECT table_name,
       index_name,
       CAST(sum(requests) AS BIGINT)              AS requests,
       CAST(sum(read_milli) AS BIGINT)            AS read_milli,
       CAST(sum(write_milli) AS BIGINT)           AS write_milli,
       CAST(sum(throttled_requests) AS BIGINT)    AS throttled_requests,
       CAST(sum(throttled_read_milli) AS BIGINT)  AS throttled_read_milli,
       CAST(sum(throttled_write_milli) AS BIGINT) AS throttled_write_milli,
       count(*)                                   AS seconds
FROM windows
GROUP BY table_name, index_name;
