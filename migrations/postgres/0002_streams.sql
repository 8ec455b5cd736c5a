-- +goose Up

-- The shards of streams. Each has its position and its watermark, of the same
-- name, from the moment at which it is known: no second is complete before it
-- was heard of. after is the name of the shard that has to end before it may be
-- read, or empty. owner reads it; empty when nobody does. unseen_since is, for a
-- shard whose parent vanished before anybody saw it, the last time at which all
-- shards were known.
CREATE TABLE shards (
    source       TEXT      NOT NULL,
    name         TEXT      NOT NULL,
    stream       TEXT      NOT NULL,
    after        TEXT      NOT NULL,
    owner        TEXT      NOT NULL,
    unseen_since TIMESTAMP NOT NULL,
    found        TIMESTAMP NOT NULL,
    PRIMARY KEY (source, name)
) WITH (fillfactor = 50);
CREATE INDEX shards_stream ON shards (source, stream);

-- When all shards of a stream were listed last.
CREATE TABLE streams (
    source TEXT      NOT NULL,
    stream TEXT      NOT NULL,
    listed TIMESTAMP NOT NULL,
    PRIMARY KEY (source, stream)
) WITH (fillfactor = 50);

-- The processes that share the shards of a source. The shards of one that has
-- expired are anybody's: one row is kept alive for all of them.
CREATE TABLE members (
    source  TEXT      NOT NULL,
    member  TEXT      NOT NULL,
    expires TIMESTAMP NOT NULL,
    PRIMARY KEY (source, member)
) WITH (fillfactor = 50);

-- What DescribeTable said of a table, as JSON.
CREATE TABLE table_facts (
    table_name TEXT      NOT NULL PRIMARY KEY,
    facts      TEXT      NOT NULL,
    updated    TIMESTAMP NOT NULL
);
