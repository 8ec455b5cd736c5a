-- +goose Up

-- What a collector reads and what it cannot, as JSON, NULL where it has not reported.
ALTER TABLE writers ADD COLUMN reading TEXT;
