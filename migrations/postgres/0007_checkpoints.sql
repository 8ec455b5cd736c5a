-- +goose Up

-- What the judge remembers of each target beside its stored seconds, and with an empty name what
-- it remembers of none. Only the judge reads a body; it drops one of another version.
CREATE TABLE checkpoints (
    target  BIGINT    NOT NULL PRIMARY KEY,
    updated TIMESTAMP NOT NULL,
    version BIGINT    NOT NULL,
    body    BYTEA     NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE checkpoints ALTER COLUMN body SET STATISTICS 0;
