-- +goose Up

-- What people are notified of: findings of one cause. root is the fingerprint of
-- the finding that stands for the others; revision rises with every change that is
-- notified. An incident that did not fire, or is not resolved, has NULL for that.
CREATE TABLE incidents (
    id          TEXT      NOT NULL PRIMARY KEY,
    cause       TEXT      NOT NULL,
    target      BIGINT    NOT NULL,
    severity    TEXT      NOT NULL,
    state       TEXT      NOT NULL,
    opened_at   TIMESTAMP NOT NULL,
    fired_at    TIMESTAMP,
    resolved_at TIMESTAMP,
    last_seen   TIMESTAMP NOT NULL,
    revision    BIGINT    NOT NULL,
    root        TEXT      NOT NULL,
    document    TEXT      NOT NULL,
    updated     TIMESTAMP NOT NULL
);
CREATE INDEX incidents_last_seen ON incidents (last_seen);
CREATE INDEX incidents_updated ON incidents (updated);
CREATE INDEX incidents_target ON incidents (target);

CREATE TABLE incident_findings (
    incident    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (incident, fingerprint)
);
CREATE INDEX incident_findings_fingerprint ON incident_findings (fingerprint);

CREATE TABLE incident_history (
    id         BIGINT    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    incident   TEXT      NOT NULL,
    at         TIMESTAMP NOT NULL,
    from_state TEXT      NOT NULL,
    to_state   TEXT      NOT NULL,
    severity   TEXT      NOT NULL,
    note       TEXT      NOT NULL,
    written    TIMESTAMP NOT NULL
);
CREATE INDEX incident_history_incident ON incident_history (incident, id);
CREATE INDEX incident_history_written ON incident_history (written);

-- The incident that a notification is about; empty for one of before.
ALTER TABLE notifications ADD COLUMN incident TEXT NOT NULL DEFAULT '';
-- An incident's later notification waits for its earlier one.
CREATE INDEX notifications_incident ON notifications (route, incident, ordinal) WHERE state = 'pending';
