// Package store keeps everything that Keyheat knows in SQL: one text on two
// engines, Postgres for daemons and SQLite as the embedded default.
package store
