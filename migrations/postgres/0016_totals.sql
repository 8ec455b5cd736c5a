-- +goose Up

-- The figures of seconds without what is large in them, so that sums over hours of a
-- table read some sixty bytes of a second and not kilobytes.
CREATE INDEX windows_totals ON windows (target, second, requests, read_milli, write_milli,
    throttled_requests, throttled_read_milli, throttled_write_milli);

-- The stored totals: what was consumed and what was throttled, in requests and
-- thousandths of a unit, per table and index, over every second that is kept. They are
-- added up in the order of the index, before anything is looked up of a table.
-- Replaced, not dropped, so that who may read it still may.
CREATE OR REPLACE VIEW keyheat_totals AS
SELECT t.account,
       t.region,
       t.table_name,
       t.index_name,
       w.requests,
       w.read_milli,
       w.write_milli,
       w.throttled_requests,
       w.throttled_read_milli,
       w.throttled_write_milli,
       w.seconds
FROM (
    SELECT target,
           CAST(sum(requests) AS BIGINT)              AS requests,
           CAST(sum(read_milli) AS BIGINT)            AS read_milli,
           CAST(sum(write_milli) AS BIGINT)           AS write_milli,
           CAST(sum(throttled_requests) AS BIGINT)    AS throttled_requests,
           CAST(sum(throttled_read_milli) AS BIGINT)  AS throttled_read_milli,
           CAST(sum(throttled_write_milli) AS BIGINT) AS throttled_write_milli,
           count(*)                                   AS seconds
    FROM windows
    GROUP BY target
) AS w
JOIN targets AS t ON t.id = w.target;
