-- +goose Up

-- The highest second of each hour of the keys that are warm, by which their
-- growth is told. key_hash is the keyed hash of the installation, as in the
-- windows; what is kept is decided by updated, the time of writing.
CREATE TABLE hourly_peaks (
    table_name  TEXT      NOT NULL,
    index_name  TEXT      NOT NULL,
    key_hash    BIGINT    NOT NULL,
    hour        TIMESTAMP NOT NULL,
    key_type    TEXT      NOT NULL,
    key_text    TEXT      NOT NULL,
    write_milli BIGINT    NOT NULL,
    read_milli  BIGINT    NOT NULL,
    updated     TIMESTAMP NOT NULL,
    PRIMARY KEY (table_name, index_name, key_hash, hour)
) WITH (fillfactor = 80);
CREATE INDEX hourly_peaks_updated ON hourly_peaks (updated);

-- What a table or index looks like as a whole: the newest view, as JSON.
CREATE TABLE table_views (
    table_name TEXT      NOT NULL,
    index_name TEXT      NOT NULL,
    updated    TIMESTAMP NOT NULL,
    document   TEXT      NOT NULL,
    PRIMARY KEY (table_name, index_name)
);
