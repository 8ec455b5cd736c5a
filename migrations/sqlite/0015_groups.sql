-- +goose Up

-- Incidents that a receiver is told of together, while any of them fires. The document
-- is package grouping's, in JSON: which incidents these are, what was told of them and
-- when the next message is due. It has no keys.
CREATE TABLE notification_groups (
    id       TEXT      NOT NULL PRIMARY KEY,
    receiver TEXT      NOT NULL,
    document TEXT      NOT NULL,
    updated  TIMESTAMP NOT NULL
);
