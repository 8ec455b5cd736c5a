-- +goose Up

-- Receivers choose their incidents by a filter of their own: groups of incidents and fallback
-- receivers are gone. What waited for a group would be told under an incident that is none.
UPDATE notifications SET state = 'cancelled' WHERE state = 'pending' AND incident IN (SELECT id FROM notification_groups);
DROP TABLE notification_groups;
ALTER TABLE notifications DROP COLUMN fallback;

-- Flows of notifications take turns on a route: the first of each flow comes before the second
-- of any. A receipt and the last told event are looked up by incident, also among those that
-- are no longer pending.
ALTER TABLE notifications ADD COLUMN flow TEXT NOT NULL DEFAULT '';
ALTER TABLE notifications ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
CREATE INDEX notifications_told ON notifications (route, incident, ordinal) WHERE state <> 'pending';
CREATE INDEX notifications_turn ON notifications (route, attempts, turn, ordinal) WHERE state = 'pending';
CREATE INDEX notifications_flow ON notifications (route, flow, turn) WHERE state = 'pending';
