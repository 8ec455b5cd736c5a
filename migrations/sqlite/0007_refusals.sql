-- +goose Up

-- How often a receiver has rejected a notification: that, and not every failed
-- attempt, is what gives it up.
ALTER TABLE notifications ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
