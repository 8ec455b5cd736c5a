-- +goose Up

-- Receivers choose their incidents by a filter of their own: groups of incidents and fallback
-- receivers are gone. What waited for a group would be told under an incident that is none.
UPDATE notifications SET state = 'cancelled' WHERE state = 'pending' AND incident IN (SELECT id FROM notification_groups);
DROP TABLE notification_groups;
ALTER TABLE notifications DROP COLUMN fallback;
