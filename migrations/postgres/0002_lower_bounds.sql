-- +goose Up

-- The tables whose loads are lower bounds, because their samples have neither units nor a size: a
-- JSON list of names, NULL where a collector has not reported.
ALTER TABLE writers ADD COLUMN lower_bounds TEXT;
