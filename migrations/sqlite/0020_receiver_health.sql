-- +goose Up

-- How the receiver of each route answers. A route that failed is tried again by one
-- notification at a time, not before next_attempt; the others wait for its success.
CREATE TABLE receivers (
    route        TEXT      NOT NULL PRIMARY KEY,
    -- Failed attempts in a row; 0 while the receiver takes notifications.
    failures     INTEGER   NOT NULL,
    -- The newest run of failures: its first attempt, and the success that ended it.
    failed_since TIMESTAMP,
    recovered    TIMESTAMP,
    next_attempt TIMESTAMP NOT NULL,
    attempted    TIMESTAMP NOT NULL,
    succeeded    TIMESTAMP,
    last_error   TEXT      NOT NULL
);

-- Whether the payload was replaced by a newer one, so that it is not the judge's any more.
ALTER TABLE notifications ADD COLUMN rewritten BOOLEAN NOT NULL DEFAULT FALSE;
