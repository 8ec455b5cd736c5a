-- +goose Up

-- What findings, seconds and the rest are about: a table, or an index of one. What
-- is not known is empty, such as the account and the region of everything that was
-- stored before; so is the index of a table itself. used is when the target was
-- last written for, to the day; a target that no row refers to is deleted in time.
CREATE TABLE targets (
    id         BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account    TEXT      NOT NULL,
    region     TEXT      NOT NULL,
    table_name TEXT      NOT NULL,
    index_name TEXT      NOT NULL,
    used       TIMESTAMP NOT NULL,
    UNIQUE (table_name, index_name, account, region)
);
INSERT INTO targets (account, region, table_name, index_name, used)
SELECT '', '', table_name, index_name, clock_timestamp() AT TIME ZONE 'UTC'
FROM (
    SELECT table_name, index_name FROM windows
    UNION SELECT table_name, index_name FROM cardinalities
    UNION SELECT table_name, index_name FROM findings
    UNION SELECT table_name, index_name FROM hourly_peaks
    UNION SELECT table_name, index_name FROM table_views
    UNION SELECT table_name, '' FROM table_facts
) AS known;

-- Each table below is made anew with a target in place of two names: neither
-- engine can change a primary key that rows are found by in one statement.
DROP VIEW keyheat_totals;

CREATE TABLE windows_new (
    target                BIGINT    NOT NULL,
    second                TIMESTAMP NOT NULL,
    requests              BIGINT    NOT NULL,
    read_milli            BIGINT    NOT NULL,
    write_milli           BIGINT    NOT NULL,
    throttled_requests    BIGINT    NOT NULL,
    throttled_read_milli  BIGINT    NOT NULL,
    throttled_write_milli BIGINT    NOT NULL,
    vector                TEXT      NOT NULL,
    complete              BOOLEAN   NOT NULL,
    body                  BYTEA     NOT NULL,
    updated               TIMESTAMP NOT NULL,
    PRIMARY KEY (target, second)
);
ALTER TABLE windows_new ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO windows_new (target, second, requests, read_milli, write_milli, throttled_requests, throttled_read_milli, throttled_write_milli, vector, complete, body, updated)
SELECT t.id, o.second, o.requests, o.read_milli, o.write_milli, o.throttled_requests, o.throttled_read_milli, o.throttled_write_milli, o.vector, o.complete, o.body, o.updated
FROM windows AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = o.index_name;
DROP TABLE windows;
ALTER TABLE windows_new RENAME TO windows;
ALTER INDEX windows_new_pkey RENAME TO windows_pkey;
CREATE INDEX windows_updated ON windows (updated);

CREATE TABLE cardinalities_new (
    target    BIGINT    NOT NULL,
    minute    TIMESTAMP NOT NULL,
    registers BYTEA     NOT NULL,
    updated   TIMESTAMP NOT NULL,
    PRIMARY KEY (target, minute)
);
INSERT INTO cardinalities_new (target, minute, registers, updated)
SELECT t.id, o.minute, o.registers, o.updated
FROM cardinalities AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = o.index_name;
DROP TABLE cardinalities;
ALTER TABLE cardinalities_new RENAME TO cardinalities;
ALTER INDEX cardinalities_new_pkey RENAME TO cardinalities_pkey;
CREATE INDEX cardinalities_updated ON cardinalities (updated);

CREATE TABLE findings_new (
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
INSERT INTO findings_new (target, fingerprint, kind, key_text, severity, state, utilization, first_seen, last_seen, updated_at, document)
SELECT t.id, o.fingerprint, o.kind, o.key_text, o.severity, o.state, o.utilization, o.first_seen, o.last_seen, o.updated_at, o.document
FROM findings AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = o.index_name;
DROP TABLE findings;
ALTER TABLE findings_new RENAME TO findings;
ALTER INDEX findings_new_pkey RENAME TO findings_pkey;
CREATE INDEX findings_utilization ON findings (utilization);
CREATE INDEX findings_updated_at ON findings (updated_at);
CREATE INDEX findings_target ON findings (target);

CREATE TABLE hourly_peaks_new (
    target      BIGINT    NOT NULL,
    key_hash    BIGINT    NOT NULL,
    hour        TIMESTAMP NOT NULL,
    key_type    TEXT      NOT NULL,
    key_text    TEXT      NOT NULL,
    write_milli BIGINT    NOT NULL,
    read_milli  BIGINT    NOT NULL,
    updated     TIMESTAMP NOT NULL,
    PRIMARY KEY (target, key_hash, hour)
) WITH (fillfactor = 80);
INSERT INTO hourly_peaks_new (target, key_hash, hour, key_type, key_text, write_milli, read_milli, updated)
SELECT t.id, o.key_hash, o.hour, o.key_type, o.key_text, o.write_milli, o.read_milli, o.updated
FROM hourly_peaks AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = o.index_name;
DROP TABLE hourly_peaks;
ALTER TABLE hourly_peaks_new RENAME TO hourly_peaks;
ALTER INDEX hourly_peaks_new_pkey RENAME TO hourly_peaks_pkey;
CREATE INDEX hourly_peaks_updated ON hourly_peaks (updated);

CREATE TABLE table_views_new (
    target   BIGINT    NOT NULL PRIMARY KEY,
    updated  TIMESTAMP NOT NULL,
    document TEXT      NOT NULL
);
INSERT INTO table_views_new (target, updated, document)
SELECT t.id, o.updated, o.document
FROM table_views AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = o.index_name;
DROP TABLE table_views;
ALTER TABLE table_views_new RENAME TO table_views;
ALTER INDEX table_views_new_pkey RENAME TO table_views_pkey;

CREATE TABLE table_facts_new (
    target  BIGINT    NOT NULL PRIMARY KEY,
    facts   TEXT      NOT NULL,
    updated TIMESTAMP NOT NULL
);
INSERT INTO table_facts_new (target, facts, updated)
SELECT t.id, o.facts, o.updated
FROM table_facts AS o
JOIN targets AS t ON t.table_name = o.table_name AND t.index_name = '';
DROP TABLE table_facts;
ALTER TABLE table_facts_new RENAME TO table_facts;
ALTER INDEX table_facts_new_pkey RENAME TO table_facts_pkey;

-- The stored totals: what was consumed and what was throttled, in requests and
-- thousandths of a unit, per table and index, over every second that is kept.
CREATE VIEW keyheat_totals AS
SELECT t.account,
       t.region,
       t.table_name,
       t.index_name,
       CAST(sum(w.requests) AS BIGINT)              AS requests,
       CAST(sum(w.read_milli) AS BIGINT)            AS read_milli,
       CAST(sum(w.write_milli) AS BIGINT)           AS write_milli,
       CAST(sum(w.throttled_requests) AS BIGINT)    AS throttled_requests,
       CAST(sum(w.throttled_read_milli) AS BIGINT)  AS throttled_read_milli,
       CAST(sum(w.throttled_write_milli) AS BIGINT) AS throttled_write_milli,
       count(*)                                     AS seconds
FROM windows AS w
JOIN targets AS t ON t.id = w.target
GROUP BY t.account, t.region, t.table_name, t.index_name;
