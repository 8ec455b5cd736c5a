-- +goose Up

-- A finding and its incident carry a case, the answer, and a subject, what it is about. These
-- replace kinds and causes. An open finding gets its own case with its next judgement.
CREATE TABLE kinds (kind TEXT NOT NULL PRIMARY KEY, subject TEXT NOT NULL, code TEXT NOT NULL);
INSERT INTO kinds (kind, subject, code) VALUES
    ('hot_key_write', 'key_writes', 'hot_key'),
    ('hot_key_read', 'key_reads', 'hot_key'),
    ('hot_gsi_key', 'key_writes', 'index_key'),
    ('hot_partition', 'partition', 'shared_partition'),
    ('table_starvation', 'table', 'short_of_capacity'),
    ('rolling_hot_key', 'keys', 'time_key'),
    ('moving_hot_spot', 'keys', 'moving_spot'),
    ('low_cardinality_key', 'keys', 'few_values'),
    ('too_few_shards', 'keys', 'too_few_shards'),
    ('too_many_shards', 'keys', 'too_many_shards'),
    ('uneven_shards', 'keys', 'uneven_shards'),
    ('large_item', 'item', 'large_item'),
    ('large_collection', 'collection', 'large_collection'),
    ('single_caller', 'caller', 'one_caller'),
    ('test_key', 'caller', 'test_key'),
    ('retry_storm', 'caller', 'retry_storm'),
    ('too_many_hot_keys', 'samples', 'too_many_hot_keys'),
    ('unseen_keys', 'samples', 'unseen_keys'),
    ('coverage_fell', 'samples', 'coverage_fell'),
    ('collection_stopped', 'pipeline', 'collection_stopped'),
    ('collection_lags', 'pipeline', 'collection_lags'),
    ('bad_samples', 'pipeline', 'bad_samples'),
    ('tables_refused', 'pipeline', 'tables_refused'),
    ('samples_lost', 'pipeline', 'samples_lost'),
    ('samples_stopped', 'pipeline', 'samples_stopped');

ALTER TABLE findings ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE findings RENAME COLUMN kind TO case_code;
UPDATE findings SET subject = k.subject, case_code = k.code,
    document = replace(document, '"kind":"' || k.kind || '"', '"case":"' || k.code || '","subject":"' || k.subject || '"')
FROM kinds AS k WHERE k.kind = findings.case_code;

ALTER TABLE incidents ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE incidents RENAME COLUMN cause TO case_code;
UPDATE incidents SET subject = f.subject, case_code = f.case_code,
    document = replace(incidents.document, '"cause":"' || incidents.case_code || '"', '"case":"' || f.case_code || '","subject":"' || f.subject || '"')
FROM findings AS f WHERE f.fingerprint = incidents.root;
DROP TABLE kinds;

