-- Rows of a database of Keyheat 0.1.0, for both engines. $1 is a body of bytes.
-- TestADatabaseOfTheFirstReleaseIsRead inserts them into that release's schema.

INSERT INTO targets (account, region, table_name, index_name, used) VALUES
    ('111122223333', 'eu-west-1', 'orders', '', '2026-11-21 00:00:00+00:00'),
    ('111122223333', 'eu-west-1', 'orders', 'by-date', '2026-11-21 00:00:00+00:00');

INSERT INTO writers (writer, host, started, stopped, seen, last_seq, last_delta, version, state, clock_offset_us, lag, refused_tables, bad_share)
VALUES ('a', 'host-1', '2026-11-21 11:00:00+00:00', '0001-01-01 00:00:00+00:00', '2026-11-21 12:00:00+00:00', 3, 2, '0.1.0', 'ready', 1500, 7, '["carts"]', 0.25);

INSERT INTO positions (source, name, next_offset, epoch, ended, writer, moved, log, former, readers, mark)
VALUES ('kafka:c', 'samples/0', '42', 5, FALSE, 'a', '2026-11-21 12:00:00+00:00', 'topic-2', 'topic-1', 'keyheat', 'leader 3');

INSERT INTO watermarks (source, name, epoch, writer, watermark, lag, moved, seen)
VALUES ('kafka:c', 'samples/0', 5, 'a', '2026-11-21 12:00:00+00:00', 7, '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00');

INSERT INTO deltas (writer, seq, version, body, committed, previous, since)
VALUES ('a', 2, 1, $1, '2026-11-21 12:00:00+00:00', 0, 1795262400);

INSERT INTO gaps (writer, source, name, from_pos, to_pos, since, until, reason, noticed)
VALUES ('a', 'kafka:c', 'samples/0', '5', '9', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', 'lost', '2026-11-21 12:00:00+00:00');

INSERT INTO bad_samples (writer, hour, source, reason, count) VALUES ('a', '2026-11-21 12:00:00+00:00', 'kafka:c', 'syntax', 4);
INSERT INTO bad_excerpts (writer, hour, source, reason, slot, excerpt) VALUES ('a', '2026-11-21 12:00:00+00:00', 'kafka:c', 'syntax', 0, '{"ts":');

INSERT INTO shards (source, name, stream, after, owner, unseen_since, found)
VALUES ('streams', 's1', 'arn', '', '', '0001-01-01 00:00:00+00:00', '2026-11-21 12:00:00+00:00');
INSERT INTO streams (source, stream, listed) VALUES ('streams', 'arn', '2026-11-21 12:00:00+00:00');

INSERT INTO leases (name, holder, token, expires, used, writes)
VALUES ('judge', 'reporter-1', 9, '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', 70);
INSERT INTO cursors (writer, seq, advanced) VALUES ('a', 1, '2026-11-21 12:00:00+00:00');

INSERT INTO windows (target, second, requests, read_milli, write_milli, throttled_requests, throttled_read_milli, throttled_write_milli, vector, complete, body, updated) VALUES
    (1, '2026-11-21 12:00:00+00:00', 7, 1000, 2000, 1, 10, 20, '{"a":3}', TRUE, $1, '2026-11-21 12:00:00+00:00'),
    (2, '2026-11-21 12:00:00+00:00', 8, 0, 3000, 0, 0, 0, '{}', FALSE, $1, '2026-11-21 12:00:00+00:00');
INSERT INTO seen_minutes (minute, seconds, updated) VALUES ('2026-11-21 12:00:00+00:00', 5, '2026-11-21 12:00:00+00:00');
INSERT INTO rollups (target, level, begins, body, updated) VALUES (1, 60, '2026-11-21 12:00:00+00:00', $1, '2026-11-21 12:00:00+00:00');
INSERT INTO cardinalities (target, minute, registers, updated) VALUES (1, '2026-11-21 12:00:00+00:00', $1, '2026-11-21 12:00:00+00:00');
INSERT INTO hourly_peaks (target, key_hash, hour, key_type, key_text, write_milli, read_milli, updated)
VALUES (1, -5, '2026-11-21 12:00:00+00:00', 'S', 'OPEN', 900000, 0, '2026-11-21 12:00:00+00:00');
INSERT INTO table_views (target, updated, document) VALUES (1, '2026-11-21 12:00:00+00:00', '{"table":"orders"}');
INSERT INTO table_facts (target, facts, updated) VALUES (1, '{"wcu":1}', '2026-11-21 12:00:00+00:00');
INSERT INTO cloudwatch_minutes (target, minute, metrics, updated)
VALUES (1, '2026-11-21 12:00:00+00:00', '{"WriteThrottleEvents":3}', '2026-11-21 12:00:00+00:00');

INSERT INTO findings (fingerprint, kind, target, key_text, severity, state, utilization, first_seen, last_seen, updated_at, document)
VALUES ('f', 'hot_gsi_key', 2, 'OPEN', 'critical', 'firing', 1.5, '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '{"kind":"hot_gsi_key","key":"OPEN"}');
INSERT INTO finding_history (fingerprint, at, from_state, to_state, severity, note, about, until, written)
VALUES ('f', '2026-11-21 12:00:00+00:00', 'pending', 'firing', 'critical', 'silenced', 's', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00');
INSERT INTO incidents (id, cause, target, severity, state, opened_at, fired_at, last_seen, revision, root, document, updated)
VALUES ('i', 'hot_key', 2, 'critical', 'firing', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', 2, 'f', '{"id":"i","cause":"hot_key","told":{"cause":"starvation","root":"f"}}', '2026-11-21 12:00:00+00:00');
INSERT INTO incident_findings (incident, fingerprint) VALUES ('i', 'f');
INSERT INTO incident_history (incident, at, from_state, to_state, severity, note, about, until, written)
VALUES ('i', '2026-11-21 12:00:00+00:00', '', 'firing', 'critical', 'silenced', 's', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00');

INSERT INTO notifications (id, fingerprint, event, route, payload, created, next_attempt, attempts, state, last_error, incident, refusals, reached)
VALUES ('n', 'f', 'firing', 'r', $1, '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', 2, 'pending', 'timeout', 'i', 1, FALSE);
INSERT INTO notification_groups (id, receiver, document, updated) VALUES ('g', 'r', '{"g":1}', '2026-11-21 12:00:00+00:00');
INSERT INTO receivers (route, failures, failed_since, next_attempt, attempted, last_error)
VALUES ('r', 2, '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', 'timeout');
INSERT INTO silences (id, matchers, starts_at, ends_at, author, reason)
VALUES ('s', '["table=\"orders\"","kind!=\"single_caller\"","kind=\"hot_key_write\"","cause=\"hot_partition\"","cause=~\"hot_.*\""]', '2026-11-21 12:00:00+00:00', '9999-01-01 00:00:00+00:00', 'ada', 'load test');

INSERT INTO report_schedules (name, spec, since, seen) VALUES ('daily', '0 9 * * *', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00');
INSERT INTO reports (id, schedule, due, from_at, to_at, made, outline, document)
VALUES ('p', 'daily', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '2026-11-21 12:00:00+00:00', '{"hot":0}', '{"hot":[{"cause":"hot_key"},{"cause":"sharded_key"}]}');
INSERT INTO audit (at, who, action, about, detail) VALUES ('2026-11-21 12:00:00+00:00', 'ada', 'add a silence', 's', 'table="orders"');
