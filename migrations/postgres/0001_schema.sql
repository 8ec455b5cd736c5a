-- +goose Up

-- The schema of Keyheat 0.1.0, in the order of a sample's way: collectors, streams, the
-- judge, incidents, alerts, reports. The engines' files differ only in the names of types,
-- in storage settings and in how the installation's seed is drawn.
--
-- Times are UTC. Columns ending in _milli are thousandths of a capacity unit. A column
-- named source is a log, such as a Kafka cluster, and name a partition or shard of it.
-- Columns named updated, written or noticed hold the time of writing: retention counts
-- from there, so that a backfill of old data is kept as long as new data. An unknown time
-- is the first of the year 1 where the column is NOT NULL.

-- One row for the whole installation. All collectors share hash_seed, which keys the
-- hashes of key texts.
-- A version 4 UUID has 128 bits, of which the first and the last
-- 32 are random throughout.
CREATE TABLE installation (
    one       INTEGER   NOT NULL PRIMARY KEY CHECK (one = 1),
    hash_seed BIGINT    NOT NULL,
    created   TIMESTAMP NOT NULL
);
INSERT INTO installation (one, hash_seed, created)
SELECT 1,
       ('x' || left(id, 8) || right(id, 8))::bit(64)::bigint,
       clock_timestamp() AT TIME ZONE 'UTC'
FROM (SELECT replace(gen_random_uuid()::text, '-', '') AS id) AS random;

-- A table or index of DynamoDB. Every table below that has a column target refers to it.
-- An unknown account or region is empty, and so is the index of a table itself.
CREATE TABLE targets (
    id         BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account    TEXT      NOT NULL,
    region     TEXT      NOT NULL,
    table_name TEXT      NOT NULL,
    index_name TEXT      NOT NULL,
    used       TIMESTAMP NOT NULL, -- when a row was last written for it, to the day
    UNIQUE (table_name, index_name, account, region)
);

-- ---- Collectors ----

-- A process of a collector, from start to end. A restarted collector is another writer.
-- Each commit updates the row, so its pages keep room for that.
CREATE TABLE writers (
    writer          TEXT      NOT NULL PRIMARY KEY,
    host            TEXT      NOT NULL,
    started         TIMESTAMP NOT NULL,
    stopped         TIMESTAMP NOT NULL,
    seen            TIMESTAMP NOT NULL,
    last_seq        BIGINT    NOT NULL, -- its newest commit
    last_delta      BIGINT    NOT NULL, -- its newest commit with a delta
    -- Its report about itself. An unknown figure is NULL, because 0 is a value.
    version         TEXT      NOT NULL DEFAULT '',
    state           TEXT      NOT NULL DEFAULT '',
    reason          TEXT      NOT NULL DEFAULT '',
    clock_offset_us BIGINT,           -- how far its clock is ahead of the database's
    lag             BIGINT,           -- messages
    refused_tables  TEXT,             -- a JSON list of names
    bad_share       DOUBLE PRECISION  -- of all messages, 0 to 1
) WITH (fillfactor = 50);

-- The next offset or sequence number of each partition. It moves by compare-and-swap, in
-- the transaction that writes the delta before it.
CREATE TABLE positions (
    source      TEXT      NOT NULL,
    name        TEXT      NOT NULL,
    next_offset TEXT      NOT NULL,
    epoch       BIGINT    NOT NULL, -- the number of the claim that may move it
    ended       BOOLEAN   NOT NULL, -- read to the end of a log that does not grow
    writer      TEXT      NOT NULL,
    moved       TIMESTAMP NOT NULL,
    -- Each of these is empty where it is not known.
    log         TEXT      NOT NULL DEFAULT '', -- the log's own ID, such as a Kafka topic's
    former      TEXT      NOT NULL DEFAULT '', -- IDs, separated by blanks, of deleted logs of this name
    readers     TEXT      NOT NULL DEFAULT '', -- who share the source, such as a consumer group
    superseded  TEXT      NOT NULL DEFAULT '', -- the source that these readers read instead now
    mark        TEXT      NOT NULL DEFAULT '', -- the source's own note, such as a leader's epoch
    PRIMARY KEY (source, name)
) WITH (fillfactor = 50);

