-- +goose Up

-- What a position is in, beside its name. log is the log's own id, such as a Kafka
-- topic's; former are the ids, separated by blanks, of logs that had the name
-- before; readers are who share the source's partitions, such as a consumer group;
-- superseded is the source that these readers read instead now; mark is the source's
-- own note of what was read last before the position, such as a leader's epoch. Each
-- is empty where it is not known.
ALTER TABLE positions ADD COLUMN log TEXT NOT NULL DEFAULT '';
ALTER TABLE positions ADD COLUMN former TEXT NOT NULL DEFAULT '';
ALTER TABLE positions ADD COLUMN readers TEXT NOT NULL DEFAULT '';
ALTER TABLE positions ADD COLUMN superseded TEXT NOT NULL DEFAULT '';
ALTER TABLE positions ADD COLUMN mark TEXT NOT NULL DEFAULT '';

-- The writer's delta before this one, 0 for its first, by which a reader sees that
-- the database went back; NULL for those of before.
ALTER TABLE deltas ADD COLUMN previous BIGINT;

-- How often what the lease guards was written.
ALTER TABLE leases ADD COLUMN writes BIGINT NOT NULL DEFAULT 0;