-- The words of silences, of what was told last and of reports, one after another. A silence
-- never silences more than before: where the new words are wider, it gets a second matcher or
-- silences less.
CREATE TABLE words (of_text TEXT NOT NULL, n INTEGER NOT NULL, was TEXT NOT NULL, becomes TEXT NOT NULL, PRIMARY KEY (of_text, n));
INSERT INTO words (of_text, n, was, becomes) VALUES
    ('matchers', 1, '"kind=\"hot_key_write\""', '"subject=\"key_writes\"","index=\"\""'),
    ('matchers', 2, '"kind=\"hot_key_read\""', '"subject=\"key_reads\""'),
    ('matchers', 3, '"kind=\"hot_gsi_key\""', '"subject=\"key_writes\"","index!=\"\""'),
    ('matchers', 4, '"kind=\"hot_partition\""', '"subject=\"partition\""'),
    ('matchers', 5, '"kind=\"table_starvation\""', '"subject=\"table\""'),
    ('matchers', 6, '"kind=\"rolling_hot_key\""', '"case=\"time_key\"","subject=\"keys\""'),
    ('matchers', 7, '"kind=\"moving_hot_spot\""', '"case=\"moving_spot\""'),
    ('matchers', 8, '"kind=\"low_cardinality_key\""', '"case=\"few_values\""'),
    ('matchers', 9, '"kind=\"too_few_shards\""', '"case=\"too_few_shards\""'),
    ('matchers', 10, '"kind=\"too_many_shards\""', '"case=\"too_many_shards\""'),
    ('matchers', 11, '"kind=\"uneven_shards\""', '"case=\"uneven_shards\""'),
    ('matchers', 12, '"kind=\"large_item\""', '"case=\"large_item\""'),
    ('matchers', 13, '"kind=\"large_collection\""', '"case=\"large_collection\""'),
    ('matchers', 14, '"kind=\"single_caller\""', '"case=\"one_caller\""'),
    ('matchers', 15, '"kind=\"test_key\""', '"case=\"test_key\""'),
    ('matchers', 16, '"kind=\"retry_storm\""', '"case=\"retry_storm\""'),
    ('matchers', 17, '"kind=\"too_many_hot_keys\""', '"case=\"too_many_hot_keys\""'),
    ('matchers', 18, '"kind=\"unseen_keys\""', '"case=\"unseen_keys\""'),
    ('matchers', 19, '"kind=\"coverage_fell\""', '"case=\"coverage_fell\""'),
    ('matchers', 20, '"kind=\"collection_stopped\""', '"case=\"collection_stopped\""'),
    ('matchers', 21, '"kind=\"collection_lags\""', '"case=\"collection_lags\""'),
    ('matchers', 22, '"kind=\"bad_samples\""', '"case=\"bad_samples\""'),
    ('matchers', 23, '"kind=\"tables_refused\""', '"case=\"tables_refused\""'),
    ('matchers', 24, '"kind=\"samples_lost\""', '"case=\"samples_lost\""'),
    ('matchers', 25, '"kind=\"samples_stopped\""', '"case=\"samples_stopped\""'),
    ('matchers', 26, '"cause=\"hot_key\""', '"subject=~\"key_.*\"","index=\"\""'),
    ('matchers', 27, '"cause=\"sharded_key\""', '"case=~\"too_few_shards|too_many_shards|uneven_shards\""'),
    ('matchers', 28, '"cause=\"rolling_key\""', '"case=\"time_key\""'),
    ('matchers', 29, '"cause=\"moving_hot_spot\""', '"case=\"moving_spot\""'),
    ('matchers', 30, '"cause=\"index_back_pressure\""', '"case=\"back_pressure\""'),
    ('matchers', 31, '"cause=\"single_caller\""', '"case=~\"one_caller|test_key\""'),
    ('matchers', 32, '"cause=\"few_values\""', '"case=\"few_values\""'),
    ('matchers', 33, '"cause=\"hot_partition\""', '"subject=\"partition\"","case!=\"back_pressure\""'),
    ('matchers', 34, '"cause=\"starvation\""', '"subject=\"table\""'),
    ('matchers', 35, '"cause=\"retry_storm\""', '"case=\"retry_storm\""'),
    ('matchers', 36, '"cause=\"pipeline\""', '"subject=~\"pipeline|samples\""'),
    ('matchers', 37, '"kind!=\"hot_key_write\""', '"subject!=\"key_writes\""'),
    ('matchers', 38, '"kind!=\"hot_key_read\""', '"subject!=\"key_reads\""'),
    ('matchers', 39, '"kind!=\"hot_gsi_key\""', '"index=\"\""'),
    ('matchers', 40, '"kind!=\"hot_partition\""', '"subject!=\"partition\""'),
    ('matchers', 41, '"kind!=\"table_starvation\""', '"subject!=\"table\""'),
    ('matchers', 42, '"kind!=\"rolling_hot_key\""', '"case!=\"time_key\""'),
    ('matchers', 43, '"kind!=\"moving_hot_spot\""', '"case!=\"moving_spot\""'),
    ('matchers', 44, '"kind!=\"low_cardinality_key\""', '"case!=\"few_values\""'),
    ('matchers', 45, '"kind!=\"too_few_shards\""', '"case!=\"too_few_shards\""'),
    ('matchers', 46, '"kind!=\"too_many_shards\""', '"case!=\"too_many_shards\""'),
    ('matchers', 47, '"kind!=\"uneven_shards\""', '"case!=\"uneven_shards\""'),
    ('matchers', 48, '"kind!=\"large_item\""', '"case!=\"large_item\""'),
    ('matchers', 49, '"kind!=\"large_collection\""', '"case!=\"large_collection\""'),
    ('matchers', 50, '"kind!=\"single_caller\""', '"case!=\"one_caller\""'),
    ('matchers', 51, '"kind!=\"test_key\""', '"case!=\"test_key\""'),
    ('matchers', 52, '"kind!=\"retry_storm\""', '"case!=\"retry_storm\""'),
    ('matchers', 53, '"kind!=\"too_many_hot_keys\""', '"case!=\"too_many_hot_keys\""'),
    ('matchers', 54, '"kind!=\"unseen_keys\""', '"case!=\"unseen_keys\""'),
    ('matchers', 55, '"kind!=\"coverage_fell\""', '"case!=\"coverage_fell\""'),
    ('matchers', 56, '"kind!=\"collection_stopped\""', '"case!=\"collection_stopped\""'),
    ('matchers', 57, '"kind!=\"collection_lags\""', '"case!=\"collection_lags\""'),
    ('matchers', 58, '"kind!=\"bad_samples\""', '"case!=\"bad_samples\""'),
    ('matchers', 59, '"kind!=\"tables_refused\""', '"case!=\"tables_refused\""'),
    ('matchers', 60, '"kind!=\"samples_lost\""', '"case!=\"samples_lost\""'),
    ('matchers', 61, '"kind!=\"samples_stopped\""', '"case!=\"samples_stopped\""'),
    ('matchers', 62, '"cause!=\"hot_key\""', '"subject!~\"key_.*|item|collection\""'),
    ('matchers', 63, '"cause!=\"sharded_key\""', '"case!~\"too_few_shards|too_many_shards|uneven_shards\""'),
    ('matchers', 64, '"cause!=\"rolling_key\""', '"case!=\"time_key\""'),
    ('matchers', 65, '"cause!=\"moving_hot_spot\""', '"case!=\"moving_spot\""'),
    ('matchers', 66, '"cause!=\"index_back_pressure\""', '"case!~\"index_key|back_pressure\""'),
    ('matchers', 67, '"cause!=\"single_caller\""', '"case!~\"one_caller|test_key\""'),
    ('matchers', 68, '"cause!=\"few_values\""', '"case!=\"few_values\""'),
    ('matchers', 69, '"cause!=\"hot_partition\""', '"subject!=\"partition\""'),
    ('matchers', 70, '"cause!=\"starvation\""', '"subject!=\"table\""'),
    ('matchers', 71, '"cause!=\"retry_storm\""', '"case!=\"retry_storm\""'),
    ('matchers', 72, '"cause!=\"pipeline\""', '"subject!~\"pipeline|samples\""'),
    ('told', 1, '"cause":"hot_key"', '"case":"hot_key","subject":"key_writes"'),
    ('told', 2, '"cause":"sharded_key"', '"case":"too_few_shards","subject":"keys"'),
    ('told', 3, '"cause":"rolling_key"', '"case":"time_key","subject":"keys"'),
    ('told', 4, '"cause":"moving_hot_spot"', '"case":"moving_spot","subject":"keys"'),
    ('told', 5, '"cause":"index_back_pressure"', '"case":"index_key","subject":"key_writes"'),
    ('told', 6, '"cause":"single_caller"', '"case":"one_caller","subject":"caller"'),
    ('told', 7, '"cause":"few_values"', '"case":"few_values","subject":"keys"'),
    ('told', 8, '"cause":"hot_partition"', '"case":"shared_partition","subject":"partition"'),
    ('told', 9, '"cause":"starvation"', '"case":"short_of_capacity","subject":"table"'),
    ('told', 10, '"cause":"retry_storm"', '"case":"retry_storm","subject":"caller"'),
    ('told', 11, '"cause":"pipeline"', '"case":"samples_stopped","subject":"pipeline"'),
    ('report', 1, '"cause":"hot_key"', '"case":"hot_key","subject":""'),
    ('report', 2, '"cause":"sharded_key"', '"case":"too_few_shards","subject":""'),
    ('report', 3, '"cause":"rolling_key"', '"case":"time_key","subject":""'),
    ('report', 4, '"cause":"moving_hot_spot"', '"case":"moving_spot","subject":""'),
    ('report', 5, '"cause":"index_back_pressure"', '"case":"index_key","subject":""'),
    ('report', 6, '"cause":"single_caller"', '"case":"one_caller","subject":""'),
    ('report', 7, '"cause":"few_values"', '"case":"few_values","subject":""'),
    ('report', 8, '"cause":"hot_partition"', '"case":"shared_partition","subject":""'),
    ('report', 9, '"cause":"starvation"', '"case":"short_of_capacity","subject":""'),
    ('report', 10, '"cause":"retry_storm"', '"case":"retry_storm","subject":""');