-- The log's own time up to which each partition is counted. The slowest one closes
-- seconds.
CREATE TABLE watermarks (
    source    TEXT      NOT NULL,
    name      TEXT      NOT NULL,
    epoch     BIGINT    NOT NULL,
    writer    TEXT      NOT NULL,
    watermark TIMESTAMP NOT NULL,
    lag       BIGINT    NOT NULL, -- messages behind the position
    moved     TIMESTAMP NOT NULL, -- when watermark last changed
    seen      TIMESTAMP NOT NULL, -- when the row was last written
    PRIMARY KEY (source, name)
) WITH (fillfactor = 50);

-- The sketches that a collector gathered between two commits, in the sketch package's
-- binary form.
-- The body is compressed already, so Postgres does not try again. Never make
-- this table UNLOGGED: a crash would empty it and keep the positions.
CREATE TABLE deltas (
    writer    TEXT      NOT NULL,
    seq       BIGINT    NOT NULL,
    version   INTEGER   NOT NULL, -- of the binary form
    body      BYTEA     NOT NULL,
    committed TIMESTAMP NOT NULL,
    previous  BIGINT    NOT NULL, -- the writer's delta before it, 0 for none: a gap shows that the database went back
    since     BIGINT    NOT NULL DEFAULT 0, -- the first Unix second that it may add to; 0 where not known
    PRIMARY KEY (writer, seq)
);
ALTER TABLE deltas ALTER COLUMN body SET STORAGE EXTERNAL;
-- Finds the oldest second of unread deltas without their bodies.
CREATE INDEX deltas_since ON deltas (writer, seq, since);

