-- +goose Up

-- Whether an attempt to deliver may have arrived. Of attempts from before this it is
-- not known.
ALTER TABLE notifications ADD COLUMN reached BOOLEAN NOT NULL DEFAULT TRUE;
-- What the receiver called the message that it made of it, to change it later.
ALTER TABLE notifications ADD COLUMN receipt TEXT NOT NULL DEFAULT '';
-- Whether it went to the route's fallback too.
ALTER TABLE notifications ADD COLUMN fallback BOOLEAN NOT NULL DEFAULT FALSE;
