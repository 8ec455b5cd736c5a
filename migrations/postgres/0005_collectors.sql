-- +goose Up

-- What a collector reports of itself. version, state and reason are empty where
-- they are not known; of the others an unknown one is NULL, because 0 is a value.
-- refused_tables is a JSON list of names.
ALTER TABLE writers ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE writers ADD COLUMN state TEXT NOT NULL DEFAULT '';
ALTER TABLE writers ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE writers ADD COLUMN clock_offset_us BIGINT;
ALTER TABLE writers ADD COLUMN lag BIGINT;
ALTER TABLE writers ADD COLUMN refused_tables TEXT;
ALTER TABLE writers ADD COLUMN bad_share DOUBLE PRECISION;