-- Ranges of a source that were not, and will never be, counted.
CREATE TABLE gaps (
    id       BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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

-- How many messages were rejected for which reason, by the hour in which they were read.
CREATE TABLE bad_samples (
    writer TEXT      NOT NULL,
    hour   TIMESTAMP NOT NULL,
    source TEXT      NOT NULL,
    reason TEXT      NOT NULL,
    count  BIGINT    NOT NULL,
    PRIMARY KEY (hour, writer, source, reason)
) WITH (fillfactor = 50);

-- Redacted beginnings of the first few rejected messages of each row above.
CREATE TABLE bad_excerpts (
    writer  TEXT      NOT NULL,
    hour    TIMESTAMP NOT NULL,
    source  TEXT      NOT NULL,
    reason  TEXT      NOT NULL,
    slot    INTEGER   NOT NULL,
    excerpt TEXT      NOT NULL,
    PRIMARY KEY (hour, writer, source, reason, slot)
);

-- ---- Streams ----

-- The shards of streams. Each has its position and its watermark, of the same name, as
-- soon as it is known: no second is complete before the shard was read.
CREATE TABLE shards (
    source       TEXT      NOT NULL,
    name         TEXT      NOT NULL,
    stream       TEXT      NOT NULL,
    after        TEXT      NOT NULL, -- the shard that has to end first; empty for none
    owner        TEXT      NOT NULL, -- the member that reads it; empty for none
    unseen_since TIMESTAMP NOT NULL, -- when all shards were last known, if its parent vanished unseen
    found        TIMESTAMP NOT NULL,
    PRIMARY KEY (source, name)
) WITH (fillfactor = 50);
CREATE INDEX shards_stream ON shards (source, stream);

-- What each shard delivered of its table's keys: the cells of the key space that had one, in
-- the partition package's binary form.
CREATE TABLE shard_keys (
    source     TEXT      NOT NULL,
    name       TEXT      NOT NULL,
    account    TEXT      NOT NULL,
    region     TEXT      NOT NULL,
    table_name TEXT      NOT NULL,
    body       BYTEA     NOT NULL,
    updated    TIMESTAMP NOT NULL,
    PRIMARY KEY (source, name)
);

-- When all shards of each stream were last listed.
CREATE TABLE streams (
    source TEXT      NOT NULL,
    stream TEXT      NOT NULL,
    listed TIMESTAMP NOT NULL,
    PRIMARY KEY (source, stream)
) WITH (fillfactor = 50);

-- The processes that share the shards of a source. The shards of an expired member are
-- free: this one row is kept alive for all of them.
CREATE TABLE members (
    source  TEXT      NOT NULL,
    member  TEXT      NOT NULL,
    expires TIMESTAMP NOT NULL,
    PRIMARY KEY (source, member)
) WITH (fillfactor = 50);

-- ---- The judge ----

-- The lease of the one reporter that judges. A row is never deleted, because its token
-- must only rise: the token fences every write of the judge.
CREATE TABLE leases (
    name    TEXT      NOT NULL PRIMARY KEY,
    holder  TEXT      NOT NULL,
    token   BIGINT    NOT NULL,
    expires TIMESTAMP NOT NULL,
    used    TIMESTAMP NOT NULL,
    writes  BIGINT    NOT NULL DEFAULT 0, -- how often the judge wrote: a lower number shows that the database went back
    session BIGINT    NOT NULL DEFAULT 0  -- the holder's lock, which ends with its process; 0 for none
) WITH (fillfactor = 50);

-- The newest delta of each writer whose effect the judge has stored.
CREATE TABLE cursors (
    writer   TEXT      NOT NULL PRIMARY KEY,
    seq      BIGINT    NOT NULL,
    advanced TIMESTAMP NOT NULL
) WITH (fillfactor = 50);

-- Seconds of a target, merged from deltas. The figures count consumed and throttled
-- load; the keys are in the body, in the sketch package's binary form.
CREATE TABLE windows (
    target                BIGINT    NOT NULL,
    second                TIMESTAMP NOT NULL,
    requests              BIGINT    NOT NULL,
    read_milli            BIGINT    NOT NULL,
    write_milli           BIGINT    NOT NULL,
    throttled_requests    BIGINT    NOT NULL,
    throttled_read_milli  BIGINT    NOT NULL,
    throttled_write_milli BIGINT    NOT NULL,
    vector                TEXT      NOT NULL, -- a JSON object: writer to its newest delta that is merged in
    complete              BOOLEAN   NOT NULL,
    body                  BYTEA     NOT NULL,
    updated               TIMESTAMP NOT NULL,
    PRIMARY KEY (target, second)
);
ALTER TABLE windows ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX windows_updated ON windows (updated);
-- Sums over hours of a table read these figures, some sixty bytes a second, and no bodies.
CREATE INDEX windows_totals ON windows (target, second, requests, read_milli, write_milli,
    throttled_requests, throttled_read_milli, throttled_write_milli);

-- The sums of all stored seconds of each target. They are added up in the order of
-- windows_totals, before the target's names are looked up.
CREATE VIEW keyheat_totals AS
SELECT t.account,
       t.region,
       t.table_name,
       t.index_name,
       w.requests,
       w.read_milli,
       w.write_milli,
       w.throttled_requests,
       w.throttled_read_milli,
       w.throttled_write_milli,
       w.seconds
FROM (
    SELECT target,
           CAST(sum(requests) AS BIGINT)              AS requests,
           CAST(sum(read_milli) AS BIGINT)            AS read_milli,
           CAST(sum(write_milli) AS BIGINT)           AS write_milli,
           CAST(sum(throttled_requests) AS BIGINT)    AS throttled_requests,
           CAST(sum(throttled_read_milli) AS BIGINT)  AS throttled_read_milli,
           CAST(sum(throttled_write_milli) AS BIGINT) AS throttled_write_milli,
           count(*)                                   AS seconds
    FROM windows
    GROUP BY target
) AS w
JOIN targets AS t ON t.id = w.target;

-- Which seconds of each minute were counted whole: bit n stands for second n. It tells a
-- second without load from a second that nobody counted.
CREATE TABLE seen_minutes (
    minute  TIMESTAMP NOT NULL PRIMARY KEY,
    seconds BIGINT    NOT NULL,
    updated TIMESTAMP NOT NULL
);
CREATE INDEX seen_minutes_updated ON seen_minutes (updated);

-- The hot keys of a target in the level seconds from begins on, in the heat package's
-- binary form. Each level has its own retention.
CREATE TABLE rollups (
    target  BIGINT    NOT NULL,
    level   INTEGER   NOT NULL, -- seconds
    begins  TIMESTAMP NOT NULL,
    body    BYTEA     NOT NULL,
    updated TIMESTAMP NOT NULL,
    PRIMARY KEY (target, level, begins)
);
ALTER TABLE rollups ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX rollups_updated ON rollups (level, updated);

-- A HyperLogLog of the distinct keys of each minute of a target.
CREATE TABLE cardinalities (
    target    BIGINT    NOT NULL,
    minute    TIMESTAMP NOT NULL,
    registers BYTEA     NOT NULL,
    updated   TIMESTAMP NOT NULL,
    PRIMARY KEY (target, minute)
);
CREATE INDEX cardinalities_updated ON cardinalities (updated);

-- The highest second of each hour of warm keys. Forecasts of their growth rest on it.
CREATE TABLE hourly_peaks (
    target      BIGINT    NOT NULL,
    key_hash    BIGINT    NOT NULL, -- keyed with the installation's seed, as in the windows
    hour        TIMESTAMP NOT NULL,
    key_type    TEXT      NOT NULL,
    key_text    TEXT      NOT NULL,
    write_milli BIGINT    NOT NULL,
    read_milli  BIGINT    NOT NULL,
    updated     TIMESTAMP NOT NULL,
    PRIMARY KEY (target, key_hash, hour)
) WITH (fillfactor = 80);
CREATE INDEX hourly_peaks_updated ON hourly_peaks (updated);

-- The newest view of each target as a whole, as JSON.
CREATE TABLE table_views (
    target   BIGINT    NOT NULL PRIMARY KEY,
    updated  TIMESTAMP NOT NULL,
    document TEXT      NOT NULL
);

-- The map of each table's partitions, as JSON.
CREATE TABLE partition_maps (
    target   BIGINT    NOT NULL PRIMARY KEY,
    updated  TIMESTAMP NOT NULL,
    document TEXT      NOT NULL
);

-- DescribeTable's answer about each table, as JSON.
CREATE TABLE table_facts (
    target  BIGINT    NOT NULL PRIMARY KEY,
    facts   TEXT      NOT NULL,
    updated TIMESTAMP NOT NULL
);

-- CloudWatch's report about each minute of a target.
CREATE TABLE cloudwatch_minutes (
    target  BIGINT    NOT NULL,
    minute  TIMESTAMP NOT NULL,
    metrics TEXT      NOT NULL, -- a JSON object: metric to value; a metric without a data point is absent
    updated TIMESTAMP NOT NULL,
    PRIMARY KEY (target, minute)
) WITH (fillfactor = 80);
CREATE INDEX cloudwatch_minutes_updated ON cloudwatch_minutes (updated);

-- The last reading of CloudWatch for each target.
CREATE TABLE cloudwatch_reads (
    target    BIGINT    NOT NULL PRIMARY KEY,
    attempted TIMESTAMP NOT NULL,
    through   TIMESTAMP,          -- the end of the last minute that was read; NULL before the first
    state     TEXT      NOT NULL,
    message   TEXT      NOT NULL,
    month     TEXT      NOT NULL,
    requested BIGINT    NOT NULL  -- metrics requested in the month, which AWS bills
) WITH (fillfactor = 80);

-- ---- Findings and incidents ----

-- The evidence of one kind about one key of a target, or about the target as a whole. The
-- document is the whole finding as JSON; the other columns serve searches and orders.
CREATE TABLE findings (
    fingerprint TEXT             NOT NULL PRIMARY KEY,
    kind        TEXT             NOT NULL,
    target      BIGINT           NOT NULL,
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
CREATE INDEX findings_target ON findings (target);

-- Each change of a finding's state.
CREATE TABLE finding_history (
    id          BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint TEXT      NOT NULL,
    at          TIMESTAMP NOT NULL,
    from_state  TEXT      NOT NULL,
    to_state    TEXT      NOT NULL,
    severity    TEXT      NOT NULL,
    note        TEXT      NOT NULL, -- a code: why, beside the states
    about       TEXT      NOT NULL, -- the ID or severity that the code refers to
    until       TIMESTAMP,          -- the end of a silence
    written     TIMESTAMP NOT NULL
);
CREATE INDEX finding_history_fingerprint ON finding_history (fingerprint, id);
CREATE INDEX finding_history_written ON finding_history (written);

-- The findings of one cause: the unit of alerting. The document is the whole incident as
-- JSON.
CREATE TABLE incidents (
    id          TEXT      NOT NULL PRIMARY KEY,
    cause       TEXT      NOT NULL,
    target      BIGINT    NOT NULL,
    severity    TEXT      NOT NULL,
    state       TEXT      NOT NULL,
    opened_at   TIMESTAMP NOT NULL,
    fired_at    TIMESTAMP,          -- NULL until it fires
    resolved_at TIMESTAMP,          -- NULL until it resolves
    last_seen   TIMESTAMP NOT NULL,
    revision    BIGINT    NOT NULL, -- rises with each change that is notified
    root        TEXT      NOT NULL, -- the fingerprint of the finding that explains the others
    document    TEXT      NOT NULL,
    updated     TIMESTAMP NOT NULL
);
CREATE INDEX incidents_last_seen ON incidents (last_seen);
CREATE INDEX incidents_updated ON incidents (updated);
CREATE INDEX incidents_target ON incidents (target);

CREATE TABLE incident_findings (
    incident    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (incident, fingerprint)
);
CREATE INDEX incident_findings_fingerprint ON incident_findings (fingerprint);

-- Each change of an incident's state.
CREATE TABLE incident_history (
    id         BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    incident   TEXT      NOT NULL,
    at         TIMESTAMP NOT NULL,
    from_state TEXT      NOT NULL,
    to_state   TEXT      NOT NULL,
    severity   TEXT      NOT NULL,
    note       TEXT      NOT NULL, -- as in finding_history
    about      TEXT      NOT NULL,
    until      TIMESTAMP,
    written    TIMESTAMP NOT NULL
);
CREATE INDEX incident_history_incident ON incident_history (incident, id);
CREATE INDEX incident_history_written ON incident_history (written);
CREATE INDEX incident_history_at ON incident_history (at);

-- ---- Alerts ----

-- The outbox: messages to receivers, written in the transaction that causes them.
CREATE TABLE notifications (
    ordinal      BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order within an incident and a route
    id           TEXT      NOT NULL UNIQUE,
    fingerprint  TEXT      NOT NULL,
    event        TEXT      NOT NULL,
    route        TEXT      NOT NULL,
    payload      BYTEA     NOT NULL,
    created      TIMESTAMP NOT NULL,
    next_attempt TIMESTAMP NOT NULL,
    attempts     INTEGER   NOT NULL,
    state        TEXT      NOT NULL,
    last_error   TEXT      NOT NULL,
    incident     TEXT      NOT NULL DEFAULT '',    -- an incident or a group of incidents; empty for none
    refusals     INTEGER   NOT NULL DEFAULT 0,     -- attempts that the receiver rejected: only these end in giving up
    reached      BOOLEAN   NOT NULL DEFAULT TRUE,  -- an attempt may have arrived
    receipt      TEXT      NOT NULL DEFAULT '',    -- the receiver's name of its message, to change it later
    fallback     BOOLEAN   NOT NULL DEFAULT FALSE, -- it went to the route's fallback too
    rewritten    BOOLEAN   NOT NULL DEFAULT FALSE  -- the payload is not the judge's any more
);
CREATE INDEX notifications_pending ON notifications (route, fingerprint, ordinal) WHERE state = 'pending';
-- An incident's later notification waits for its earlier one.
CREATE INDEX notifications_incident ON notifications (route, incident, ordinal) WHERE state = 'pending';
CREATE INDEX notifications_created ON notifications (created);

-- Incidents with common messages to a receiver, while any of them fires. The document is
-- the grouping package's, as JSON, and has no keys.
CREATE TABLE notification_groups (
    id       TEXT      NOT NULL PRIMARY KEY,
    receiver TEXT      NOT NULL,
    document TEXT      NOT NULL,
    updated  TIMESTAMP NOT NULL
);

-- How the receiver of each route answers. While a route fails, one notification at a time
-- is tried, not before next_attempt; the others wait for its success.
CREATE TABLE receivers (
    route        TEXT      NOT NULL PRIMARY KEY,
    failures     INTEGER   NOT NULL, -- failed attempts in a row
    failed_since TIMESTAMP,          -- the first attempt of the newest run of failures
    recovered    TIMESTAMP,          -- the success that ended this run
    next_attempt TIMESTAMP NOT NULL,
    attempted    TIMESTAMP NOT NULL,
    succeeded    TIMESTAMP,
    last_error   TEXT      NOT NULL
);

-- Silences hold the notifications of incidents back from starts_at to ends_at.
CREATE TABLE silences (
    id        TEXT      NOT NULL PRIMARY KEY,
    matchers  TEXT      NOT NULL, -- a JSON list; an incident has to match all
    starts_at TIMESTAMP NOT NULL,
    ends_at   TIMESTAMP NOT NULL,
    author    TEXT      NOT NULL,
    reason    TEXT      NOT NULL
);
CREATE INDEX silences_ends_at ON silences (ends_at);

-- ---- Reports and the audit ----

-- The schedules of reports.
CREATE TABLE report_schedules (
    name     TEXT      NOT NULL PRIMARY KEY,
    spec     TEXT      NOT NULL, -- when reports are due, as the operator wrote it
    since    TIMESTAMP NOT NULL, -- when this spec was first seen; nothing is due before
    last_due TIMESTAMP,          -- the newest due time with a report; NULL for none
    seen     TIMESTAMP NOT NULL
);

-- One report for each schedule and due time, as JSON.
CREATE TABLE reports (
    id       TEXT      NOT NULL PRIMARY KEY,
    schedule TEXT      NOT NULL,
    due      TIMESTAMP NOT NULL,
    from_at  TIMESTAMP NOT NULL,
    to_at    TIMESTAMP NOT NULL,
    made     TIMESTAMP NOT NULL,
    outline  TEXT      NOT NULL, -- the figures of its summary, as JSON
    document TEXT      NOT NULL,
    filed    TIMESTAMP,          -- when the schedule's folder had its files; NULL before
    UNIQUE (schedule, due)
);
CREATE INDEX reports_made ON reports (made);

-- Changes that people made by hand: who, when and what. No key is in it.
CREATE TABLE audit (
    id     BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     TIMESTAMP NOT NULL,
    who    TEXT      NOT NULL,
    action TEXT      NOT NULL,
    about  TEXT      NOT NULL,
    detail TEXT      NOT NULL
);
CREATE INDEX audit_at ON audit (at);

-- Statistics would keep frequent values of a column, such as keys, in pg_statistic after
-- a purge of the tables.
ALTER TABLE deltas ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE windows ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE rollups ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE hourly_peaks ALTER COLUMN key_text SET STATISTICS 0;
ALTER TABLE table_views ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE findings ALTER COLUMN key_text SET STATISTICS 0, ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE incidents ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE notifications ALTER COLUMN payload SET STATISTICS 0, ALTER COLUMN last_error SET STATISTICS 0;
ALTER TABLE silences ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE reports ALTER COLUMN document SET STATISTICS 0, ALTER COLUMN outline SET STATISTICS 0;
