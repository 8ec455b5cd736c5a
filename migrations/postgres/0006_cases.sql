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

-- A silence by kind or cause goes on as one by case or subject. One with a regular expression
-- of them is shown as unreadable.
UPDATE silences SET matchers = replace(matchers, 'kind=\"hot_key_write\"', 'subject=\"key_writes\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"hot_key_write\"', 'subject!=\"key_writes\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"hot_key_read\"', 'subject=\"key_reads\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"hot_key_read\"', 'subject!=\"key_reads\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"hot_gsi_key\"', 'case=\"index_key\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"hot_gsi_key\"', 'case!=\"index_key\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"hot_partition\"', 'subject=\"partition\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"hot_partition\"', 'subject!=\"partition\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"table_starvation\"', 'subject=\"table\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"table_starvation\"', 'subject!=\"table\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"rolling_hot_key\"', 'case=\"time_key\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"rolling_hot_key\"', 'case!=\"time_key\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"moving_hot_spot\"', 'case=\"moving_spot\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"moving_hot_spot\"', 'case!=\"moving_spot\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"low_cardinality_key\"', 'case=\"few_values\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"low_cardinality_key\"', 'case!=\"few_values\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"too_few_shards\"', 'case=\"too_few_shards\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"too_few_shards\"', 'case!=\"too_few_shards\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"too_many_shards\"', 'case=\"too_many_shards\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"too_many_shards\"', 'case!=\"too_many_shards\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"uneven_shards\"', 'case=\"uneven_shards\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"uneven_shards\"', 'case!=\"uneven_shards\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"large_item\"', 'case=\"large_item\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"large_item\"', 'case!=\"large_item\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"large_collection\"', 'case=\"large_collection\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"large_collection\"', 'case!=\"large_collection\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"single_caller\"', 'case=\"one_caller\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"single_caller\"', 'case!=\"one_caller\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"test_key\"', 'case=\"test_key\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"test_key\"', 'case!=\"test_key\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"retry_storm\"', 'case=\"retry_storm\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"retry_storm\"', 'case!=\"retry_storm\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"too_many_hot_keys\"', 'case=\"too_many_hot_keys\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"too_many_hot_keys\"', 'case!=\"too_many_hot_keys\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"unseen_keys\"', 'case=\"unseen_keys\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"unseen_keys\"', 'case!=\"unseen_keys\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"coverage_fell\"', 'case=\"coverage_fell\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"coverage_fell\"', 'case!=\"coverage_fell\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"collection_stopped\"', 'case=\"collection_stopped\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"collection_stopped\"', 'case!=\"collection_stopped\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"collection_lags\"', 'case=\"collection_lags\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"collection_lags\"', 'case!=\"collection_lags\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"bad_samples\"', 'case=\"bad_samples\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"bad_samples\"', 'case!=\"bad_samples\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"tables_refused\"', 'case=\"tables_refused\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"tables_refused\"', 'case!=\"tables_refused\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"samples_lost\"', 'case=\"samples_lost\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"samples_lost\"', 'case!=\"samples_lost\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'kind=\"samples_stopped\"', 'case=\"samples_stopped\"') WHERE matchers LIKE '%kind=%';
UPDATE silences SET matchers = replace(matchers, 'kind!=\"samples_stopped\"', 'case!=\"samples_stopped\"') WHERE matchers LIKE '%kind!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"hot_key\"', 'subject=~\"key_.*\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"hot_key\"', 'subject!~\"key_.*\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"sharded_key\"', 'case=~\"too_few_shards|too_many_shards|uneven_shards\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"sharded_key\"', 'case!~\"too_few_shards|too_many_shards|uneven_shards\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"rolling_key\"', 'case=\"time_key\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"rolling_key\"', 'case!=\"time_key\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"moving_hot_spot\"', 'case=\"moving_spot\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"moving_hot_spot\"', 'case!=\"moving_spot\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"index_back_pressure\"', 'case=~\"index_key|back_pressure\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"index_back_pressure\"', 'case!~\"index_key|back_pressure\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"single_caller\"', 'case=~\"one_caller|test_key\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"single_caller\"', 'case!~\"one_caller|test_key\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"few_values\"', 'case=\"few_values\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"few_values\"', 'case!=\"few_values\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"hot_partition\"', 'subject=\"partition\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"hot_partition\"', 'subject!=\"partition\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"starvation\"', 'subject=\"table\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"starvation\"', 'subject!=\"table\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"retry_storm\"', 'case=\"retry_storm\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"retry_storm\"', 'case!=\"retry_storm\"') WHERE matchers LIKE '%cause!%';
UPDATE silences SET matchers = replace(matchers, 'cause=\"pipeline\"', 'subject=~\"pipeline|samples\"') WHERE matchers LIKE '%cause=%';
UPDATE silences SET matchers = replace(matchers, 'cause!=\"pipeline\"', 'subject!~\"pipeline|samples\"') WHERE matchers LIKE '%cause!%';
