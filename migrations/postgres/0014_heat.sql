-- +goose Up

-- Which keys of a table or index were hot in level seconds from begins on, in the
-- binary form of package heat. What is kept is decided by updated, the time of
-- writing, for each level by itself.
CREATE TABLE rollups (
    target  BIGINT    NOT NULL,
    level   INTEGER   NOT NULL,
    begins  TIMESTAMP NOT NULL,
    body    BYTEA     NOT NULL,
    updated TIMESTAMP NOT NULL,
    PRIMARY KEY (target, level, begins)
);
ALTER TABLE rollups ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX rollups_updated ON rollups (level, updated);

-- Which seconds of each minute of event time were counted whole: bit n stands for
-- second n. A second without load has no row elsewhere, and one that nobody counted
-- has none either; this tells them apart.
CREATE TABLE seen_minutes (
    minute  TIMESTAMP NOT NULL PRIMARY KEY,
    seconds BIGINT    NOT NULL,
    updated TIMESTAMP NOT NULL
);
CREATE INDEX seen_minutes_updated ON seen_minutes (updated);
