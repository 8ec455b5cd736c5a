-- +goose Up

-- SQLite keeps no values of columns in its statistics; the step is for Postgres.
SELECT 1;