WITH RECURSIVE step (id, n, content) AS (
    SELECT id, 0, matchers FROM silences
    UNION ALL
    SELECT s.id, w.n, replace(s.content, w.was, w.becomes) FROM step AS s JOIN words AS w ON w.of_text = 'matchers' AND w.n = s.n + 1
)
UPDATE silences SET matchers = (SELECT content FROM step WHERE step.id = silences.id ORDER BY n DESC LIMIT 1);

WITH RECURSIVE step (id, n, content) AS (
    SELECT id, 0, document FROM incidents WHERE document LIKE '%"cause":"%'
    UNION ALL
    SELECT s.id, w.n, replace(s.content, w.was, w.becomes) FROM step AS s JOIN words AS w ON w.of_text = 'told' AND w.n = s.n + 1
)
UPDATE incidents SET document = (SELECT content FROM step WHERE step.id = incidents.id ORDER BY n DESC LIMIT 1)
WHERE id IN (SELECT id FROM step);

-- An incident without its root goes by the cause's case.
UPDATE incidents SET case_code = CASE case_code
    WHEN 'sharded_key' THEN 'too_few_shards' WHEN 'rolling_key' THEN 'time_key' WHEN 'moving_hot_spot' THEN 'moving_spot'
    WHEN 'index_back_pressure' THEN 'index_key' WHEN 'single_caller' THEN 'one_caller' WHEN 'hot_partition' THEN 'shared_partition'
    WHEN 'starvation' THEN 'short_of_capacity' ELSE case_code END
WHERE subject = '';

WITH RECURSIVE step (id, n, content) AS (
    SELECT id, 0, document FROM reports
    UNION ALL
    SELECT s.id, w.n, replace(s.content, w.was, w.becomes) FROM step AS s JOIN words AS w ON w.of_text = 'report' AND w.n = s.n + 1
)
UPDATE reports SET document = (SELECT content FROM step WHERE step.id = reports.id ORDER BY n DESC LIMIT 1);
DROP TABLE words;
