-- +goose Up

-- What keeps incidents from being told of for a while. matchers is a list of texts in
-- JSON, of which an incident has to have all.
CREATE TABLE silences (
    id        TEXT      NOT NULL PRIMARY KEY,
    matchers  TEXT      NOT NULL,
    starts_at TIMESTAMP NOT NULL,
    ends_at   TIMESTAMP NOT NULL,
    author    TEXT      NOT NULL,
    reason    TEXT      NOT NULL
);
CREATE INDEX silences_ends_at ON silences (ends_at);
