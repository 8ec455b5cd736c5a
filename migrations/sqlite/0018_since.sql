-- +goose Up

-- The first second, in Unix seconds, that a delta may add to and that its writer's
-- watermarks had not promised before; 0 where it is not known. While deltas are left
-- unread, the seconds before it may close. The index spares reading the bodies.
ALTER TABLE deltas ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
CREATE INDEX deltas_since ON deltas (writer, seq, since);
