-- +goose Up

-- The session of the process that holds a lease: others take the lease as soon as the
-- session has ended, and need not wait until the lease expires. 0 for none.
ALTER TABLE leases ADD COLUMN session BIGINT NOT NULL DEFAULT 0;
